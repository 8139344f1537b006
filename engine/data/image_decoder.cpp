// SPDX-License-Identifier: Apache-2.0
#include "data/image_decoder.h"

#include "base/error.h"
#include "data/byte_source.h"
#include "data/file_content.h"
#include "data/png_orientation.h"
#include "data/readable_text.h"

#include <QBuffer>
#include <QImage>
#include <QImageReader>
#include <QLoggingCategory>
#include <QTransform>
#include <algorithm>
#include <atomic>
#include <mutex>

namespace espalier {
namespace {

constexpr int largest_image_mib = 512;

/// It has no pixels of its own, and may ask for other files.
bool is_drawing(const QByteArray& format) { return format.startsWith("svg") || format == "pdf"; }

/// Planar bytes of one or three channels.
Image from_qt(QImage picture, std::int64_t channels) {
    if (picture.hasAlphaChannel()) {
        picture = picture.convertToFormat(QImage::Format_RGBA8888);
        for (int y = 0; y < picture.height(); ++y) {
            auto* pixel = picture.scanLine(y);
            for (int x = 0; x < picture.width(); ++x, pixel += 4)
                for (int i = 0; i < 3; ++i) // over white, rounded
                    pixel[i] = static_cast<std::uint8_t>((pixel[i] * pixel[3] + 255 * (255 - pixel[3]) + 127) / 255);
        }
    }
    picture = picture.convertToFormat(picture.isGrayscale() && channels == 1 ? QImage::Format_Grayscale8
                                                                             : QImage::Format_RGB888);

    Image image{{channels, picture.height(), picture.width()}, {}};
    image.pixels.resize(image.shape.bytes());
    const auto plane = image.shape.pixels();
    auto* out = image.pixels.data();
    for (int y = 0; y < picture.height(); ++y) {
        const auto* in = picture.constScanLine(y);
        for (int x = 0; x < picture.width(); ++x, ++out) {
            if (picture.format() == QImage::Format_Grayscale8) {
                *out = *in++;
                continue;
            }
            if (channels == 1)
                *out = static_cast<std::uint8_t>((299 * in[0] + 587 * in[1] + 114 * in[2] + 500) / 1000);
            else
                for (std::size_t i = 0; i < 3; ++i)
                    out[i * plane] = in[i];
            in += 3;
        }
    }
    return image;
}

/// "BMP, GIF, JPEG ...": what Qt and its plug-ins decode here.
std::string readable_formats() {
    QStringList names;
    for (const auto& format : QImageReader::supportedImageFormats())
        if (!is_drawing(format) && format != "jpg" && format != "tif") // second names
            names.append(QString::fromLatin1(format).toUpper());
    return names.join(QStringLiteral(", ")).toStdString();
}

/// Why there is no picture of a file that Qt takes for this format and size.
std::string reason_of(const QByteArray& format, const QSize& size, std::span<const std::uint8_t> bytes) {
    constexpr std::size_t least = 16; // no format has an image in fewer
    if (bytes.size() < least)
        return "it has " + std::to_string(bytes.size()) + " bytes only";
    if (format.isEmpty() || is_drawing(format))
        return likely_content(bytes) + ". These formats can be read here: " + readable_formats();
    constexpr std::int64_t pixel_bytes = 4;
    if (size.isValid() && std::int64_t{size.width()} * size.height() * pixel_bytes > std::int64_t{largest_image_mib}
                                                                                         << 20)
        return "its " + std::to_string(size.width()) + " x " + std::to_string(size.height()) +
               " pixels take more than " + std::to_string(largest_image_mib) + " MiB";
    return "its " + format.toUpper().toStdString() + " data is damaged or cut off";
}

/// Asks libjpeg for the smallest of its eighths whose sides are all at least twice `enough`.
void reduce_jpeg(QImageReader& reader, std::int64_t enough) {
    const QSize size = reader.size();
    const auto shorter = std::min(size.width(), size.height());
    for (int eighths = 1; enough > 0 && eighths < 8; ++eighths) {
        if (std::int64_t{shorter} * eighths / 8 < 2 * enough)
            continue;
        // Rounded down: Qt decodes at the next eighth that is no smaller than what it is asked for.
        reader.setScaledSize({size.width() * eighths / 8, size.height() * eighths / 8});
        return;
    }
}

/// What libjpeg says of data that ends too early or has no meaning: it paints grey then. Not what it says of bytes too
/// many or an unknown version, as sound photos of many programs have them.
bool means_damage(const QString& words) {
    constexpr const char* damage[] = {"premature end", "bad Huffman code", "bad arithmetic code", "found marker"};
    return std::ranges::any_of(
        damage, [&](const char* one) { return words.contains(QLatin1String(one), Qt::CaseInsensitive); });
}

/// While it lives, what Qt's decoders print in this thread is kept from the user, who would not know of which image it
/// is. Qt tells of damage nowhere else, so they are said whatever the user's rules of logging leave out.
class DecoderWords {
public:
    DecoderWords() {
        static std::once_flag once;
        std::call_once(once, [] {
            others_ = qInstallMessageHandler(hear);
            rules_ = QLoggingCategory::installFilter(choose);
        });
        listening_ = this;
    }
    ~DecoderWords() { listening_ = nullptr; }
    DecoderWords(const DecoderWords&) = delete;
    DecoderWords& operator=(const DecoderWords&) = delete;

    [[nodiscard]] const QString& damage() const { return damage_; } ///< empty: none

private:
    static bool is_of_decoders(const char* category) { return QByteArrayView(category).startsWith("qt.gui.imageio"); }
    static void choose(QLoggingCategory* category) {
        if (const auto rules = rules_.load()) // not while it is installed: they have been asked by then
            rules(category);
        if (is_of_decoders(category->categoryName()))
            category->setEnabled(QtWarningMsg, true);
    }
    static void hear(QtMsgType type, const QMessageLogContext& context, const QString& words) {
        const QtMessageHandler others = others_;
        if (!listening_ || !is_of_decoders(context.category)) {
            if (others)
                others(type, context, words);
        } else if (listening_->damage_.isEmpty() && means_damage(words)) {
            listening_->damage_ = words;
        }
    }

    static inline std::atomic<QtMessageHandler> others_ = nullptr;
    static inline std::atomic<QLoggingCategory::CategoryFilter> rules_ = nullptr;
    static inline thread_local DecoderWords* listening_ = nullptr;
    QString damage_;
};

/// What turns a picture upright that lies as EXIF says.
QImageIOHandler::Transformations turn_for(int orientation) {
    constexpr QImageIOHandler::Transformation turns[] = {QImageIOHandler::TransformationNone,
                                                         QImageIOHandler::TransformationMirror,
                                                         QImageIOHandler::TransformationRotate180,
                                                         QImageIOHandler::TransformationFlip,
                                                         QImageIOHandler::TransformationFlipAndRotate90,
                                                         QImageIOHandler::TransformationRotate90,
                                                         QImageIOHandler::TransformationMirrorAndRotate90,
                                                         QImageIOHandler::TransformationRotate270};
    return turns[orientation - 1];
}

QImage turned(const QImage& picture, QImageIOHandler::Transformations turn) {
    const QImage mirrored = picture.mirrored(turn.testFlag(QImageIOHandler::TransformationMirror),
                                             turn.testFlag(QImageIOHandler::TransformationFlip));
    return turn.testFlag(QImageIOHandler::TransformationRotate90) ? mirrored.transformed(QTransform().rotate(90))
                                                                  : mirrored;
}

} // namespace

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name, std::int64_t channels,
                   std::int64_t enough, ImageShape* original) {
    if (channels != 1 && channels != 3)
        throw ConfigError("Image files give 1 or 3 channels, but " + std::to_string(channels) + " were asked for.");
    if (bytes.empty())
        throw DataError("The image '" + name + "' is empty (0 bytes).");
    auto data =
        QByteArray::fromRawData(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
    QBuffer buffer(&data);
    buffer.open(QIODevice::ReadOnly);
    const DecoderWords words;
    QImageReader reader(&buffer);
    reader.setDecideFormatFromContent(true);
    reader.setAutoTransform(true);
    QImageReader::setAllocationLimit(largest_image_mib);
    const QByteArray format = reader.format();
    if (format == "png")
        check_png_is_whole(bytes, name);
    if (format == "jpeg")
        reduce_jpeg(reader, enough);
    const QSize size = reader.size();
    QImage picture = is_drawing(format) ? QImage() : reader.read();
    if (picture.isNull())
        throw DataError("The image '" + name + "' cannot be read: " + reason_of(format, size, bytes) + ".");
    check_image_is_whole(bytes, name);
    if (!words.damage().isEmpty())
        throw DataError("The image '" + name + "' is damaged: a part of it cannot be told from its data (" +
                        words.damage().toStdString() + ").");
    auto turn = reader.transformation();
    if (format == "png" && turn == QImageIOHandler::TransformationNone) { // Qt does not look
        turn = turn_for(png_orientation(bytes));
        picture = turned(picture, turn);
    }
    if (original) {
        const bool lay = turn.testFlag(QImageIOHandler::TransformationRotate90);
        const QSize upright = !size.isValid() ? picture.size() : lay ? size.transposed() : size;
        *original = {channels, upright.height(), upright.width()};
    }
    return from_qt(picture, channels);
}

Image decode_image_file(const std::filesystem::path& path, std::int64_t channels, std::int64_t enough,
                        ImageShape* original) {
    return decode_image(file_bytes(path, std::size_t{largest_image_mib} << 20), readable_text(path.string()), channels,
                        enough, original);
}

std::vector<std::uint8_t> encode_png(const Image& image) {
    const auto& shape = image.shape;
    if (shape.channels != 1 && shape.channels != 3)
        throw ConfigError("A PNG is written from 1 or 3 channels, but the image has " + std::to_string(shape.channels) +
                          ".");
    QImage picture(static_cast<int>(shape.width), static_cast<int>(shape.height),
                   shape.channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888);
    if (picture.isNull())
        throw DataError("An image of " + shape.text() + " cannot be written as PNG.");
    const auto* in = image.pixels.data();
    for (int y = 0; y < picture.height(); ++y) {
        auto* out = picture.scanLine(y);
        for (int x = 0; x < picture.width(); ++x, ++in)
            for (std::int64_t channel = 0; channel < shape.channels; ++channel)
                *out++ = in[static_cast<std::size_t>(channel) * shape.pixels()];
    }
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    if (!picture.save(&buffer, "PNG"))
        throw DataError("An image of " + shape.text() + " could not be written as PNG.");
    return {png.begin(), png.end()};
}

} // namespace espalier
