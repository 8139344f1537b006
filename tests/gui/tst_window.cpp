// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window over a stand-in for the engine: what a person clicks, and what comes of it.
#include "confusion_matrix.h"
#include "image_grid.h"
#include "layer_table.h"
#include "metric_tile.h"
#include "plot_group.h"
#include "progress_header.h"
#include "run_list.h"
#include "stand_in.h"
#include "status_strip.h"
#include "watched_test.h"

#include <QApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>

using namespace espalier;
using namespace espalier::test;

namespace {

/// The words of the band on top of the pages, if it is shown.
QString message(WindowDriver& driver) {
    auto* band = driver.find(QStringLiteral("message"));
    return band && band->isVisible() ? band->accessibleName() : QString();
}

/// Labels and buttons that have less room than their text needs.
QStringList clipped(const QWidget* window) {
    QStringList found;
    for (const auto* label : window->findChildren<QLabel*>())
        if (label->isVisible() && !label->text().isEmpty() &&
            (label->wordWrap() ? label->height() < label->heightForWidth(label->width())
                               : label->width() < label->sizeHint().width()))
            found.append(label->text());
    for (const auto* button : window->findChildren<QPushButton*>())
        if (button->isVisible() &&
            (button->width() < button->minimumSizeHint().width() || button->height() < button->fontMetrics().height()))
            found.append(button->text());
    return found;
}

/// Cards that lie on each other.
QStringList overlapping(const QWidget* window) {
    QList<const QFrame*> cards;
    for (const auto* frame : window->findChildren<QFrame*>())
        if (frame->isVisible() && frame->property("card").toBool())
            cards.append(frame);
    const auto place = [&](const QFrame* card) { return QRect(card->mapTo(window, QPoint()), card->size()); };
    QStringList found;
    for (const auto* one : cards)
        for (const auto* other : cards)
            if (one < other && !one->isAncestorOf(other) && !other->isAncestorOf(one) &&
                place(one).intersects(place(other)))
                found.append(QDebug::toString(place(one)) + QStringLiteral(" and ") + QDebug::toString(place(other)));
    return found;
}

QStringList unnamed(const QWidget* window) {
    QStringList found;
    for (const auto* button : window->findChildren<QAbstractButton*>())
        if (button->isVisible() && button->text().isEmpty() && button->accessibleName().isEmpty())
            found.append(QLatin1String(button->metaObject()->className()) + button->objectName());
    for (const auto* edit : window->findChildren<QLineEdit*>())
        if (edit->isVisible() && edit->accessibleName().isEmpty() && edit->parentWidget()->accessibleName().isEmpty())
            found.append(QStringLiteral("edit ") + edit->objectName());
    return found;
}

} // namespace

class TestWindow : public WatchedTest {
    Q_OBJECT

private slots:
    void a_run_from_click_to_stop() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::running));
        QVERIFY(driver.wait_for_step(30));
        QTRY_VERIFY(
            driver.window->run_page()->plots()->loss()->accessibleDescription().contains(QStringLiteral("train")));
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        const std::int64_t stood = driver.run()->step();
        QTest::qWait(200);
        QCOMPARE(driver.run()->step(), stood);
        QCOMPARE(driver.find<QPushButton>(QStringLiteral("pause"))->text(), QStringLiteral("Resume"));
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_step(stood + 10));
        const auto before = driver.run()->checkpoint();
        QVERIFY(driver.click(QStringLiteral("checkpoint")));
        QTRY_VERIFY(driver.run()->checkpoint() && (!before || driver.run()->checkpoint()->step != before->step));
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        QTRY_VERIFY(!driver.find(QStringLiteral("stop"))->isVisible());
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_state(RunState::running));
    }

    void keys_do_what_the_mouse_does() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        driver.window->run_page()->setFocus();
        driver.key(Qt::Key_Space);
        QVERIFY(driver.wait_for_state(RunState::paused));
        driver.key(Qt::Key_Space);
        QVERIFY(driver.wait_for_state(RunState::running));
        auto* tabs = driver.find<QTabBar>(QStringLiteral("tabs"));
        for (int i = tabs->count() - 1; i >= 0; --i) {
            driver.key(static_cast<Qt::Key>(Qt::Key_1 + i), Qt::ControlModifier);
            QCOMPARE(tabs->currentIndex(), i);
        }
        driver.key(Qt::Key_N, Qt::ControlModifier);
        QTRY_VERIFY(driver.find(QStringLiteral("preset-train-small"))->isVisible());
    }

    void zoom_stops_following_but_not_the_stream() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(60));
        PlotGroup* plots = driver.window->run_page()->plots();
        QVERIFY(plots->is_following());
        plots->loss()->setFocus();
        QTest::keyClick(plots->loss(), Qt::Key_Plus);
        QVERIFY(!plots->is_following());
        const auto range = plots->range();
        const std::int64_t then = driver.run()->step();
        QVERIFY(driver.wait_for_step(then + 20));
        QCOMPARE(plots->range(), range);
        QTest::keyClick(plots->loss(), Qt::Key_Home);
        QVERIFY(plots->is_following());
        for (const AxisKind kind : {AxisKind::epoch, AxisKind::time, AxisKind::step}) {
            plots->set_axis(kind);
            QVERIFY(plots->range().second > plots->range().first);
        }
    }

    void runs_of_before_are_there() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        QCOMPARE(driver.run()->loss.raw.size(), std::size_t{756});
        QTRY_VERIFY(driver.find(QStringLiteral("band-more_epochs")));
        const auto* header = driver.window->run_page()->findChild<ProgressHeader*>();
        QVERIFY2(header->text().contains(QStringLiteral(", One-minute demo,")), qPrintable(header->text()));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::failed));
        auto* band = driver.find(QStringLiteral("band"));
        QTRY_VERIFY2(band->accessibleDescription().contains(QStringLiteral("is of epoch 6 (step 378), ")),
                     qPrintable(band->accessibleDescription()));
        QVERIFY(driver.click(QStringLiteral("band-report")));
        QTRY_VERIFY(
            QApplication::clipboard()->text().contains(QStringLiteral("illegal instruction"))); // its past is there
    }

    void a_run_of_weeks_opens_without_a_standstill() { // the watchdog looks on
        WindowDriver driver(engine, {QStringLiteral("--long-past")});
        QVERIFY(wait_for_runs(driver, 3, 20000));
        click_run(driver, 0);
        QVERIFY(driver.wait_for_state(RunState::finished, 60000));
        QCOMPARE(driver.run()->step(), std::int64_t{40000});
        for (int tab = 0; tab < 4; ++tab) {
            driver.key(static_cast<Qt::Key>(Qt::Key_1 + tab), Qt::ControlModifier);
            QTest::qWait(200);
        }
        for (const Theme::Mode mode : {Theme::Mode::dark, Theme::Mode::light}) {
            Theme::instance().set_mode(mode);
            QTest::qWait(200);
        }
    }

    void a_run_can_be_stopped_while_its_past_is_still_coming() {
        WindowDriver driver(engine, {QStringLiteral("--slow-past")});
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 0);
        QTRY_VERIFY(driver.run());
        QVERIFY(driver.window->runs()->is_loading(driver.run()->path()));
        for (const char* name : {"pause", "stop", "checkpoint"})
            QTRY_VERIFY(driver.find(QLatin1String(name))->isEnabled());
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        QCOMPARE(driver.run()->step(), std::int64_t{430});
        QTRY_VERIFY(!driver.find(QStringLiteral("stop"))->isVisible()); // when the rest of the past has come
    }

    void a_fault_is_said_and_can_be_resumed() {
        WindowDriver driver(engine, {QStringLiteral("--fail-at"), QStringLiteral("20")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::failed));
        auto* band = driver.find(QStringLiteral("band"));
        QTRY_VERIFY(band->isVisible());
        QVERIFY(band->accessibleName().contains(QStringLiteral("not a number")));
        QCOMPARE(band->accessibleDescription(), QStringLiteral("No checkpoint has been written yet."));
        QVERIFY(driver.find(QStringLiteral("band-resume_safe")));
        for (const char* name : {"pause", "stop", "checkpoint"}) // of a run that trains
            QTRY_VERIFY(!driver.find(QLatin1String(name))->isVisible());
    }

    void a_gpu_is_shown_with_what_it_does() {
        WindowDriver driver(engine, {QStringLiteral("--gpu")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(40));
        auto* strip = driver.window->findChild<StatusStrip*>();
        QTRY_VERIFY2(strip->text().contains(QStringLiteral("GPU 97 %")), qPrintable(strip->text()));
        for (const char* words : {"fp16 · fused · CUDA graph", "64 °C · 412 W", "1,755 MHz", "slowed by power limit"})
            QVERIFY2(strip->text().contains(QString::fromUtf8(words)), qPrintable(strip->text()));
        QStringList tiles;
        for (const auto* tile : driver.window->findChildren<MetricTile*>())
            tiles.append(tile->accessibleName() + QLatin1Char(' ') + tile->accessibleDescription());
        QVERIFY2(tiles.filter(QStringLiteral("GPU memory")).value(0).contains(QStringLiteral("of 80.0 GB")),
                 qPrintable(tiles.join(QLatin1Char('\n'))));
        QVERIFY(tiles.filter(QStringLiteral("GFLOPS")).value(0).contains(QStringLiteral("MFU 31")));
        const PlotGroup* plots = driver.window->run_page()->plots();
        QTRY_VERIFY(plots->gflops()->accessibleDescription().contains(QStringLiteral("utilisation 97")));
        QVERIFY(plots->memory()->accessibleDescription().contains(QStringLiteral("process")));
    }

    void layers_are_timed_sorted_and_copied() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(35)); // the first sample is there
        driver.key(Qt::Key_3, Qt::ControlModifier);
        auto* table = driver.find<LayerTable>(QStringLiteral("layers"));
        QTRY_VERIFY(table->isVisible());
        const auto cell = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        QTRY_VERIFY(cell(0, LayerTable::milliseconds) != QStringLiteral("–"));
        QCOMPARE(table->model()->rowCount(), 4);
        table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // as with many layers
        QCOMPARE(driver.window->width(), 1280);
        QTRY_VERIFY(!table->horizontalScrollBar()->isVisible()); // every column is seen
        QCOMPARE(cell(0, LayerTable::layer), QStringLiteral("stem"));
        QCOMPARE(cell(1, LayerTable::kernel), QStringLiteral("winograd")); // as it was timed, not as it was planned
        QVERIFY(
            driver.find<QLabel>(QStringLiteral("layersCaption"))->text().contains(QStringLiteral("one kernel after")));
        const auto click_head = [&](int column) {
            QHeaderView* head = table->horizontalHeader();
            QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                              {head->sectionViewportPosition(column) + 20, head->height() / 2});
        };
        click_head(LayerTable::milliseconds);
        QTRY_COMPARE(cell(0, LayerTable::layer), QStringLiteral("classifier")); // the quickest
        click_head(LayerTable::milliseconds);
        QTRY_COMPARE(cell(0, LayerTable::layer), QStringLiteral("block1")); // the slowest
        const QString then = cell(0, LayerTable::milliseconds);
        QTRY_VERIFY(cell(0, LayerTable::milliseconds) != then); // live, and still sorted
        QCOMPARE(cell(0, LayerTable::layer), QStringLiteral("block1"));
        click_head(LayerTable::milliseconds);
        QTRY_COMPARE(cell(0, LayerTable::layer), QStringLiteral("stem")); // the network's own order
        QVERIFY(driver.click(QStringLiteral("copyLayers")));
        const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 5);
        QCOMPARE(lines[0].count(QLatin1Char('\t')), LayerTable::column_count - 1);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualRect(table->model()->index(2, 0)).center());
        QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(
            QApplication::clipboard()->text().section(QLatin1Char('\n'), 1, 1).startsWith(QStringLiteral("block2\t")));
    }

    void a_fallback_is_said_and_can_be_taken_back() {
        WindowDriver driver(engine, {QStringLiteral("--fall-back-at"), QStringLiteral("20")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        auto* band = driver.find(QStringLiteral("band"));
        QTRY_VERIFY_WITH_TIMEOUT(band->isVisible(), 10000);
        QVERIFY2(band->accessibleName().contains(QStringLiteral("Recompute")), qPrintable(band->accessibleName()));
        driver.key(Qt::Key_2, Qt::ControlModifier); // the setup says it too
        QTRY_VERIFY(driver.find(QStringLiteral("undo-recompute")));
        QVERIFY(driver.find(QStringLiteral("undo-recompute"))->isVisible());
        QVERIFY(driver.click(QStringLiteral("band-take_back")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        QVERIFY(driver.wait_for_state(RunState::running)); // resumed by itself
        const std::int64_t then = driver.run()->step();
        QVERIFY(driver.wait_for_step(then + 10));
    }

    void a_fallback_can_be_kept() {
        WindowDriver driver(engine, {QStringLiteral("--fall-back-at"), QStringLiteral("20")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(25));
        QVERIFY(driver.click(QStringLiteral("band-keep")));
        QTRY_VERIFY(!driver.find(QStringLiteral("band"))->isVisible());
        QCOMPARE(driver.run()->state(), RunState::running);
    }

    void what_a_network_confuses_is_seen_cell_by_cell() {
        WindowDriver driver(engine);
        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.key(Qt::Key_5, Qt::ControlModifier);
        auto* matrix = driver.find<ConfusionMatrix>(QStringLiteral("confusion"));
        QTRY_COMPARE(matrix->counts().classes.size(), 10);
        const auto* summary = driver.find<QLabel>(QStringLiteral("resultsSummary"));
        QVERIFY2(summary->text().startsWith(QStringLiteral("95.5 % of 2,000 images")), qPrintable(summary->text()));
        auto* grid = driver.find<ImageGrid>(QStringLiteral("cellImages"));
        QTRY_COMPARE(grid->count(), 60); // of all, the hardest first
        const int boot = 9, shirt = 0;
        QTest::mouseClick(matrix->viewport(), Qt::LeftButton, {}, matrix->cell_rect(boot, shirt).center());
        QTRY_COMPARE(grid->count(), 18);
        QVERIFY(grid->isVisible());
        const auto* words = driver.find<QLabel>(QStringLiteral("imageWords"));
        QTRY_COMPARE(words->text(), QStringLiteral("Ankle boot taken for T-shirt: 18 images"));
    }

    void a_message_keeps_clear_of_the_tool_bar() {
        const auto below_bar = [](WindowDriver& driver, const QWidget* widget) {
            const auto* bar = driver.find(QStringLiteral("toolBar"));
            const auto top = [&](const QWidget* of) { return of->mapTo(driver.window.get(), QPoint()).y(); };
            return top(widget) - top(bar) - bar->height();
        };
        WindowDriver talkative(QStringLiteral("/no/such/espalier-train"));
        QTRY_VERIFY(!message(talkative).isEmpty());
        QTRY_COMPARE(below_bar(talkative, talkative.find(QStringLiteral("message"))), 8);
        WindowDriver silent(engine); // which has no gap for what is not there
        QVERIFY(message(silent).isEmpty());
        QTRY_COMPARE(below_bar(silent, silent.window->findChild<QStackedWidget*>()), 0);
    }

    void closing_while_it_trains_asks() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        const auto answer = [&](const QString& button) {
            QVERIFY(!driver.window->close());
            QVERIFY(driver.click(button));
        };
        answer(QStringLiteral("cancelClose"));
        QVERIFY(driver.window->isVisible());
        answer(QStringLiteral("saveAndStop")); // closes by itself once the run has ended
        QTRY_VERIFY(!driver.window->isVisible());
        QCOMPARE(driver.run()->state(), RunState::stopped);
    }

    void closing_waits_for_a_run_that_ends_in_its_past() {
        WindowDriver driver(engine, {QStringLiteral("--slow-past")});
        QVERIFY(wait_for_runs(driver, 3));
        QVERIFY(!driver.window->close());
        QVERIFY(!driver.window->close()); // asks once
        QCOMPARE(driver.window->findChildren<QMessageBox*>(QStringLiteral("closeDialog")).size(), 1);
        QVERIFY(driver.click(QStringLiteral("saveAndStop")));
        QTRY_VERIFY(!driver.window->isVisible());
    }

    void nothing_is_clipped_and_everything_named_data() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("1280x720") << QSize(1280, 720);
        QTest::newRow("960x600") << QSize(960, 600);
        QTest::newRow("1920x1080") << QSize(1920, 1080);
    }
    void nothing_is_clipped_and_everything_named() {
        QFETCH(QSize, size);
        WindowDriver driver(engine);
        driver.window->resize(size);
        QTRY_VERIFY(driver.find(QStringLiteral("preset-train-small")));
        const auto check = [&] {
            QTest::qWait(120);
            QCOMPARE(clipped(driver.window.get()), QStringList());
            QCOMPARE(overlapping(driver.window.get()), QStringList());
            QCOMPARE(unnamed(driver.window.get()), QStringList());
        };
        check();
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        check();
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        check();
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        check();
        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.key(Qt::Key_5, Qt::ControlModifier);
        QTRY_VERIFY(!driver.find<QLabel>(QStringLiteral("resultsSummary"))->text().isEmpty());
        check();
    }
};

WATCHED_TEST_MAIN(TestWindow)
#include "tst_window.moc"
