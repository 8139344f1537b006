// SPDX-License-Identifier: GPL-3.0-or-later
// An engine that does what engines should not: the window stays alive, loses nothing that it need not, and says what
// happened.
#include "watched_test.h"
#include "window_driver.h"

#include <QListWidget>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

namespace {

/// The words of the band on top of the pages, if it is shown.
QString message(WindowDriver& driver) {
    auto* band = driver.find(QStringLiteral("message"));
    return band && band->isVisible() ? band->accessibleName() : QString();
}

bool is_said(WindowDriver& driver, const char* words, int patience_ms = 10000) {
    return QTest::qWaitFor([&] { return message(driver).contains(QString::fromUtf8(words)); }, patience_ms);
}

WindowDriver open_window(const QStringList& faults) { return WindowDriver(QStringLiteral(FAKE_SERVE), faults); }

bool start_run(WindowDriver& driver) {
    return driver.click(QStringLiteral("preset-quick")) && driver.click(QStringLiteral("start"));
}

/// Every step that the window knows is there.
bool is_whole(const WindowDriver& driver) {
    return static_cast<std::int64_t>(driver.run()->loss.raw.size()) == driver.run()->step();
}

} // namespace

class TestMisbehaving : public WatchedTest {
    Q_OBJECT

private slots:
    void noise_is_passed_over_and_shown() {
        WindowDriver driver = open_window({QStringLiteral("--noise")});
        QVERIFY(start_run(driver));
        QVERIFY(is_said(driver, "passed over: \"this is not a line of the protocol\""));
        QTRY_VERIFY(driver.run());
        const QString begun = driver.run()->path();
        for (const QString& run : {QStringLiteral("/fake/runs/quick-1"), begun}) {
            driver.window->show_run(run);
            QVERIFY(!message(driver).isEmpty()); // it is as true of the engine there
        }
        QVERIFY(driver.click(QStringLiteral("closeMessage")));
        const std::int64_t then = driver.run()->step();
        QVERIFY(driver.wait_for_step(then + 20));
        QVERIFY(message(driver).isEmpty()); // once a connection is enough
        QVERIFY(is_whole(driver));
    }

    void bytes_that_are_not_utf8_are_replaced() {
        WindowDriver driver = open_window({QStringLiteral("--not-utf8")});
        QVERIFY(start_run(driver));
        QVERIFY(driver.wait_for_step(20));
        const auto& log = driver.run()->log();
        QVERIFY(std::ranges::any_of(
            log, [](const auto& line) { return line.text.contains(u"caf\ufffd.png cannot be read"); }));
        QVERIFY(is_whole(driver));
    }

    void a_line_of_ten_megabytes_is_passed_over() {
        WindowDriver driver = open_window({QStringLiteral("--long-line")});
        QVERIFY(start_run(driver));
        QVERIFY(is_said(driver, "passed over: \"{\"id\":"));
        QVERIFY(driver.wait_for_step(30));
        QVERIFY(is_whole(driver));
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
    }

    void half_a_line_at_its_death_is_no_message() {
        WindowDriver driver =
            open_window({QStringLiteral("--crash-at"), QStringLiteral("15"), QStringLiteral("--half-line")});
        QVERIFY(start_run(driver));
        QVERIFY(is_said(driver, "The engine on this machine ended with code 9."));
        QVERIFY2(!message(driver).contains(u"progress"), qPrintable(message(driver)));
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTRY_VERIFY(message(driver).isEmpty());
        QCOMPARE(driver.find<QListWidget>(QStringLiteral("runList"))->isVisible(), true);
    }

    void a_flood_of_errors_holds_nobody_up() {
        WindowDriver driver = open_window({QStringLiteral("--complain")}); // 1.5 MB with each line of steps
        QVERIFY(start_run(driver));
        QVERIFY(driver.wait_for_step(60, 60000));
        QVERIFY(is_whole(driver));
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
    }

    /// When the window has given up, what has been mended is taken at a click.
    void an_engine_that_does_not_start_can_be_tried_again() {
        const QTemporaryDir folder;
        const QString engine = folder.filePath(QStringLiteral("engine")),
                      mended = folder.filePath(QStringLiteral("ok"));
        QFile script(engine);
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(QStringLiteral("#!/bin/sh\n[ -e '%1' ] && exec '%2'\necho 'no library' >&2\nexit 3\n")
                         .arg(mended, QStringLiteral(FAKE_SERVE))
                         .toUtf8());
        script.close();
        QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        WindowDriver driver(engine, {});
        QVERIFY(is_said(driver, "ended with code 3. no library. Trying again"));
        QVERIFY(driver.click(QStringLiteral("retryMachine"), 30000));
        QVERIFY(message(driver).isEmpty()); // what is said next is of the attempt that was asked for
        QVERIFY(is_said(driver, "ended with code 3. no library."));
        QFile flag(mended);
        QVERIFY(flag.open(QIODevice::WriteOnly));
        QVERIFY(driver.click(QStringLiteral("retryMachine")));
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTRY_VERIFY(message(driver).isEmpty());
    }

    void an_engine_that_is_not_there_is_told_of() {
        WindowDriver driver(QStringLiteral("/nowhere/espalier-train"));
        QVERIFY(is_said(driver, "/nowhere/espalier-train could not be started: "));
        QVERIFY(is_said(driver, "Install the package espalier-train"));
    }

    void an_engine_that_never_says_hello_is_told_of() {
        WindowDriver driver = open_window({QStringLiteral("--mute")});
        driver.window->machine()->set_patience(1000);
        QVERIFY(is_said(driver, "has said nothing for 1 s"));
        QVERIFY(!driver.window->machine()->is_connected());
        QVERIFY(driver.click(QStringLiteral("retryMachine"))); // a new one, as mute as this one
        QVERIFY(is_said(driver, "has said nothing for 1 s"));
        driver.key(Qt::Key_N, Qt::ControlModifier); // the window can be used, and closed
        QVERIFY(driver.window->close());
    }

    void a_hello_that_comes_late_is_taken() {
        WindowDriver driver = open_window({QStringLiteral("--late-hello"), QStringLiteral("3000")});
        driver.window->machine()->set_patience(1000);
        QVERIFY(is_said(driver, "It has said: \"Your password has expired. Current password:\""));
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTRY_VERIFY(message(driver).isEmpty());
        QTRY_VERIFY(driver.find(QStringLiteral("preset-quick")));
    }

    void an_engine_that_stands_still_can_be_left() {
        WindowDriver driver = open_window({QStringLiteral("--hang-at"), QStringLiteral("15")});
        driver.window->machine()->set_patience(1000);
        QVERIFY(start_run(driver));
        QVERIFY(is_said(driver, "The engine has answered nothing for 1 s. Runs go on without it."));
        QVERIFY(driver.click(QStringLiteral("retryMachine")));
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTRY_VERIFY(message(driver).isEmpty());
        driver.key(Qt::Key_N, Qt::ControlModifier);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
    }

    /// One that has nothing to say is no fault, as long as it answers when it is asked.
    void an_engine_that_is_idle_is_not_silent() {
        WindowDriver driver = open_window({});
        driver.window->machine()->set_patience(600);
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTest::qWait(2500);
        QVERIFY2(message(driver).isEmpty(), qPrintable(message(driver)));
    }

    void another_protocol_is_refused_with_both_numbers() {
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {QStringLiteral("--version"), QStringLiteral("2.0")});
        QTRY_VERIFY(message(driver).contains(QStringLiteral("2.0")) && message(driver).contains(QStringLiteral("1.0")));
    }

    void an_engine_that_is_not_there_is_said() {
        WindowDriver driver(QStringLiteral("/no/such/espalier-train"));
        QTRY_VERIFY(message(driver).contains(QStringLiteral("/no/such/espalier-train")));
    }

    void what_is_asked_between_two_tries_is_answered() {
        Machine machine({QStringLiteral("/no/such/espalier-train"), {}});
        QSignalSpy lost(&machine, &Machine::lost);
        const auto wait = [&](const auto& over) {
            return QTest::qWaitFor([&] {
                machine.take(5);
                return over();
            });
        };
        machine.start();
        QVERIFY(wait([&] { return lost.size() == 1; }));
        QString answer;
        int cancelled_answers = 0;
        machine.request("runs", Json::object(), {{}, [&](const QString& text, int) { answer = text; }, {}, {}});
        machine.cancel(
            machine.request("runs", Json::object(), {{}, [&](const QString&, int) { ++cancelled_answers; }, {}, {}}));
        QVERIFY(answer.isEmpty()); // not from inside of request()
        QVERIFY(wait([&] { return !answer.isEmpty(); }));
        QCOMPARE(lost.size(), 1); // nor by the next failure: there may be none
        QCOMPARE(answer, lost.front().front().toString());
        QCOMPARE(cancelled_answers, 0);
    }

    void an_engine_that_dies_is_started_again() {
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {QStringLiteral("--crash-at"), QStringLiteral("15")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QTRY_VERIFY(message(driver).contains(QStringLiteral("code 9")));
        QTRY_VERIFY(driver.window->machine()->is_connected());
        QTRY_VERIFY(message(driver).isEmpty());
    }

    void noise_on_the_line_does_no_harm() {
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {QStringLiteral("--noise")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(20));
    }

    void no_step_of_a_flood_is_lost() {
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {QStringLiteral("--flood")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(100000));
        QCOMPARE(static_cast<std::int64_t>(driver.run()->loss.raw.size()), driver.run()->step());
    }
};

WATCHED_TEST_MAIN(TestMisbehaving)
#include "tst_misbehaving.moc"
