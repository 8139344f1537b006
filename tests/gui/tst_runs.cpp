// SPDX-License-Identifier: GPL-3.0-or-later
// What one does with runs in the rail: look at them, begin others like them, delete and bring back, hand on. A stand-in
// for the engine answers; the same over the real one is in tst_real_run.
#include "compare_page.h"
#include "rail_driver.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

class TestRuns : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs); }

    /// Also of one that has no plan yet; those of the run of before are gone at once.
    void setup_tells_what_a_run_is_trained_with() {
        WindowDriver driver(engine);
        const auto settings = [&] {
            const auto* label = driver.find<QLabel>(QStringLiteral("settings"));
            return label->isVisible() ? label->text() : QString();
        };
        QTRY_COMPARE(names(driver).size(), 2);
        driver.key(Qt::Key_2, Qt::ControlModifier);
        for (const auto& [row, rate] : {std::pair{0, "0.2"}, {1, "0.1"}}) {
            click_run(driver, row);
            QVERIFY(!settings().contains(QLatin1String(row == 0 ? "0.1" : "0.2")));
            QTRY_VERIFY(settings().contains(QStringLiteral("Learning rate")));
            QVERIFY2(settings().contains(QLatin1String(rate)), qPrintable(settings()));
            QVERIFY(!settings().contains(QStringLiteral("Epochs"))); // said by the plan
        }
        QVERIFY(queue_one(driver));
        QVERIFY(driver.click(QStringLiteral("queue-name-quick-3")));
        QTRY_VERIFY(settings().contains(QStringLiteral("0.3")));
    }

    /// Whatever page is looked at.
    void the_title_follows_the_run_that_trains() {
        WindowDriver driver(engine, {QStringLiteral("--pace"), QStringLiteral("40")});
        const auto shows = [&] {
            static const QRegularExpression far(QStringLiteral("^[0-9]+ % · quick-3 · Espalier$"));
            return far.match(driver.window->windowTitle()).hasMatch();
        };
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(5));
        QTRY_VERIFY(shows());
        driver.key(Qt::Key_N, Qt::ControlModifier);
        QVERIFY(shows());
        click_run(driver, 1); // one that has ended
        QTest::qWait(200);
        QVERIFY(shows());
        driver.window->show_comparison({QStringLiteral("/fake/runs/quick-1"), QStringLiteral("/fake/runs/quick-3")});
        QVERIFY(shows());
        driver.window->runs()->command(QStringLiteral("/fake/runs/quick-3"), QStringLiteral("stop"));
        QTRY_COMPARE(driver.window->windowTitle(), QStringLiteral("Espalier"));
    }

    void a_grey_entry_of_a_menu_says_why() {
        WindowDriver driver(engine, {QStringLiteral("--no-restore")});
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 1);
        QStringList grey;
        const auto look_at = [&](QWidget* at, const QPoint& place) {
            emit at->customContextMenuRequested(place);
            auto* menu = driver.find<QMenu>(QStringLiteral("runMenu"));
            QVERIFY(menu && QTest::qWaitFor([&] { return menu->isVisible(); }));
            QVERIFY(menu->toolTipsVisible());
            for (const QAction* action : menu->actions())
                if (!action->isEnabled() && !action->isSeparator()) {
                    QVERIFY2(action->toolTip().endsWith(QLatin1Char('.')), qPrintable(action->text()));
                    grey.append(action->objectName());
                }
            QTest::keyClick(menu, Qt::Key_Escape);
            QTRY_VERIFY(!driver.find<QMenu>(QStringLiteral("runMenu")));
        };
        for (int row = 0; row < run_list(driver)->count(); ++row) // one has finished, the other failed
            look_at(run_list(driver), place_of_run(driver, row));
        auto* waiting = driver.find(QStringLiteral("queue-name-quick-3"))->parentWidget();
        look_at(waiting, waiting->rect().center());
        for (const char* name : {"runResume", "runQueue", "runDelete", "runRename"})
            QVERIFY2(grey.contains(QLatin1String(name)), name);
    }

    /// Without a checkpoint nothing is resumed, whether the run is open or not.
    void what_has_no_checkpoint_is_started_again() {
        WindowDriver driver(engine, {QStringLiteral("--fail-at"), QStringLiteral("5")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::failed));
        QTRY_COMPARE(names(driver).size(), 3);
        const auto offered = [&](int row) {
            emit run_list(driver)->customContextMenuRequested(place_of_run(driver, row));
            auto* menu = driver.find<QMenu>(QStringLiteral("runMenu"));
            const QStringList texts{menu->findChild<QAction*>(QStringLiteral("runResume"))->text(),
                                    menu->findChild<QAction*>(QStringLiteral("runQueue"))->text()};
            delete menu;
            return texts;
        };
        const QStringList again{QStringLiteral("Start again"), QStringLiteral("Start again in the queue")},
            resumed{QStringLiteral("Resume"), QStringLiteral("Resume in the queue")};
        QCOMPARE(offered(0), again);
        QCOMPARE(offered(2), resumed); // failed later on, and is not open
        driver.window->show_gallery();
        driver.window->runs()->reload();
        QSignalSpy listed(driver.window->runs(), &RunStore::listed);
        QVERIFY(listed.wait());
        QCOMPARE(offered(0), again);
    }

    void a_new_run_is_like_another() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        QVERIFY(choose_for_run(driver, 0, "runLike"));
        const QString field = QStringLiteral("field-optimizer.learning_rate");
        QTRY_VERIFY(driver.find<QLineEdit>(field) && driver.find(field)->isVisible());
        const auto* rate = driver.find<QLineEdit>(field);
        QCOMPARE(rate->text(), QStringLiteral("0.2"));
        QVERIFY(driver.find(QStringLiteral("revert-optimizer.learning_rate"))->isVisible());
        QVERIFY(!driver.find(QStringLiteral("revert-epochs"))->isVisible()); // as the preset has them
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        QCOMPARE(driver.run()->name(), QStringLiteral("quick-3"));
    }

    void a_deleted_run_comes_back() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        click_run(driver, 0);
        QVERIFY(driver.wait_for_state(RunState::finished));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Delete);
        QCOMPARE(names(driver), QStringList{QStringLiteral("grow-2")}); // at once
        QVERIFY(driver.find(QStringLiteral("preset-quick"))->isVisible());
        auto* band = driver.find(QStringLiteral("deleteUndo"));
        QTRY_VERIFY(band->isVisible());
        QVERIFY(band->accessibleName().contains(QStringLiteral("quick-1")));
        QVERIFY(driver.click(QStringLiteral("undoDelete")));
        QVERIFY(!band->isVisible());
        QTRY_COMPARE(names(driver).size(), 2);
        const auto row = static_cast<int>(names(driver).indexOf(QStringLiteral("quick-1")));
        click_run(driver, row);
        QVERIFY(driver.wait_for_state(RunState::finished));
        QVERIFY(choose_for_run(driver, row, "runDelete"));
        QTRY_COMPARE(names(driver), QStringList{QStringLiteral("grow-2")});
    }

    void the_list_keeps_its_keys() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::finished));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Up);
        QVERIFY(driver.wait_for_state(RunState::running));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        QVERIFY(driver.wait_for_state(RunState::paused));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down, Qt::ShiftModifier);
        QTRY_VERIFY(driver.find(QStringLiteral("compareClose"))->isVisible());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down, Qt::ShiftModifier);
        QTRY_COMPARE(driver.window->compare_page()->runs().size(), std::size_t{3});
    }

    void a_run_that_trains_cannot_be_deleted() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        run_list(driver)->setFocus();
        QTest::keyClick(run_list(driver), Qt::Key_Delete);
        QTRY_VERIFY(message(driver).contains(QStringLiteral("has not ended")));
        QVERIFY(!choose_for_run(driver, 0, "runDelete"));
        QCOMPARE(names(driver).size(), 3);
        QVERIFY(driver.run());
    }

    void what_could_not_be_brought_back_is_not_deleted() {
        WindowDriver driver(engine, {QStringLiteral("--no-restore")});
        QTRY_COMPARE(names(driver).size(), 2);
        click_run(driver, 0);
        QVERIFY(driver.wait_for_state(RunState::finished));
        run_list(driver)->setFocus();
        QTest::keyClick(run_list(driver), Qt::Key_Delete);
        QTRY_VERIFY(message(driver).contains(QStringLiteral("older")));
        driver.window->runs()->reload();
        QTest::qWait(200);
        QCOMPARE(names(driver).size(), 2);
    }

    void a_report_is_saved_as_a_zip() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        QVERIFY(choose_for_run(driver, 0, "runSaveReport"));
        QTRY_VERIFY(driver.find<QFileDialog>(QStringLiteral("saveReport")));
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("saveReport"));
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("report.zip"));
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        QVERIFY(name && name->text().endsWith(QStringLiteral("quick-1-report.zip")));
        name->setText(file); // keys would open the completer, which takes Return
        QTest::keyClick(name, Qt::Key_Return);
        QTRY_COMPARE(QFile(file).size(), qint64{22});
        QTRY_VERIFY(driver.find(QStringLiteral("message"))->accessibleName().contains(file));
    }

    void a_run_is_copied_as_a_command() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        QVERIFY(choose_for_run(driver, 0, "runCommand"));
        QTRY_COMPARE(QApplication::clipboard()->text(),
                     QStringLiteral("espalier-train run --preset quick --name /fake/runs/quick-1 --set epochs=12"));
    }

    /// Who does not know its presets names every setting.
    void an_older_engine_does_not_know_what_differs_from_the_preset() {
        WindowDriver driver(engine, {QStringLiteral("--no-restore")});
        QTRY_COMPARE(names(driver).size(), 2);
        QVERIFY(choose_for_run(driver, 0, "runCommand"));
        QTRY_VERIFY(QApplication::clipboard()->text().startsWith(
            QStringLiteral("espalier-train run --preset quick --name /fake/runs/quick-1 --set epochs=12 --set "
                           "network.network=quick")));
        const RunStore* store = driver.window->runs(); // its past is not read for it
        QVERIFY(!store->is_loading(QStringLiteral("/fake/runs/quick-1")));
        QVERIFY(!store->opened(QStringLiteral("/fake/runs/quick-1")));
    }

    void the_report_of_a_run_that_is_not_open_has_its_past() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        QApplication::clipboard()->clear();
        QVERIFY(choose_for_run(driver, 0, "runReport"));
        QTRY_VERIFY(QApplication::clipboard()->text().contains(QStringLiteral("step 756")));
    }
};

WATCHED_TEST_MAIN(TestRuns)
#include "tst_runs.moc"
