// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace espalier {

enum class CloseChoice { keep_training, save_and_stop, cancel };

/// Asks what becomes of `runs` runs that still train.
[[nodiscard]] CloseChoice ask_before_closing(QWidget* parent, int runs);

} // namespace espalier
