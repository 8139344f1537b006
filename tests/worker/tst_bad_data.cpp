// SPDX-License-Identifier: Apache-2.0
// Data that the real espalier-train cannot use: what is said of them, and what is done with the rest.
#include "train_program.h"
#include "worker/protocol.h"

#include <QImage>
#include <QtTest>
#ifndef Q_OS_WIN
#include <sys/stat.h>
#endif

using namespace espalier;

class TestBadData : public QObject, private test::TrainProgram {
    Q_OBJECT

private Q_SLOTS:
    /// Which only decoding tells: the run has its folder by then, and leaves none.
    void a_run_of_which_too_many_photos_cannot_be_decoded_leaves_no_folder() {
        const auto train = [&, good = small_photos("photos")](const QString& share, const QStringList& more) {
            return run(good + QStringList{"--set", "max_bad_share=" + share} + more);
        };
        for (const char* file :
             {"photos/a/2.jpg", "photos/a/3.jpg", "photos/b/2.jpg", "photos/b/3.jpg", "photos/b/4.jpg"})
            (void)written(file, {});
        const QDir runs(folder_.filePath("bad photos"));
        const QString out = folder_.filePath("bad photos too");
        for (const auto& place : {QStringList{"--runs", runs.path()}, {"--out", out}, {"--out", out, "--json"}}) {
            const auto refused = train("0.5", place);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.output.contains("5 of 9 image files cannot be used"), refused.output);
            QVERIFY2((refused.output + refused.errors).contains("the run's folder is removed"), refused.output);
            QVERIFY(runs.isEmpty() && !QFile::exists(out));
        }
        QCOMPARE(train("0.6", {"--out", out}).code, 0);
        QVERIFY(QFile::remove(folder_.filePath("photos/a/1.pgm")) && QFile::remove(folder_.filePath("photos/a/5.pgm")));
        QCOMPARE(run({"resume", out, "--set", "epochs=2"}).code, 3); // it has been trained before
        QVERIFY(QFile::exists(out + "/checkpoints/last.safetensors"));
    }

    void an_image_that_cannot_be_used_holds_up_none_of_the_others() {
        const auto out = folder_.filePath("predicts");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto good = written("good.pgm", "P2 2 2 255 0 9 99 255\n"), late = written("late.pgm", "P2 1 1 255 7\n"),
                   text = written("text.jpg", "this is no image at all"),
                   document = written("document.png", "%PDF-1.7 and so on and so on"),
                   none = folder_.filePath("none.png");
        QCOMPARE(run({"predict", out, good, late}).code, 0);
        const QStringList images{none, good, text, document, folder_.path(), late};
        const auto some = run(QStringList{"predict", out} + images);
        QCOMPARE(some.code, 3);
        QVERIFY2(some.output.contains(good.toUtf8()) && some.output.contains(late.toUtf8()), some.output);
        for (const auto& bad : {none, text, document, folder_.path()})
            QVERIFY2(some.errors.contains('\'' + bad.toUtf8() + '\''), some.errors);
        QVERIFY2(some.errors.contains(". These formats can be read here: "), some.errors);
        QVERIFY2(some.errors.contains("it is a PDF document"), some.errors);
        QVERIFY2(some.errors.contains("4 of 6 images could not be used"), some.errors);

        const auto lines = run(QStringList{"predict", out, "--json"} + images).output.trimmed().split('\n');
        QCOMPARE(lines.size(), images.size());
        for (qsizetype i = 0; i < images.size(); ++i) {
            const auto answer = Json::parse(lines[i].toStdString());
            QCOMPARE(QString::fromStdString(answer.at("image")), images[i]);
            QCOMPARE(answer.contains("classes"), images[i] == good || images[i] == late);
            QCOMPARE(answer.contains("error"), !answer.contains("classes"));
        }
    }

    /// An image's fault is said once, with its name: a decoder's own words would stand among ours without one.
    void a_damaged_image_is_told_of_once() {
        const auto photos = folder_.filePath("photos");
        QDir().mkpath(photos + "/a");
        QImage photo(300, 200, QImage::Format_RGB888);
        for (int i = 0; i < 300 * 200; ++i)
            photo.setPixel(i % 300, i / 300, static_cast<uint>(i) * 2654435761u);
        for (const char* name : {"1", "2", "3"})
            QVERIFY(photo.save(photos + "/a/" + name + ".jpg"));
        const auto whole = read(photos + "/a/1.jpg"), half = whole.first(whole.size() * 9 / 10),
                   without_a_part = whole.first(whole.size() / 3) + whole.mid(whole.size() / 2);
        (void)written("photos/a/1.jpg", half);
        (void)written("photos/a/2.jpg", without_a_part);
        const auto scan = run({"scan", "folder:" + photos});
        QCOMPARE(scan.errors, QByteArray());
        QVERIFY2(scan.output.contains("1.jpg' is cut off"), scan.output);
        QVERIFY2(scan.output.contains("2.jpg' is damaged"), scan.output);
    }

    void a_pipe_is_not_read() {
#ifdef Q_OS_WIN
        QSKIP("this system has no pipes among its files");
#else
        QDir(folder_.path()).mkpath("pipe");
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
            QCOMPARE(mkfifo(QFile::encodeName(folder_.filePath(QString("pipe/") + name)).constData(), 0600), 0);
        QCOMPARE(run({"scan", "idx:" + folder_.filePath("pipe")}).code, 3);
        QVERIFY(run({"scan", "idx:" + folder_.filePath("pipe")}).output.contains("pipe or a device"));
#endif
    }
};

QTEST_GUILESS_MAIN(TestBadData)
#include "tst_bad_data.moc"
