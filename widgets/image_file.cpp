// SPDX-License-Identifier: GPL-3.0-or-later
#include "image_file.h"

#include <QFileInfo>
#include <QImageReader>

namespace espalier {

bool is_image_name(const QString& file) {
    return QImageReader::supportedImageFormats().contains(QFileInfo(file).suffix().toLower().toLatin1());
}

} // namespace espalier
