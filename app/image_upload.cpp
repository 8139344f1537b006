// SPDX-License-Identifier: GPL-3.0-or-later
#include "image_upload.h"

#include "format.h"
#include "image_file.h"
#include "words.h"

#include <QBuffer>
#include <QFile>
#include <QImage>

namespace espalier {

namespace {

QByteArray encoded(const QImage& image) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    constexpr int quality = 95; // of JPEG, which knows no transparency
    image.hasAlphaChannel() ? image.save(&buffer, "PNG") : image.save(&buffer, "JPG", quality);
    return bytes;
}

} // namespace

ImageUpload read_for_upload(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {{}, tr("%1 cannot be read: %2").arg(path, file.errorString())};
    if (file.size() <= ImageUpload::most_bytes)
        return {file.readAll(), {}};
    file.close();
    for (const int side : {2048, 1024, 512}) { // far more than a network looks at
        QString problem;
        const QImage image = read_image(path, side, &problem);
        if (image.isNull())
            return {{},
                    tr("%1 has %2: to be sent to another machine it has to be scaled down, and it cannot be read "
                       "here (%3). Save it as JPEG or PNG.")
                        .arg(path, format_bytes(static_cast<double>(QFile(path).size())), problem)};
        if (QByteArray bytes = encoded(image); !bytes.isEmpty() && bytes.size() <= ImageUpload::most_bytes)
            return {std::move(bytes), {}};
    }
    return {{}, tr("%1 is too large to be sent to another machine, also when it is scaled down.").arg(path)};
}

} // namespace espalier
