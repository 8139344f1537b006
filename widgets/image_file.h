// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>

namespace espalier {

/// Whether a file is an image by its name's ending; it is not read. Also of a kind that Qt here cannot read: another
/// machine's engine may, and any engine says what to do.
[[nodiscard]] bool is_image_name(const QString& file);

/// The image, known by its content, upright as its EXIF says, and scaled down to at most `side` pixels, while it is
/// decoded where its format can. Null if it cannot be read; `problem` then says why.
[[nodiscard]] QImage read_image(const QString& file, int side, QString* problem = nullptr);

} // namespace espalier
