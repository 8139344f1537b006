// SPDX-License-Identifier: GPL-3.0-or-later
// The tiles of a run: each value with where it goes, and the best or the most so far.
#include "metric_tile.h"
#include "run_page.h"
#include "sample_run.h"
#include "watched_test.h"

#include <QTest>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr double mega = 1024. * 1024;

/// A page with a run of a hundred steps, and what is measured of it from then on.
struct Page {
    explicit Page(bool gpu = false) : model(QStringLiteral("r")) {
        if (gpu)
            run.use_gpu();
        feed(run.hello());
        feed(run.plan());
        feed(run.phase("training"));
        feed(run.steps(60));
        page.resize(1000, 640);
        page.show_run(&model);
        page.show();
    }
    void feed(const Json& event) { model.apply(read_event(event)); }
    void measure(double gflops, double images, double process) {
        feed(run.steps(1));
        feed(run.event("resources", {{"step", run.step()},
                                     {"gflops", gflops},
                                     {"images_per_second", images},
                                     {"memory", {{"weights", 40 * mega}, {"total", 40 * mega}, {"process", process}}}}));
    }
    QString tile(const char* name) {
        page.refresh();
        for (const auto* one : page.findChildren<MetricTile*>())
            if (one->accessibleName() == QLatin1String(name))
                return one->accessibleDescription();
        return {};
    }

    SampleRun run;
    RunModel model;
    RunPage page;
};

} // namespace

class TestTiles : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); }

    /// Nothing is best before it was measured.
    void a_run_that_was_not_measured() {
        Page shown;
        QCOMPARE(shown.tile("GFLOPS"), QStringLiteral("–, 2.5 GFLOP a step"));
        QVERIFY(!shown.tile("Speed").contains(QStringLiteral("best")));
        QVERIFY(shown.tile("Memory").endsWith(QStringLiteral("as planned")));
    }

    void the_best_and_the_most_stay() {
        Page shown;
        shown.measure(50, 1000, 100 * mega);
        shown.measure(80, 1600, 300 * mega);
        shown.measure(60, 1200, 200 * mega);
        QCOMPARE(shown.tile("GFLOPS"), QStringLiteral("60, best 80"));
        QVERIFY2(shown.tile("Speed").startsWith(QStringLiteral("1,200 img/s, step ")) &&
                     shown.tile("Speed").endsWith(QStringLiteral(" · best 1,600")),
                 qPrintable(shown.tile("Speed")));
        QCOMPARE(shown.tile("Memory"), QStringLiteral("40 MB, peak 300 MB with the program"));
    }

    void on_a_gpu_its_own_numbers_stay_beside_them() {
        Page shown(true);
        shown.feed(shown.run.resources());
        QVERIFY2(shown.tile("GFLOPS").contains(QStringLiteral("MFU ")) &&
                     shown.tile("GFLOPS").contains(QStringLiteral(" · best ")),
                 qPrintable(shown.tile("GFLOPS")));
        QVERIFY2(shown.tile("GPU memory").endsWith(QStringLiteral("peak 48.9 GB of 80.0 GB")),
                 qPrintable(shown.tile("GPU memory")));
    }

    /// Which is a change of the pace, not one value beside another.
    void a_trend_is_more_than_noise_data() {
        QTest::addColumn<double>("factor"); ///< of the later half
        QTest::addColumn<double>("noise");
        QTest::addColumn<QString>("trend");
        QTest::newRow("even") << 1.0 << 0.0 << QString();
        QTest::newRow("noise") << 1.0 << 0.1 << QString();
        QTest::newRow("faster") << 1.2 << 0.05 << QStringLiteral("rising");
        QTest::newRow("slower") << 0.8 << 0.05 << QStringLiteral("falling");
    }
    void a_trend_is_more_than_noise() {
        QFETCH(double, factor);
        QFETCH(double, noise);
        QFETCH(QString, trend);
        Page shown;
        for (int i = 0; i < 10; ++i) {
            const double pace = (i < 5 ? 1 : factor) * (1 + (i % 5 - 2) * noise / 2);
            shown.measure(100 * pace, 1000 * pace, 100 * mega);
        }
        for (const char* name : {"GFLOPS", "Speed"}) {
            const QString tile = shown.tile(name);
            QCOMPARE(tile.contains(QStringLiteral("rising")), trend == u"rising");
            QCOMPARE(tile.contains(QStringLiteral("falling")), trend == u"falling");
        }
        shown.feed(shown.run.phase("paused")); // it goes nowhere
        QVERIFY(!shown.tile("Speed").contains(QStringLiteral("ing")));
    }
};

WATCHED_TEST_MAIN(TestTiles)
#include "tst_tiles.moc"
