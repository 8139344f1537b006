// SPDX-License-Identifier: GPL-3.0-or-later
// What one does with runs in the rail: queue, search, rename, tag, note, delete and bring back. A stand-in for the
// engine answers; the same over the real one is in tst_real_run.
#include "compare_page.h"
#include "queue_list.h"
#include "run_rail.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString engine = QStringLiteral(FAKE_SERVE);

QListWidget* runs(WindowDriver& driver) { return driver.find<QListWidget>(QStringLiteral("runList")); }

QStringList names(WindowDriver& driver) {
    QStringList names;
    for (int i = 0; i < runs(driver)->count(); ++i)
        if (!runs(driver)->item(i)->isHidden() && runs(driver)->isVisible())
            names.append(runs(driver)->item(i)->text());
    return names;
}

void click_run(WindowDriver& driver, int row) {
    auto* list = runs(driver);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(row)).center());
}

/// Opens the context menu at a place and clicks one of its actions. The rail tells where; only the click on the mouse's
/// other button is made by hand.
bool choose(WindowDriver& driver, QWidget* at, const QPoint& place, const char* action) {
    emit at->customContextMenuRequested(place);
    auto* menu = driver.find<QMenu>(QStringLiteral("runMenu"));
    if (!menu || !QTest::qWaitFor([&] { return menu->isVisible(); }))
        return false;
    auto* chosen = menu->findChild<QAction*>(QLatin1String(action));
    if (!chosen || !chosen->isEnabled())
        return false;
    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(chosen).center());
    return QTest::qWaitFor([&] { return !driver.find<QMenu>(QStringLiteral("runMenu")); });
}

bool choose_for_run(WindowDriver& driver, int row, const char* action) {
    return choose(driver, runs(driver), runs(driver)->visualItemRect(runs(driver)->item(row)).center(), action);
}

QString message(WindowDriver& driver) {
    auto* band = driver.find(QStringLiteral("message"));
    return band->isVisible() ? band->accessibleName() : QString();
}

bool queue_one(WindowDriver& driver) {
    driver.key(Qt::Key_N, Qt::ControlModifier);
    return driver.click(QStringLiteral("preset-quick")) && driver.click(QStringLiteral("addToQueue")) &&
           QTest::qWaitFor([&] { return driver.find(QStringLiteral("message"))->isVisible(); }, 5000);
}

QStringList queue_of(WindowDriver& driver) {
    QStringList list;
    for (const auto* row : driver.find<QueueList>(QString())->findChildren<QPushButton*>())
        if (row->isVisible() && row->objectName().startsWith(QStringLiteral("queue-name-")))
            list.append(row->objectName().mid(11));
    return list;
}

} // namespace

class TestRuns : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs); }

    void runs_are_queued_ordered_and_taken_out() {
        WindowDriver driver(engine);
        for (int i = 0; i < 3; ++i)
            QVERIFY(queue_one(driver));
        const QStringList before{QStringLiteral("quick-3"), QStringLiteral("quick-4"), QStringLiteral("quick-5")};
        QTRY_COMPARE(queue_of(driver), before);
        QCOMPARE(driver.find<QLabel>(QStringLiteral("queueTitle"))->text(), QStringLiteral("QUEUE (3)"));
        QCOMPARE(names(driver).size(), 2); // those of before
        QVERIFY(!driver.find(QStringLiteral("queue-up-quick-3"))->isEnabled());
        QVERIFY(driver.click(QStringLiteral("queue-up-quick-5")));
        const QStringList after{QStringLiteral("quick-3"), QStringLiteral("quick-5"), QStringLiteral("quick-4")};
        QTRY_COMPARE(queue_of(driver), after);
        QTest::qWait(2500); // the machine's list has come again
        QCOMPARE(queue_of(driver), after);
        QVERIFY(driver.click(QStringLiteral("queue-remove-quick-5")));
        QTRY_COMPARE(queue_of(driver).size(), 2);
        QTRY_VERIFY(names(driver).contains(QStringLiteral("quick-5")));
    }

    void a_waiting_run_is_looked_at_and_begun_at_once() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 1);
        QVERIFY(driver.click(QStringLiteral("queue-name-quick-3")));
        QVERIFY(driver.wait_for_state(RunState::queued));
        QTRY_VERIFY(driver.find(QStringLiteral("band"))->accessibleName().contains(QStringLiteral("until grow-2")));
        QVERIFY(!driver.find(QStringLiteral("pause"))->isVisible());
        QVERIFY(driver.find(QStringLiteral("stop"))->isVisible());
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_step(10));
        QTRY_COMPARE(queue_of(driver).size(), 0);
        QTRY_COMPARE(names(driver).size(), 3);
    }

    void a_waiting_run_has_a_menu() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 2);
        const auto row = [&](const char* name) { return driver.find(QLatin1String(name))->parentWidget(); };
        QVERIFY(choose(driver, row("queue-name-quick-4"), {5, 5}, "runEarlier"));
        const QStringList moved{QStringLiteral("quick-4"), QStringLiteral("quick-3")};
        QTRY_COMPARE(queue_of(driver), moved);
        QVERIFY(choose(driver, row("queue-name-quick-3"), {5, 5}, "runUnqueue"));
        QTRY_COMPARE(queue_of(driver), QStringList{QStringLiteral("quick-4")});
    }

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

    /// Who looks at another program at night hears of every run, opened in this window or not.
    void the_end_of_every_run_is_told_data() {
        QTest::addColumn<bool>("opened");
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<RunState>("state");
        const QStringList sound{QStringLiteral("--pace"), QStringLiteral("200")};
        const QStringList faulty{QStringLiteral("--pace"), QStringLiteral("200"), QStringLiteral("--fail-at"),
                                 QStringLiteral("300")};
        QTest::newRow("finished, never opened") << false << sound << RunState::finished;
        QTest::newRow("failed, never opened") << false << faulty << RunState::failed;
        QTest::newRow("finished, opened") << true << sound << RunState::finished;
        QTest::newRow("failed, opened") << true << faulty << RunState::failed;
    }
    void the_end_of_every_run_is_told() {
        QFETCH(bool, opened);
        QFETCH(QStringList, arguments);
        QFETCH(RunState, state);
        WindowDriver driver(engine, arguments);
        std::vector<RunEnd> ends;
        connect(driver.window->runs(), &RunStore::ended, this, [&](const RunEnd& end) { ends.push_back(end); });
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 1);
        if (opened)
            QVERIFY(driver.click(QStringLiteral("queue-name-quick-3")));
        auto* row = driver.find(QStringLiteral("queue-name-quick-3"))->parentWidget();
        QVERIFY(choose(driver, row, {5, 5}, "runBegin"));
        QTRY_COMPARE_WITH_TIMEOUT(ends.size(), std::size_t{1}, 20000);
        QCOMPARE(ends[0].name, QStringLiteral("quick-3"));
        QCOMPARE(ends[0].state, state);
        QTest::qWait(2500); // the machine's list comes again: it is told once
        QCOMPARE(ends.size(), std::size_t{1});
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
        for (int row = 0; row < runs(driver)->count(); ++row) // one has finished, the other failed
            look_at(runs(driver), runs(driver)->visualItemRect(runs(driver)->item(row)).center());
        auto* waiting = driver.find(QStringLiteral("queue-name-quick-3"))->parentWidget();
        look_at(waiting, waiting->rect().center());
        for (const char* name : {"runResume", "runQueue", "runDelete", "runRename"})
            QVERIFY2(grey.contains(QLatin1String(name)), name);
    }

    void closing_with_a_queue_says_what_becomes_of_it() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        QVERIFY(!driver.window->close());
        auto* box = driver.find<QMessageBox>(QStringLiteral("closeDialog"));
        QVERIFY(box && box->informativeText().contains(QStringLiteral("queue (1)")));
        QTest::mouseClick(driver.find<QPushButton>(QStringLiteral("saveAndStop")), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!driver.window->isVisible(), 10000);
        for (const RunEntry& run : driver.window->runs()->runs())
            QVERIFY2(!is_active(driver.window->runs()->state_of(run.id)), qPrintable(run.name));
    }

    void the_search_looks_at_name_tags_preset_state_and_notes() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        driver.window->runs()->annotate(QStringLiteral("/fake/runs/grow-2"), {QStringLiteral("photo")},
                                        QStringLiteral("too bright"));
        driver.key(Qt::Key_F, Qt::ControlModifier);
        auto* search = driver.find<QLineEdit>(QStringLiteral("searchRuns"));
        QTRY_VERIFY(search->hasFocus());
        const QStringList grown{QStringLiteral("grow-2")}, quick{QStringLiteral("quick-1")};
        for (const auto& [text, found] : {std::pair{"GROW", grown},
                                          {"photo", grown},
                                          {"bright failed", grown},
                                          {"finished", quick},
                                          {"quick", quick + grown},
                                          {"photo finished", QStringList()}}) {
            search->clear();
            QTest::keyClicks(search, QLatin1String(text));
            QTRY_COMPARE(names(driver), found);
        }
        QTest::keyClick(search, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(search, Qt::Key_Delete);
        QTRY_COMPARE(names(driver).size(), 2);
    }

    void a_run_is_renamed_in_place() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        click_run(driver, 0);
        QTRY_VERIFY(driver.run());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_F2);
        auto* edit = driver.find<QLineEdit>(QStringLiteral("renameRun"));
        QVERIFY(edit && edit->hasFocus());
        QTest::keyClicks(edit, QStringLiteral("a better name"));
        QTest::qWait(100); // of the window's ticks
        QTest::keyClick(edit, Qt::Key_Return);
        QTRY_COMPARE(names(driver).front(), QStringLiteral("a better name"));
        QCOMPARE(driver.run()->name(), QStringLiteral("a better name"));
        QVERIFY(choose_for_run(driver, 1, "runRename"));
        QTRY_VERIFY(driver.find<QLineEdit>(QStringLiteral("renameRun")));
        edit = driver.find<QLineEdit>(QStringLiteral("renameRun"));
        QTest::keyClicks(edit, QStringLiteral("unwanted"));
        QTest::keyClick(edit, Qt::Key_Escape);
        QCOMPARE(names(driver).back(), QStringLiteral("grow-2"));
    }

    void tags_and_notes_are_kept() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        QVERIFY(choose_for_run(driver, 0, "runTags"));
        QTRY_VERIFY(driver.find<QInputDialog>(QStringLiteral("tagsDialog")));
        auto* dialog = driver.find<QInputDialog>(QStringLiteral("tagsDialog"));
        auto* field = dialog->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("photo, small,photo"));
        QTest::keyClick(field, Qt::Key_Return);
        driver.window->activateWindow(); // there may be no window manager to do it
        const QStringList tags{QStringLiteral("photo"), QStringLiteral("small")};
        const auto entry = [&] { return driver.window->runs()->entry(QStringLiteral("/fake/runs/quick-1")); };
        QTRY_COMPARE(entry()->tags, tags);

        click_run(driver, 0);
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.key(Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(driver.find<QLineEdit>(QStringLiteral("tags"))->text(), QStringLiteral("photo, small"));
        auto* notes = driver.find<QPlainTextEdit>(QStringLiteral("notes"));
        QTRY_VERIFY(notes->isVisible());
        QTest::mouseClick(notes->viewport(), Qt::LeftButton);
        QTest::keyClicks(notes, QStringLiteral("The first that saw it."));
        QCOMPARE(entry()->notes, QString()); // a pause first
        QTRY_COMPARE(entry()->notes, QStringLiteral("The first that saw it."));
        QCOMPARE(entry()->tags, tags);

        // what is not told yet when another run is looked at, or the window closed, is told then
        QTest::keyClicks(notes, QStringLiteral(" And more."));
        click_run(driver, 1);
        QTRY_COMPARE(entry()->notes, QStringLiteral("The first that saw it. And more."));
        QCOMPARE(driver.find<QPlainTextEdit>(QStringLiteral("notes"))->toPlainText(), QString());
        driver.key(Qt::Key_2, Qt::ControlModifier);
        QTest::keyClicks(notes, QStringLiteral("last words"));
        QVERIFY(!driver.window->close());
        QTRY_VERIFY(!driver.window->isVisible());
        QCOMPARE(driver.window->runs()->entry(QStringLiteral("/fake/runs/grow-2"))->notes,
                 QStringLiteral("last words"));
    }

    void an_older_list_does_not_take_notes_back() {
        WindowDriver driver(engine);
        QTRY_COMPARE(names(driver).size(), 2);
        RunStore* store = driver.window->runs();
        const QString path = QStringLiteral("/fake/runs/quick-1");
        QStringList seen;
        QList<bool> on_their_way;
        connect(store, &RunStore::listed, this, [&] {
            seen.append(store->entry(path)->notes);
            on_their_way.append(store->is_writing());
        });
        store->reload(); // what it says was so before the notes
        store->annotate(path, {}, QStringLiteral("new words"));
        QCOMPARE(store->entry(path)->notes, QStringLiteral("new words")); // at once
        QTRY_COMPARE(seen.size(), 1);
        QVERIFY(on_their_way.front());
        QCOMPARE(seen.front(), QStringLiteral("new words"));
        QTRY_VERIFY(!store->is_writing());
        store->reload();
        QTRY_COMPARE(seen.size(), 2);
        QCOMPARE(seen.back(), QStringLiteral("new words"));
    }

    /// Without a checkpoint nothing is resumed, whether the run is open or not.
    void what_has_no_checkpoint_is_started_again() {
        WindowDriver driver(engine, {QStringLiteral("--fail-at"), QStringLiteral("5")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::failed));
        QTRY_COMPARE(names(driver).size(), 3);
        const auto offered = [&](int row) {
            const QPoint place = runs(driver)->visualItemRect(runs(driver)->item(row)).center();
            emit runs(driver)->customContextMenuRequested(place);
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
        runs(driver)->setFocus();
        QTest::keyClick(runs(driver), Qt::Key_Delete);
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
        runs(driver)->setFocus();
        QTest::keyClick(runs(driver), Qt::Key_Delete);
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
