// SPDX-License-Identifier: GPL-3.0-or-later
// What a person writes to runs, and finds them by: names, tags and notes.
#include "rail_driver.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QApplication>
#include <QInputDialog>
#include <QLineEdit>
#include <QPlainTextEdit>

using namespace espalier;
using namespace espalier::test;

class TestRunNotes : public WatchedTest {
    Q_OBJECT

private slots:
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
};

WATCHED_TEST_MAIN(TestRunNotes)
#include "tst_run_notes.moc"
