// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/image_decoder.h"
#include "data/photo_folder.h"
#include "texts.h"

#include <QImageWriter>
#include <QLoggingCategory>
#include <QTest>
#include <algorithm>
#include <cmath>

using namespace espalier;
using namespace espalier::test;

namespace {

std::array<int, 3> colour(const Image& image, std::int64_t y, std::int64_t x) {
    const auto at = static_cast<std::size_t>(y * image.shape.width + x);
    std::array<int, 3> values{};
    for (std::size_t i = 0; i < 3; ++i)
        values[i] = image.pixels[i * image.shape.pixels() + at];
    return values;
}

bool near_to(std::array<int, 3> a, std::array<int, 3> b, int tolerance = 12) {
    return std::abs(a[0] - b[0]) <= tolerance && std::abs(a[1] - b[1]) <= tolerance &&
           std::abs(a[2] - b[2]) <= tolerance;
}

std::string error_of(const Bytes& bytes) {
    try {
        (void)decode_image(bytes, "the image", 3);
    } catch (const DataError& error) {
        return error.what();
    }
    return {};
}

/// A JPEG of 8x8 pixels of one colour in four components, written by hand since Qt writes none: one DC coefficient
/// each. With Adobe's marker (transform 0: CMYK as it is) the values are those of the file, which Adobe stores
/// inverted.
Bytes cmyk_jpeg(std::array<int, 4> values, bool adobe) {
    Bytes file{0xff, 0xd8};
    const auto segment = [&](std::uint8_t marker, const Bytes& content) {
        const auto size = content.size() + 2;
        file.insert(file.end(), {0xff, marker, static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)});
        file.insert(file.end(), content.begin(), content.end());
    };
    if (adobe)
        segment(0xee, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0});
    Bytes quantization(65, 8); // a DC coefficient is then the value less 128
    quantization[0] = 0;
    segment(0xdb, quantization);
    segment(0xc0, {8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0});
    // Huffman codes: categories 0 to 9 of DC have 4 bits each, in order; the end of a block of AC has the code 0.
    segment(0xc4, {0x00, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    segment(0xc4, {0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    segment(0xda, {4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0});
    std::string bits;
    const auto put = [&](unsigned value, int count) {
        while (count-- > 0)
            bits += (value >> count & 1) != 0 ? '1' : '0';
    };
    for (const int value : values) {
        const int level = value - 128;
        int category = 0;
        while (std::abs(level) >> category != 0)
            ++category;
        put(static_cast<unsigned>(category), 4);
        put(static_cast<unsigned>(level < 0 ? level + (1 << category) - 1 : level), category);
        put(0, 1);
    }
    bits.resize((bits.size() + 7) / 8 * 8, '1');
    for (std::size_t at = 0; at < bits.size(); at += 8) {
        file.push_back(static_cast<std::uint8_t>(std::stoi(bits.substr(at, 8), nullptr, 2)));
        if (file.back() == 0xff)
            file.push_back(0);
    }
    file.insert(file.end(), {0xff, 0xd9});
    return file;
}

/// Two pixels of that colour type and depth; `chunks` stand before them.
QByteArray png(char colours, char depth, const QByteArray& pixels, const QByteArray& chunks) {
    const auto header =
        of_32_bits(2) + of_32_bits(1) + QByteArray(1, depth) + QByteArray(1, colours) + QByteArray(3, '\0');
    const auto packed = qCompress(QByteArray(1, '\0') + pixels).mid(4); // behind Qt's own count
    return QByteArray::fromHex("89504e470d0a1a0a") + chunk("IHDR", header) + chunks + chunk("IDAT", packed) +
           chunk("IEND", {});
}

/// A GIF of 40 x 40 pixels, written by hand since Qt writes none: codes of 9 bits, and the table begun anew before they
/// would become longer. `frames` may be more than one: the first is the image.
Bytes gif(int frames) {
    Bytes file{'G', 'I', 'F', '8', '9', 'a', 40, 0, 40, 0, 0xf7, 0, 0};
    for (int i = 0; i < 256; ++i)
        file.insert(file.end(), 3, static_cast<std::uint8_t>(i));
    for (int frame = 0; frame < frames; ++frame) {
        file.insert(file.end(), {0x21, 0xf9, 4, 0, 10, 0, 0, 0}); // shown for 0.1 s
        file.insert(file.end(), {0x2c, 0, 0, 0, 0, 40, 0, 40, 0, 0, 8});
        Bytes packed;
        unsigned bits = 0;
        int count = 0;
        const auto put = [&](unsigned code) {
            bits |= code << count;
            for (count += 9; count >= 8; count -= 8, bits >>= 8)
                packed.push_back(static_cast<std::uint8_t>(bits));
        };
        for (int i = 0; i < 40 * 40; ++i) {
            if (i % 200 == 0)
                put(256);
            put(static_cast<unsigned>(i * 37 % 251));
        }
        put(257);
        packed.push_back(static_cast<std::uint8_t>(bits));
        for (std::size_t at = 0; at < packed.size(); at += 255) {
            const auto length = std::min<std::size_t>(255, packed.size() - at);
            file.push_back(static_cast<std::uint8_t>(length));
            file.insert(file.end(), packed.begin() + static_cast<std::ptrdiff_t>(at),
                        packed.begin() + static_cast<std::ptrdiff_t>(at + length));
        }
        file.push_back(0);
    }
    file.push_back(0x3b);
    return file;
}

/// A picture that no format can pack to a few bytes.
QImage noise(int width, int height) {
    QImage picture(width, height, QImage::Format_RGB888);
    for (int i = 0; i < width * height; ++i)
        picture.setPixel(i % width, i / width, static_cast<uint>(i) * 2654435761u | 0xff000000u);
    return picture;
}

Bytes jpeg(const QImage& picture, bool progressive) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QImageWriter writer(&buffer, "JPG");
    writer.setProgressiveScanWrite(progressive);
    if (!writer.write(picture))
        throw std::runtime_error("QImageWriter::write failed");
    return {bytes.begin(), bytes.end()};
}

Bytes begin_of(const Bytes& bytes, std::size_t size) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Whether it is quadrants() as they stand.
bool is_upright(const Image& image) {
    return image.shape == ImageShape{3, 32, 48} && near_to(colour(image, 6, 8), {255, 0, 0}) &&
           near_to(colour(image, 6, 40), {0, 255, 0}) && near_to(colour(image, 26, 8), {0, 0, 255}) &&
           near_to(colour(image, 26, 40), {255, 255, 255});
}

Image grey(std::int64_t height, std::int64_t width, Bytes pixels) { return {{1, height, width}, std::move(pixels)}; }

} // namespace

class TestImage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void photos_stand_upright() {
        for (int orientation = 1; orientation <= 8; ++orientation) {
            const auto jpeg = with_orientation(encoded(stored_as(quadrants(), orientation), "JPG"),
                                               static_cast<std::uint8_t>(orientation));
            QVERIFY2(is_upright(decode_image(jpeg, "photo", 3)), std::to_string(orientation).c_str());
        }
    }

    /// In both orders of bytes, before and behind the pixels.
    void a_png_stands_upright() {
        for (int orientation = 1; orientation <= 8; ++orientation)
            for (const bool little : {false, true})
                for (const bool behind : {false, true}) {
                    const auto file = with_chunk(encoded(stored_as(quadrants(), orientation), "PNG"),
                                                 chunk("eXIf", exif_of(orientation, little)), behind);
                    ImageShape original;
                    QVERIFY2(is_upright(decode_image(file, "photo", 3, 0, &original)),
                             std::to_string(orientation).c_str());
                    QCOMPARE(original, (ImageShape{3, 32, 48}));
                }
    }

    void an_orientation_that_makes_no_sense_is_none() {
        std::vector<QByteArray> senseless;
        for (const int orientation : {0, 9, 255})
            senseless.push_back(exif_of(orientation, false));
        for (qsizetype length = 0; length < 20; ++length) // up to the orientation's end
            senseless.push_back(exif_of(6, false).first(length));
        auto of_another_type = exif_of(6, false), far_away = exif_of(6, false);
        of_another_type[13] = 4;
        far_away[4] = '\x7f';
        senseless.insert(senseless.end(), {of_another_type, far_away});
        for (const auto& exif : senseless)
            QVERIFY2(is_upright(
                         decode_image(with_chunk(encoded(quadrants(), "PNG"), chunk("eXIf", exif), false), "photo", 3)),
                     exif.toHex().constData());
    }

    void every_kind_of_png_follows_one_rule() {
        QImage grey8(2, 1, QImage::Format_Grayscale8), rgb(2, 1, QImage::Format_RGB888),
            rgba(2, 1, QImage::Format_RGBA8888), indexed(2, 1, QImage::Format_Indexed8),
            grey16(2, 1, QImage::Format_Grayscale16);
        grey8.setPixelColor(0, 0, QColor(100, 100, 100));
        grey8.setPixelColor(1, 0, QColor(200, 200, 200));
        rgb.setPixelColor(0, 0, QColor(10, 20, 30));
        rgb.setPixelColor(1, 0, QColor(200, 100, 50));
        rgba.setPixelColor(0, 0, QColor(10, 20, 30, 255));
        rgba.setPixelColor(1, 0, QColor(0, 0, 0, 102)); // 60 % white
        indexed.setColorTable({qRgb(1, 2, 3), qRgba(9, 9, 9, 0)});
        indexed.setPixel(0, 0, 0);
        indexed.setPixel(1, 0, 1);
        grey16.fill(QColor(128, 128, 128));
        const auto three = [](const QImage& picture) { return decode_image(encoded(picture, "PNG"), "png", 3); };
        QVERIFY(near_to(colour(three(grey8), 0, 1), {200, 200, 200}, 0));
        QVERIFY(near_to(colour(three(rgb), 0, 1), {200, 100, 50}, 0));
        QVERIFY(near_to(colour(three(rgba), 0, 0), {10, 20, 30}, 0));
        QVERIFY(near_to(colour(three(rgba), 0, 1), {153, 153, 153}, 0));
        QVERIFY(near_to(colour(three(indexed), 0, 0), {1, 2, 3}, 0));
        QVERIFY(near_to(colour(three(indexed), 0, 1), {255, 255, 255}, 0));
        QVERIFY(near_to(colour(three(grey16), 0, 0), {128, 128, 128}, 1));
        const auto one = decode_image(encoded(rgb, "PNG"), "png", 1);
        QCOMPARE(one.pixels, (Bytes{18, 124})); // 0.299 R + 0.587 G + 0.114 B
        QCOMPARE(decode_image(encoded(grey8, "PNG"), "png", 1).pixels, (Bytes{100, 200}));
    }

    /// Colour types and depths that Qt does not write itself, but reads.
    void every_colour_type_of_png_is_read_data() {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<int>("red");
        QTest::addColumn<int>("green");
        QTest::addColumn<int>("blue");
        const auto row = [](const char* name, char colours, char depth, const char* pixels_in_hex, int red, int green,
                            int blue, const QByteArray& chunks = {}) {
            QTest::newRow(name) << png(colours, depth, QByteArray::fromHex(pixels_in_hex), chunks) << red << green
                                << blue;
        };
        const auto of_hex = [](const char* hex) { return QByteArray::fromHex(hex); };
        const auto palette = chunk("PLTE", of_hex("0102030a141e"));
        row("grey", 0, 8, "6464", 100, 100, 100);
        row("grey of a bit", 0, 1, "c0", 255, 255, 255);
        row("grey of two bits", 0, 2, "50", 85, 85, 85);
        row("grey of four bits", 0, 4, "33", 51, 51, 51);
        row("grey of 16 bits", 0, 16, "c800c800", 199, 199, 199);
        row("grey, one of them transparent", 0, 8, "6464", 255, 255, 255, chunk("tRNS", of_hex("0064")));
        row("colours", 2, 8, "0a141e0a141e", 10, 20, 30);
        row("colours of 16 bits", 2, 16, "0a0a1414c8c80a0a1414c8c8", 10, 20, 200);
        row("colours, one transparent", 2, 8, "0a141e0a141e", 255, 255, 255, chunk("tRNS", of_hex("000a0014001e")));
        row("palette", 3, 8, "0101", 10, 20, 30, palette);
        row("palette of a bit", 3, 1, "c0", 10, 20, 30, palette);
        row("palette, 60 % transparent", 3, 8, "0101", 157, 161, 165, palette + chunk("tRNS", of_hex("ff66")));
        row("grey and alpha", 4, 8, "64666466", 193, 193, 193);
        row("grey and alpha of 16 bits", 4, 16, "6464666664646666", 193, 193, 193);
        row("colours and alpha", 6, 8, "0a141e660a141e66", 157, 161, 165);
        row("colours and alpha of 16 bits", 6, 16, "0a0a1414c8c866660a0a1414c8c86666", 157, 161, 233);
    }
    void every_colour_type_of_png_is_read() {
        QFETCH(QByteArray, file);
        QFETCH(int, red);
        QFETCH(int, green);
        QFETCH(int, blue);
        const auto image = decode_image(Bytes(file.begin(), file.end()), "png", 3);
        QCOMPARE(image.shape, (ImageShape{3, 1, 2}));
        const auto found = colour(image, 0, 1);
        QVERIFY2(near_to(found, {red, green, blue}, 1),
                 qPrintable(QString("%1 %2 %3").arg(found[0]).arg(found[1]).arg(found[2])));
    }

    void cmyk_gives_its_colours_or_is_refused() {
        // Ink: cyan 0, magenta 25 %, yellow 75 %, black 20 %.
        const int c = 0, m = 64, y = 191, k = 51;
        const std::array<int, 3> wanted{(255 - c) * (255 - k) / 255, (255 - m) * (255 - k) / 255,
                                        (255 - y) * (255 - k) / 255};
        const auto adobe = decode_image(cmyk_jpeg({255 - c, 255 - m, 255 - y, 255 - k}, true), "cmyk", 3);
        const auto rgb = colour(adobe, 4, 4);
        const auto text = std::to_string(rgb[0]) + " " + std::to_string(rgb[1]) + " " + std::to_string(rgb[2]);
        QVERIFY2(near_to(rgb, wanted, 3), text.c_str());
        QVERIFY(error_of(cmyk_jpeg({c, m, y, k}, false)).find("without Adobe's marker") != std::string::npos);
        QCOMPARE(decode_image(cmyk_jpeg({255, 255, 255, 255}, true), "cmyk", 1).pixels, Bytes(64, 255));
    }

    void content_counts_not_the_name() {
        QTemporaryDir dir;
        const auto path = dir.filePath(QStringLiteral("ein Bild [ö] 图.jpg"));
        QVERIFY(quadrants().save(path, "PNG"));
        QCOMPARE(decode_image_file(path.toStdString(), 3).shape, (ImageShape{3, 32, 48}));
        QVERIFY_THROWS_EXCEPTION(DataError, (void)decode_image_file(dir.filePath("none.png").toStdString(), 3));
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)decode_image(encoded(quadrants(), "PNG"), "x", 2));
    }

    void damaged_files_are_named_never_filled_up() {
        QVERIFY(error_of({}).find("empty (0 bytes)") != std::string::npos);
        const QImage noisy = noise(64, 64);
        const std::pair<const char*, Bytes> files[] = {
            {"PNG", encoded(noisy, "PNG")}, {"JPG", with_orientation(encoded(noisy, "JPG"), 1)},
            {"BMP", encoded(noisy, "BMP")}, {"BMP of bits", encoded(noisy.convertToFormat(QImage::Format_Mono), "BMP")},
            {"PPM", encoded(noisy, "PPM")}, {"GIF", gif(1)},
        };
        for (const auto& [format, whole] : files) {
            QVERIFY2(error_of(whole).empty(), format);
            for (std::size_t percent : {1, 10, 50, 90, 99})
                QVERIFY2(!error_of(begin_of(whole, whole.size() * percent / 100)).empty(),
                         (std::string(format) + " " + std::to_string(percent)).c_str());
        }
        const auto bmp = encoded(noisy, "BMP");
        QVERIFY(has(error_of(begin_of(bmp, 5000)), std::to_string(bmp.size()) + " bytes were expected, 5000 came"));
        const auto png = encoded(noisy, "PNG"); // before libpng says it of no file
        for (const std::size_t size : {png.size() / 10, png.size() / 2, png.size() - 20})
            QVERIFY(has(error_of(begin_of(png, size)), "is cut off: at least"));
        // Of several images the first counts.
        const auto moving = gif(3), still = gif(1);
        QVERIFY(error_of(begin_of(moving, still.size() + 500)).empty());
        QVERIFY(has(error_of(begin_of(moving, still.size() - 20)), "ends within the first image"));
        QCOMPARE(decode_image(moving, "gif", 1).pixels, decode_image(still, "gif", 1).pixels);
        QCOMPARE(int(decode_image(still, "gif", 1).pixels[1]), 37);
    }

    /// Where its data makes no sense libjpeg goes on with grey.
    void a_jpeg_damaged_in_its_middle_is_named() {
        const auto other = jpeg(noise(128, 128), false);
        for (const bool progressive : {false, true}) {
            const auto whole = jpeg(noise(256, 256), progressive);
            QVERIFY(error_of(whole).empty());
            for (std::size_t percent : {20, 35, 50, 65, 80}) {
                const auto where = std::to_string(percent) + (progressive ? " % of a progressive one" : " %");
                const auto place = static_cast<std::ptrdiff_t>(whole.size() * percent / 100);
                auto marked = whole, mixed = whole, shorter = whole;
                marked[static_cast<std::size_t>(place)] = 0xff; // a marker that there is not
                marked[static_cast<std::size_t>(place) + 1] = 0x3a;
                QVERIFY2(has(error_of(marked), "is damaged"), where.c_str());
                std::copy_n(other.begin(), 4096, mixed.begin() + place);
                QVERIFY2(!error_of(mixed).empty(), where.c_str());
                shorter.erase(shorter.begin() + place, shorter.begin() + place + 4096);
                if (!progressive) // whose scans may lack some of their bytes
                    QVERIFY2(has(error_of(shorter), "is damaged"), where.c_str());
            }
        }
    }

    /// As QT_LOGGING_RULES may have them.
    void quiet_rules_of_logging_hide_no_damage() {
        auto marked = jpeg(noise(256, 256), false);
        marked[marked.size() / 2] = 0xff;
        marked[marked.size() / 2 + 1] = 0x3a;
        for (const char* rules : {"*=false", "qt.*=false", "*.warning=false", "qt.gui.imageio*=false"}) {
            QLoggingCategory::setFilterRules(QString::fromLatin1(rules));
            const auto error = error_of(marked);
            QLoggingCategory::setFilterRules({});
            QVERIFY2(has(error, "is damaged"), rules);
        }
    }

    /// Photos of some programs have bytes behind the pixels, which change none of them.
    void bytes_before_the_end_of_a_jpeg_do_no_harm() {
        const auto whole = jpeg(noise(64, 64), false);
        auto longer = whole;
        longer.insert(longer.end() - 2, 3, 0);
        QCOMPARE(decode_image(longer, "photo", 3).pixels, decode_image(whole, "photo", 3).pixels);
    }

    void what_is_no_image_is_told() {
        const auto told = [](const std::string& content) { return error_of({content.begin(), content.end()}); };
        QVERIFY(has(told("<!DOCTYPE html><html>404</html>"), "web page (HTML)"));
        QVERIFY(
            has(told("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"></svg>"), "drawing (SVG)"));
        QVERIFY(has(told("PK\3\4 and so on and so on"), "ZIP"));
        QVERIFY(has(told("version https://git-lfs.github.com/spec/v1"), "Git LFS"));
        QVERIFY(has(told(std::string("\0\0\0\x1c", 4) + "ftypheic and so on"), "save it as JPEG or PNG"));
        QVERIFY(has(told("\xff\x0a and so on, of JPEG XL"), "is a JPEG XL image"));
        QVERIFY(has(told(std::string("\0\0\0\x0c", 4) + "JXL \r\n and so on"), "is a JPEG XL image"));
        QVERIFY(has(told("RIFF\x10\x10\x10\x10WEBPVP8 "), "WebP") || has(told("RIFF\x10\x10\x10\x10WEBPVP8 "), "WEBP"));
        QVERIFY(has(told("abc"), "it has 3 bytes only"));
        for (const char* format : {"BMP", "GIF", "JPEG", "PNG"})
            QVERIFY(has(told("%PDF-1.7 and so on and so on"), format));
        QVERIFY(has(told("%PDF-1.7 and so on and so on"), "it is a PDF document. These formats can be read here: "));
        // What an image says of its size is believed before any memory is taken.
        auto large = encoded(quadrants(), "PNG");
        large[18] = 0x40; // 0x00400030 pixels wide, by its header
        QVERIFY(!error_of(large).empty());
    }

    void png_round_trip() {
        const Image grey_image = grey(2, 3, {0, 50, 100, 150, 200, 255});
        QCOMPARE(decode_image(encode_png(grey_image), "png", 1).pixels, grey_image.pixels);
        const Image colours{{3, 1, 2}, {1, 2, 3, 4, 5, 6}};
        QCOMPARE(decode_image(encode_png(colours), "png", 3).pixels, colours.pixels);
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)encode_png({{2, 1, 1}, {1, 2}}));
    }

    void resizing_keeps_what_it_should() {
        const auto image = grey(2, 2, {10, 20, 30, 40});
        QCOMPARE(resized(image, 2, 2).pixels, image.pixels);
        QCOMPARE(resized(image, 1, 1).pixels, (Bytes{25}));
        QCOMPARE(resized(grey(1, 4, {0, 0, 100, 100}), 1, 2).pixels,
                 (Bytes{14, 86})); // weights 3 3 1 and 1 3 3, over 7
        const auto flat = resized(grey(7, 5, Bytes(35, 77)), 13, 3);
        QCOMPARE(flat.pixels, Bytes(39, 77));
        QCOMPARE(resized(grey(1, 2, {0, 100}), 1, 4).pixels, (Bytes{0, 25, 75, 100}));
    }

    void a_part_is_the_same_as_of_the_whole() {
        Image image{{3, 11, 7}, {}};
        for (std::size_t i = 0; i < image.shape.bytes(); ++i)
            image.pixels.push_back(static_cast<std::uint8_t>(i * 97 % 251));
        for (const auto& [height, width] : {std::pair{11, 7}, {40, 30}, {5, 3}, {100, 2}, {1, 1}}) {
            const auto whole = resized(image, height, width);
            for (const ImagePart& part : {ImagePart{0, 0, height, width}, ImagePart{height / 2, width / 3, 1, 1},
                                          ImagePart{height / 3, 0, height - height / 3, (width + 1) / 2}})
                QCOMPARE(resized_part(image, height, width, part).pixels,
                         cut_out(whole, part.top, part.left, part.height, part.width).pixels);
        }
    }

    void covering_scales_the_shorter_side_and_cuts_the_middle_out() {
        // Left to right: 4 columns of 0, 4 of 100, 4 of 200; the middle third is what remains.
        Bytes pixels;
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 12; ++x)
                pixels.push_back(static_cast<std::uint8_t>(x / 4 * 100));
        const auto same_size = covering(grey(4, 12, pixels), 4, 4);
        QCOMPARE(same_size.shape, (ImageShape{1, 4, 4}));
        QCOMPARE(same_size.pixels, Bytes(16, 100));
        const auto larger = covering(grey(4, 12, pixels), 8, 8);
        QCOMPARE(larger.shape, (ImageShape{1, 8, 8}));
        QCOMPARE(int(larger.pixels[4]), 100);
        for (const auto& [height, width] : {std::pair{5, 3}, {28, 28}, {1, 9}})
            QCOMPARE(covering(grey(37, 11, Bytes(407, 9)), height, width).pixels,
                     Bytes(static_cast<std::size_t>(height * width), 9));
    }

    void fitting_never_enlarges() {
        QCOMPARE(fitted_into(grey(4, 8, Bytes(32)), 16).shape, (ImageShape{1, 4, 8}));
        QCOMPARE(fitted_into(grey(4, 8, Bytes(32)), 4).shape, (ImageShape{1, 2, 4}));
        QCOMPARE(fitted_into(grey(1, 100, Bytes(100)), 10).shape, (ImageShape{1, 1, 10}));
    }
};

QTEST_GUILESS_MAIN(TestImage)
#include "tst_image.moc"
