// SPDX-License-Identifier: GPL-3.0-or-later
#include "image_file.h"

#include <QDataStream>
#include <QFile>
#include <QFileInfo>
#include <QImageReader>
#include <QTransform>
#include <algorithm>

namespace espalier {

namespace {

using Turn = QImageIOHandler::Transformation;

/// EXIF is a TIFF file without an image: a header, then a list of tags. The one of the orientation is 0x0112.
int exif_orientation(const QByteArray& exif) {
    QDataStream tags(exif);
    tags.setByteOrder(exif.startsWith("II") ? QDataStream::LittleEndian : QDataStream::BigEndian);
    quint32 list = 0;
    quint16 count = 0;
    tags.skipRawData(4);
    tags >> list;
    if (list >= exif.size() || !tags.device()->seek(list))
        return 1;
    for (tags >> count; count > 0; --count) {
        quint16 tag = 0, type = 0, value = 0, unused = 0;
        quint32 values = 0;
        tags >> tag >> type >> values >> value;
        if (tags.status() != QDataStream::Ok)
            return 1;
        if (tag == 0x0112 && type == 3)
            return value >= 1 && value <= 8 ? value : 1;
        tags >> unused;
    }
    return 1;
}

/// 1 (upright) to 8, of the chunk in which a PNG has its EXIF: there Qt does not look. The engine, which the window
/// does not link, reads it by the same rule (engine/data/png_orientation.h).
int png_orientation(const QString& path) {
    constexpr int signature = 8, checksum = 4;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly) || !file.seek(signature))
        return 1;
    for (QDataStream chunks(&file);;) {
        quint32 length = 0;
        chunks >> length;
        const QByteArray name = file.read(4);
        if (name.size() < 4)
            return 1;
        if (name == "eXIf")
            return exif_orientation(file.read(std::min<qint64>(length, file.bytesAvailable())));
        if (!file.seek(file.pos() + length + checksum))
            return 1;
    }
}

QImage turned(const QImage& image, int orientation) {
    constexpr Turn turns[] = {Turn::TransformationNone,
                              Turn::TransformationMirror,
                              Turn::TransformationRotate180,
                              Turn::TransformationFlip,
                              Turn::TransformationFlipAndRotate90,
                              Turn::TransformationRotate90,
                              Turn::TransformationMirrorAndRotate90,
                              Turn::TransformationRotate270};
    const QImageIOHandler::Transformations turn = turns[orientation - 1];
    const QImage mirrored =
        image.mirrored(turn.testFlag(Turn::TransformationMirror), turn.testFlag(Turn::TransformationFlip));
    return turn.testFlag(Turn::TransformationRotate90) ? mirrored.transformed(QTransform().rotate(90)) : mirrored;
}

} // namespace

bool is_image_name(const QString& file) {
    static const QList<QByteArray> of_others{"webp", "tif", "tiff", "heic", "heif", "avif", "jxl"};
    const QByteArray ending = QFileInfo(file).suffix().toLower().toLatin1();
    return QImageReader::supportedImageFormats().contains(ending) || of_others.contains(ending);
}

QImage read_image(const QString& file, int side, QString* problem) {
    QImageReader reader(file);
    reader.setAutoTransform(true);
    reader.setDecideFormatFromContent(true);
    if (const QSize size = reader.size(); size.width() > side || size.height() > side)
        reader.setScaledSize(size.scaled(side, side, Qt::KeepAspectRatio).expandedTo(QSize(1, 1)));
    const QByteArray format = reader.format();
    const QImage image = reader.read();
    if (image.isNull() && problem)
        *problem = reader.errorString();
    if (!image.isNull() && format == "png" && reader.transformation() == Turn::TransformationNone)
        return turned(image, png_orientation(file));
    return image;
}

} // namespace espalier
