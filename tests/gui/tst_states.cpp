// SPDX-License-Identifier: GPL-3.0-or-later
// The states of the window's centre: what each one shows and offers, and that nothing around it moves.
#include "layer_table.h"
#include "metric_tile.h"
#include "network_view.h"
#include "plot_group.h"
#include "run_list.h"
#include "setup_view.h"
#include "stand_in.h"
#include "status_strip.h"
#include "watched_test.h"

#include <QAction>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <map>

using namespace espalier;
using namespace espalier::test;

namespace {

bool begin(WindowDriver& driver) {
    return driver.click(QStringLiteral("preset-quick")) && driver.click(QStringLiteral("start")) &&
           driver.wait_for_step(70);
}

QString tile(WindowDriver& driver, const char* name) {
    for (const auto* one : driver.window->findChildren<MetricTile*>())
        if (one->accessibleName() == QLatin1String(name))
            return one->isVisible() ? one->accessibleDescription() : QStringLiteral("hidden");
    return QStringLiteral("none");
}

/// The buttons of the run's band, the primary one first with a star.
QStringList offers(WindowDriver& driver) {
    QStringList names;
    for (const auto* button : driver.find(QStringLiteral("band"))->findChildren<QPushButton*>())
        if (button->isVisible())
            names.append((button->property("kind") == QStringLiteral("primary") ? QStringLiteral("*") : QString()) +
                         button->objectName().section(QLatin1Char('-'), 1));
    return names;
}

QString tone(WindowDriver& driver) { return driver.find(QStringLiteral("band"))->property("band").toString(); }

/// Where everything is that can be seen.
std::map<const QWidget*, QRect> places(const QWidget* window) {
    std::map<const QWidget*, QRect> found;
    for (const auto* widget : window->findChildren<QWidget*>())
        if (widget->window() == window && widget->isVisible())
            found[widget] = QRect(widget->mapTo(window, QPoint()), widget->size());
    return found;
}

QString moved(const std::map<const QWidget*, QRect>& before, const std::map<const QWidget*, QRect>& after) {
    const auto called = [](const QWidget* widget) {
        return QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') + widget->objectName();
    };
    for (const auto& [widget, place] : before)
        if (const auto now = after.find(widget); now == after.end() || now->second != place)
            return called(widget);
    return before.size() == after.size() ? QString() : QStringLiteral("something came");
}

} // namespace

class TestStates : public WatchedTest {
    Q_OBJECT

private slots:
    void the_centre_changes_alone() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        const auto frame = [&] {
            QList<QRect> rects;
            for (const char* name : {"toolBar", "runRail", "statusStrip"}) {
                const auto* part = driver.find(QLatin1String(name));
                rects.append(part->isVisible() ? QRect(part->mapTo(driver.window.get(), QPoint()), part->size())
                                               : QRect());
            }
            return rects;
        };
        const auto gallery = frame();
        QCOMPARE(gallery, (QList<QRect>{QRect(0, 0, 1280, 48), QRect(0, 48, 216, 644), QRect(0, 692, 1280, 28)}));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QCOMPARE(frame(), gallery);
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        QCOMPARE(frame(), gallery);
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        QCOMPARE(frame(), gallery);
        for (const char* run : {"/fake/runs/quick-1", "/fake/runs/grow-2"}) { // finished, failed
            driver.window->show_run(QLatin1String(run));
            QTRY_VERIFY(!is_active(driver.run()->state()));
            QCOMPARE(frame(), gallery);
        }
        driver.window->show_comparison({QStringLiteral("/fake/runs/quick-1"), QStringLiteral("/fake/runs/grow-2")});
        QCOMPARE(frame(), gallery);
    }

    void setup_tells_what_takes_memory_and_nothing_else() {
        WindowDriver driver(engine);
        QVERIFY(begin(driver));
        const QString plan = driver.find<QLabel>(QStringLiteral("plan"))->text();
        QVERIFY2(plan.contains(QStringLiteral(" MB, workspace 9 MB")), qPrintable(plan));
        QVERIFY2(!plan.contains(QStringLiteral(" 0 B")), qPrintable(plan)); // the data set is not on the device
    }

    void nothing_moves_as_numbers_change() {
        WindowDriver driver(engine, {QStringLiteral("--gpu")});
        QVERIFY(begin(driver));
        for (const int tab : {0, 1, 2, 3}) {
            driver.window->run_page()->show_tab(tab);
            QTest::qWait(300);
            const auto* head = driver.find<LayerTable>(QStringLiteral("layers"))->horizontalHeader();
            const auto columns = [&] {
                QList<int> sizes;
                for (int i = 0; i < head->count(); ++i)
                    sizes.append(head->sectionSize(i));
                return sizes;
            };
            const auto before = places(driver.window.get());
            const auto widths = columns();
            const auto* strip = driver.window->findChild<StatusStrip*>();
            const QString said = strip->text() + tile(driver, "Loss");
            QVERIFY(driver.wait_for_step(driver.run()->step() + 60));
            QTRY_VERIFY(strip->text() + tile(driver, "Loss") != said); // the numbers are others
            QCOMPARE(moved(before, places(driver.window.get())), QString());
            QCOMPARE(columns(), widths);
        }
    }

    void running_has_tiles_with_value_trend_and_best() {
        WindowDriver driver(engine);
        QVERIFY(begin(driver));
        QVERIFY(driver.wait_for_step(130)); // two evaluations
        const auto says = [&](const char* name, const char* pattern) {
            return QRegularExpression(QRegularExpression::anchoredPattern(QString::fromUtf8(pattern)))
                .match(tile(driver, name))
                .hasMatch();
        };
        QTRY_VERIFY2(says("Loss", "[0-9.]+, falling, best validation [0-9.]+"), qPrintable(tile(driver, "Loss")));
        QVERIFY2(says("Validation accuracy", "[0-9.]+ %, (rising|falling), best [0-9.]+ %"),
                 qPrintable(tile(driver, "Validation accuracy")));
        QVERIFY2(says("Memory", "51 MB, peak 212 MB with the program"), qPrintable(tile(driver, "Memory")));
        QVERIFY2(says("GFLOPS", "[0-9]+, (falling, |rising, )?best [0-9,]+"), qPrintable(tile(driver, "GFLOPS")));
        QVERIFY2(says("Speed", "[0-9,]+ img/s, (falling, |rising, )?step [0-9.]+ ms · best [0-9,]+"),
                 qPrintable(tile(driver, "Speed")));
        QVERIFY(!driver.find(QStringLiteral("band"))->isVisible());
    }

    void paused_offers_to_resume_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("released");
        QTest::newRow("processor") << QStringList() << QStringLiteral("Its memory is free again.");
        QTest::newRow("GPU") << QStringList{QStringLiteral("--gpu")} << QStringLiteral("GPU memory released.");
    }
    void paused_offers_to_resume() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, released);
        WindowDriver driver(engine, arguments);
        QVERIFY(begin(driver));
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        QTRY_COMPARE(offers(driver), (QStringList{QStringLiteral("*resume"), QStringLiteral("stop")}));
        QCOMPARE(tone(driver), QStringLiteral("attention"));
        const auto* band = driver.find(QStringLiteral("band"));
        QVERIFY(band->accessibleName().startsWith(QStringLiteral("Paused at step ")));
        QVERIFY(band->accessibleDescription().startsWith(released));
        const auto drawn = driver.run()->loss.raw.size();
        QTest::qWait(300);
        QCOMPARE(driver.run()->loss.raw.size(), drawn);
    }

    void finished_tells_the_result() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        QTRY_COMPARE(offers(driver),
                     (QStringList{QStringLiteral("predict"), QStringLiteral("export"), QStringLiteral("more_epochs")}));
        const QRegularExpression at_epoch(QStringLiteral("[0-9.]+ %, at epoch 1[0-9]"));
        QVERIFY2(at_epoch.match(tile(driver, "Best accuracy")).hasMatch(), qPrintable(tile(driver, "Best accuracy")));
        QVERIFY2(tile(driver, "Duration").startsWith(QStringLiteral("0:00:3")), qPrintable(tile(driver, "Duration")));
        QCOMPARE(tile(driver, "Validation accuracy"), QStringLiteral("none"));
        QCOMPARE(tone(driver), QStringLiteral("info"));
    }

    void failed_tells_the_cause_and_keeps_the_curves() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        driver.window->show_run(QStringLiteral("/fake/runs/grow-2"));
        QVERIFY(driver.wait_for_state(RunState::failed));
        QTRY_COMPARE(offers(driver), (QStringList{QStringLiteral("*resume"), QStringLiteral("resume_safe"),
                                                  QStringLiteral("resume_from"), QStringLiteral("report")}));
        QCOMPARE(tone(driver), QStringLiteral("fault"));
        QVERIFY(driver.window->run_page()->plots()->isVisible());
        QCOMPARE(driver.run()->loss.raw.size(), std::size_t{430});
    }

    /// There is nothing to resume, and the settings that it failed with would fail again.
    void failed_without_a_checkpoint_asks_for_other_settings() {
        WindowDriver driver(engine, {QStringLiteral("--fail-at"), QStringLiteral("5")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::failed));
        QTRY_COMPARE(offers(driver), (QStringList{QStringLiteral("*like"), QStringLiteral("resume"),
                                                  QStringLiteral("resume_safe"), QStringLiteral("report")}));
        for (const auto& [name, text] : {std::pair{"band-like", "Change settings…"},
                                         {"band-resume", "Start again"},
                                         {"band-resume_safe", "Start again in safe mode"}})
            QCOMPARE(driver.find<QPushButton>(QLatin1String(name))->text(), QString::fromUtf8(text));
        const auto* resume_from = driver.find<QAction>(QStringLiteral("run-resume_from"));
        QVERIFY(!resume_from->isEnabled() && resume_from->toolTip().startsWith(QStringLiteral("There is nothing")));
        driver.window->run_page()->show_tab(RunPage::results_tab);
        QTRY_COMPARE(driver.find<QPushButton>(QStringLiteral("resultsResume"))->text(),
                     QStringLiteral("Change settings…"));
        QVERIFY(driver.click(QStringLiteral("band-like")));
        QTRY_VERIFY(driver.find(QStringLiteral("start")) && driver.find(QStringLiteral("start"))->isVisible());
        const auto* rate = driver.find<QLineEdit>(QStringLiteral("field-optimizer.learning_rate"));
        QCOMPARE(rate->text(), QStringLiteral("0.3")); // the one it failed with
    }

    /// A view that has nothing to show says why, and offers what changes it; it never shows another run's.
    void what_is_not_there_yet_is_said() {
        WindowDriver driver(engine);
        QVERIFY(begin(driver));
        for (int tab = 1; tab <= 3; ++tab) { // all of them filled
            driver.window->run_page()->show_tab(tab);
            QTest::qWait(60);
        }
        driver.key(Qt::Key_N, Qt::ControlModifier);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("addToQueue")));
        QTRY_VERIFY(driver.find(QStringLiteral("message"))->isVisible());
        const QString waiting = driver.window->runs()->runs().front().id;
        QTRY_VERIFY(driver.window->runs()->state_of(waiting) == RunState::queued);
        driver.window->show_run(waiting);
        QVERIFY(driver.wait_for_state(RunState::queued));
        const auto check = [&](const char* words, const char* button) {
            for (int tab = 1; tab <= 3; ++tab) {
                driver.window->run_page()->show_tab(tab);
                QTest::qWait(100);
                const QLabel* says = nullptr;
                for (const auto* label : driver.window->findChildren<QLabel*>(QStringLiteral("emptyWords")))
                    if (label->isVisible())
                        says = label;
                QVERIFY2(says && says->text().contains(QLatin1String(words)),
                         says ? qPrintable(says->text()) : "nothing");
                const QPushButton* offered = nullptr;
                for (const auto* one : driver.window->findChildren<QPushButton*>(QStringLiteral("emptyResume")))
                    if (one->isVisible())
                        offered = one;
                QVERIFY(offered && offered->text() == QLatin1String(button));
                QVERIFY(!driver.find(QStringLiteral("layers"))->isVisible());
                for (const auto* label : driver.window->run_page()->findChildren<QLabel*>())
                    QVERIFY(!label->isVisible() || !label->text().contains(QStringLiteral("75,530"))); // parameters
            }
        };
        check("waits in the queue", "Begin now");
        QVERIFY(driver.click(QStringLiteral("band-stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        check("ended before its network was built", "Start again");
        for (auto* one : driver.window->findChildren<QPushButton*>(QStringLiteral("emptyResume")))
            if (one->isVisible())
                QTest::mouseClick(one, Qt::LeftButton);
        QVERIFY(driver.wait_for_state(RunState::running));
    }

    /// Without a connection nothing can be asked of a run, by no button; with the next one all can be used again.
    void without_a_connection_a_run_is_only_looked_at() {
        WindowDriver driver(engine);
        QVERIFY(begin(driver));
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        QTRY_VERIFY(driver.find(QStringLiteral("band-resume")));
        const QString reason = QStringLiteral("There is no connection to the engine.");
        QStringList refused; // the engine is back too soon to be waited for
        connect(driver.window->machine(), &Machine::lost, this, [&] {
            for (const char* name : {"pause", "stop", "band-resume", "band-stop", "openFolder"})
                if (auto* button = driver.find<QAbstractButton>(QLatin1String(name));
                    !button->isEnabled() && button->toolTip() == reason && button->accessibleDescription() == reason)
                    refused.append(button->objectName());
            for (const char* name : {"run-pause", "run-stop", "run-export", "run-report"})
                if (const auto* action = driver.find<QAction>(QLatin1String(name));
                    !action->isEnabled() && action->toolTip() == reason)
                    refused.append(action->objectName());
        });
        driver.window->machine()->request("plan", Json{{"config", {{"data", "synthetic:crash"}}}});
        QTRY_COMPARE(refused.join(QLatin1Char(' ')),
                     QStringLiteral("pause stop band-resume band-stop run-pause run-stop run-export"));
        QTRY_VERIFY_WITH_TIMEOUT(driver.window->machine()->is_connected(), 15000);
        driver.window->show_run(QStringLiteral("/fake/runs/grow-2"));
        QVERIFY(driver.wait_for_state(RunState::failed));
        QVERIFY(driver.click(QStringLiteral("band-resume")));
    }

    void without_an_engine_the_gallery_says_what_is_missing() {
        WindowDriver driver(QStringLiteral("/no/such/espalier-train"));
        const auto* words = driver.find<QLabel>(QStringLiteral("presetsWaiting"));
        QTRY_VERIFY(words->isVisible());
        QCOMPARE(words->text(), QStringLiteral("The presets stand here once the engine answers."));
        QTRY_VERIFY(driver.find(QStringLiteral("closeMessage")));
    }

    void the_menu_offers_what_can_be_done() {
        WindowDriver driver(engine);
        QTRY_VERIFY(driver.find(QStringLiteral("preset-quick"))->isVisible());
        const auto enabled = [&](const char* name) { return driver.find<QAction>(QLatin1String(name))->isEnabled(); };
        for (const char* name : {"run-export", "run-report", "run-folder"})
            QVERIFY(!enabled(name)); // of what run?
        QCOMPARE(driver.find<QAction>(QStringLiteral("run-export"))->toolTip(), QStringLiteral("Open a run first."));
        QVERIFY(begin(driver));
        for (const char* name : {"run-export", "run-report", "run-folder"})
            QTRY_VERIFY(enabled(name));
        const auto* resume_from = driver.find<QAction>(QStringLiteral("run-resume_from")); // while it trains
        QVERIFY(!resume_from->isEnabled() && resume_from->toolTip().startsWith(QStringLiteral("Stop the run first")));
        driver.key(Qt::Key_E, Qt::ControlModifier);
        QTRY_VERIFY(driver.find<QFileDialog>(QStringLiteral("exportNetwork")));
    }

    void full_screen_and_back() {
        WindowDriver driver(engine);
        driver.key(Qt::Key_F11);
        QTRY_VERIFY(driver.window->isFullScreen());
        driver.key(Qt::Key_F11);
        QTRY_VERIFY(!driver.window->isFullScreen());
    }

    void the_keys_of_the_menu_are_listed() {
        WindowDriver driver(engine);
        driver.key(Qt::Key_F1);
        QTRY_VERIFY(driver.find(QStringLiteral("keysHelp")));
        const QString list = driver.find<QMessageBox>(QStringLiteral("keysHelp"))->informativeText();
        for (const char* key : {"Ctrl+N", "Space", "Ctrl+E", "F11", "Ctrl+1", "Ctrl+6", "F2, Del"})
            QVERIFY2(list.contains(QStringLiteral("<b>%1</b>").arg(QLatin1String(key))), key);
        QVERIFY(driver.click(QStringLiteral("closeHelp")));
    }
};

WATCHED_TEST_MAIN(TestStates)
#include "tst_states.moc"
