// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace espalier {

/// A text of the engine in the window's language: titles and summaries of presets, notes and warnings of a data set or
/// a plan, why a run waits or has ended. The engine speaks English; what is not known here, as its errors, stays as it
/// is.
[[nodiscard]] QString engine_words(const QString& text);

} // namespace espalier
