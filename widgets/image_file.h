// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace espalier {

/// Whether a file is an image by its name's ending; it is not read.
[[nodiscard]] bool is_image_name(const QString& file);

} // namespace espalier
