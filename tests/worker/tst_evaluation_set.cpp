// SPDX-License-Identifier: Apache-2.0
// A folder of photos is evaluated in as much memory as it is trained in, however large it is.
#include "data/image_store.h"
#include "data/photo_folder.h"
#include "worker/evaluation_set.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QtTest>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr int side = 300, photos = 280; // 72 MiB of pixels: more than a block

CheckpointInfo trained_on_photos() {
    CheckpointInfo info;
    info.network = NetworkSpec::from_json(
        {{"network", "quick"}, {"channels", 3}, {"height", side}, {"width", side}, {"classes", 2}});
    info.class_names = {"even", "odd"};
    return info;
}

QColor colour_of(int photo) { return {photo % 256, 255 - photo % 256, photo / 2}; }

QStringList files_below(const QString& folder) {
    QStringList files;
    for (QDirIterator it(folder, QDir::Files, QDirIterator::Subdirectories); it.hasNext();)
        files.append(it.next());
    return files;
}

} // namespace

class TestEvaluationSet : public QObject {
    Q_OBJECT

    PhotoFolder folder_;

private Q_SLOTS:
    void initTestCase() {
        for (int i = 0; i < photos; ++i) {
            char name[32];
            std::snprintf(name, sizeof name, "%s/%04d.png", i % 2 == 0 ? "even" : "odd", i);
            folder_.png(name, colour_of(i), side, side);
        }
    }

    void what_exceeds_the_memory_lies_in_a_file_data() {
        QTest::addColumn<quint64>("memory");
        QTest::addColumn<bool>("in_file");
        QTest::newRow("one block") << quint64{ImageStore::block_bytes} << true;
        QTest::newRow("two blocks") << quint64{2 * ImageStore::block_bytes} << false;
    }
    void what_exceeds_the_memory_lies_in_a_file() {
        QFETCH(quint64, memory);
        QFETCH(bool, in_file);
        const QTemporaryDir cache;
        qputenv("XDG_CACHE_HOME", cache.path().toLocal8Bit());
        QElapsedTimer clock;
        clock.start();
        const auto evaluation = set_to_evaluate({.data = folder_.spec(), .memory = static_cast<std::size_t>(memory)},
                                                "", trained_on_photos(), {});
        QCOMPARE(evaluation.set.size(), std::size_t{photos});
        const bool kept = clock.elapsed() > 1000 * OpenOptions{}.cache_after_seconds; // for the next time, by design
        if (in_file || !kept)
            QCOMPARE(!files_below(cache.path()).isEmpty(), in_file);
        for (std::size_t i = 0; i < evaluation.set.size(); i += 37) {
            const auto file = evaluation.set.file(i);
            const int photo = std::stoi(file.substr(file.size() - 8));
            const auto image = read(*evaluation.set.dataset, evaluation.set.part, evaluation.set.indices[i]);
            const QColor colour = colour_of(photo);
            QCOMPARE(evaluation.set.label(i), photo % 2);
            for (const auto& [plane, value] :
                 {std::pair{0, colour.red()}, std::pair{1, colour.green()}, std::pair{2, colour.blue()}})
                QCOMPARE(int{image[static_cast<std::size_t>(plane * side * side + side)]}, value);
        }
    }
};

QTEST_GUILESS_MAIN(TestEvaluationSet)
#include "tst_evaluation_set.moc"
