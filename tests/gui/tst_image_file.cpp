// SPDX-License-Identifier: GPL-3.0-or-later
// What the window itself reads of an image: it lies as the engine sees it, in a preview and on its way to a machine.
#include "image_file.h"
#include "image_upload.h"
#include "turned_photos.h"

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Whether it is quadrants(), upright, at any scale.
bool is_upright(const QImage& image) {
    const auto is = [&](int x, int y, const QColor& wanted) {
        const QColor found = image.pixelColor(image.width() * x / 4, image.height() * y / 4);
        return std::abs(found.red() - wanted.red()) < 60 && std::abs(found.green() - wanted.green()) < 60 &&
               std::abs(found.blue() - wanted.blue()) < 60;
    };
    return image.width() * 2 == image.height() * 3 && is(1, 1, Qt::red) && is(3, 1, Qt::green) && is(1, 3, Qt::blue) &&
           is(3, 3, Qt::white);
}

/// Too many bytes, as PNG, to be sent as they are.
QImage large_quadrants() {
    QImage image = quadrants().scaled(1200, 800);
    QRandomGenerator random(7);
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            image.setPixel(x, y, image.pixel(x, y) ^ (random.generate() & 0x1f1f1f));
    return image;
}

} // namespace

class TestImageFile : public QObject {
    Q_OBJECT

private slots:
    void a_photo_stands_upright_data() {
        QTest::addColumn<int>("orientation");
        QTest::addColumn<bool>("little");
        for (int orientation = 1; orientation <= 8; ++orientation)
            for (const bool little : {false, true})
                QTest::addRow("%d, %s", orientation, little ? "II" : "MM") << orientation << little;
    }
    void a_photo_stands_upright() {
        QFETCH(int, orientation);
        QFETCH(bool, little);
        const auto exif = chunk("eXIf", exif_of(orientation, little));
        const auto lying = [&](const QImage& upright) { return encoded(stored_as(upright, orientation), "PNG"); };
        for (const bool behind : {false, true})
            QVERIFY(is_upright(read_image(file_of(with_chunk(lying(quadrants()), exif, behind)), 480)));
        QVERIFY(is_upright(read_image(
            file_of(with_orientation(encoded(stored_as(quadrants(), orientation), "JPG"), std::uint8_t(orientation))),
            480)));

        const auto large = with_chunk(lying(large_quadrants()), exif, false);
        QVERIFY(qsizetype(large.size()) > ImageUpload::most_bytes);
        const auto preview = read_image(file_of(large), 480);
        QVERIFY(is_upright(preview) && preview.width() == 480);
        const auto sent = read_for_upload(file_of(large));
        QVERIFY2(sent.problem.isEmpty(), qPrintable(sent.problem));
        QVERIFY(is_upright(QImage::fromData(sent.bytes)));
    }

    void what_makes_no_sense_is_passed_over() {
        const auto exif = exif_of(6, false);
        std::vector<QByteArray> senseless{exif_of(0, false), exif_of(9, true), QByteArray(), "II", exif.first(19)};
        auto of_another_type = exif, far_away = exif;
        of_another_type[13] = 4;
        far_away[4] = '\x7f';
        senseless.insert(senseless.end(), {of_another_type, far_away});
        for (const auto& one : senseless)
            QVERIFY2(is_upright(
                         read_image(file_of(with_chunk(encoded(quadrants(), "PNG"), chunk("eXIf", one), false)), 480)),
                     one.toHex().constData());
        QString problem;
        QVERIFY(read_image(file_of({'n', 'o', 'n', 'e'}), 480, &problem).isNull());
        QVERIFY(!problem.isEmpty());
    }

    /// What cannot be read here is sent as it is where it is small, for the other machine may read it; where it would
    /// have to be scaled down, that is said, with what to do.
    void what_cannot_be_read_here_is_sent_or_refused_with_the_reason_data() {
        QTest::addColumn<QByteArray>("begin");
        QTest::newRow("HEIC") << QByteArray("\0\0\0\x1c"
                                            "ftypheic",
                                            12);
        QTest::newRow("AVIF") << QByteArray("\0\0\0\x1c"
                                            "ftypavif",
                                            12);
        QTest::newRow("JPEG XL") << QByteArray("\xff\x0a", 2);
        QTest::newRow("cut off") << QByteArray("\x89PNG\r\n\x1a\n", 8);
    }
    void what_cannot_be_read_here_is_sent_or_refused_with_the_reason() {
        QFETCH(QByteArray, begin);
        const auto of = [&](qsizetype size) {
            const QByteArray all = begin.leftJustified(size, '\0');
            return read_for_upload(file_of(Bytes(all.begin(), all.end())));
        };
        const auto small = of(ImageUpload::most_bytes), large = of(ImageUpload::most_bytes + 1);
        QVERIFY2(small.problem.isEmpty(), qPrintable(small.problem));
        QVERIFY(small.bytes.startsWith(begin));
        QVERIFY(large.bytes.isEmpty());
        QVERIFY2(large.problem.contains(QStringLiteral("has 700 KB")) &&
                     large.problem.endsWith(QStringLiteral("Save it as JPEG or PNG.")),
                 qPrintable(large.problem));
    }

private:
    QString file_of(const Bytes& bytes) {
        QFile file(folder_.filePath(QStringLiteral("photo")));
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size())) != qint64(bytes.size()))
            qFatal("%s cannot be written", qPrintable(file.fileName()));
        return file.fileName();
    }

    QTemporaryDir folder_;
};

QTEST_MAIN(TestImageFile)
#include "tst_image_file.moc"
