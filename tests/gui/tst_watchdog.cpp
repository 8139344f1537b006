// SPDX-License-Identifier: GPL-3.0-or-later
// A window that is held up on purpose is caught, by what it computes and by what it waits for, and nothing else is.
// Processor time is what is asserted on, so these tests are the same on a busy machine.
#include "watched_test.h"

#include <QDialog>
#include <QPushButton>
#include <QThread>
#include <QTimer>
#include <ctime>
#include <thread>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Computes for so long, in processor time of this thread.
void burn(double ms) {
    const auto spent = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    for (const double start = spent(); spent() - start < ms;) {
    }
}

/// A button in a window of its own that does something when it is clicked.
struct Clicked {
    QPushButton button;
    explicit Clicked(const std::function<void()>& does) {
        button.setObjectName(QStringLiteral("culprit"));
        button.show();
        (void)QTest::qWaitForWindowExposed(&button);
        QCoreApplication::processEvents();
        QObject::connect(&button, &QPushButton::clicked, &button, does);
    }
    void click() {
        QTest::mouseClick(&button, Qt::LeftButton);
        QCoreApplication::processEvents();
    }
};

} // namespace

class TestWatchdog : public QObject {
    Q_OBJECT

private slots:
    void a_slow_click_is_caught_and_named() {
        Clicked window([] { burn(80); });
        const Watchdog watchdog;
        window.click();
        QCOMPARE(watchdog.long_turns().size(), std::size_t{1});
        const Watchdog::Turn& turn = watchdog.long_turns().front();
        QVERIFY(turn.busy_ms >= 80);
        QCOMPARE(turn.longest, QStringLiteral("MouseButtonRelease of QPushButton culprit"));
        QVERIFY(Watchdog::text(turn).contains(QStringLiteral("stood still")));
        QVERIFY(WatchedTest::verdict(watchdog.long_turns()).isEmpty()); // slow, but no hang: told, not failed
    }

    void a_hang_fails_a_test() {
        Clicked window([] { burn(WatchedTest::hang_ms + 20); });
        const Watchdog watchdog;
        window.click();
        QVERIFY(WatchedTest::verdict(watchdog.long_turns()).contains(QStringLiteral("culprit")));
    }

    void a_wait_is_caught() {
        Clicked window([] { QThread::msleep(static_cast<unsigned long>(Watchdog::wait_limit_ms) + 100); });
        const Watchdog watchdog;
        window.click();
        const QString verdict = WatchedTest::verdict(watchdog.long_turns());
        QVERIFY(verdict.contains(QStringLiteral("waited")) && verdict.contains(QStringLiteral("culprit")));
    }

    void many_short_events_of_one_turn_are_one_standstill() {
        const Watchdog watchdog;
        QCoreApplication::processEvents();
        for (int i = 0; i < 6; ++i)
            QMetaObject::invokeMethod(
                qApp, [] { burn(15); }, Qt::QueuedConnection);
        QCoreApplication::processEvents();
        QCoreApplication::processEvents();
        QCOMPARE(watchdog.long_turns().size(), std::size_t{1});
        QVERIFY(watchdog.long_turns().front().busy_ms >= 90);
    }

    void turns_that_leave_room_for_others_are_no_standstill() {
        const Watchdog watchdog;
        QTimer timer;
        int times = 0;
        connect(&timer, &QTimer::timeout, &timer, [&] {
            burn(15);
            ++times;
        });
        timer.start(1);
        QTRY_VERIFY(times >= 8);
        QVERIFY(watchdog.long_turns().empty());
        QVERIFY(watchdog.busiest_ms() >= 15);
    }

    void an_open_dialog_is_no_standstill() {
        Clicked window([&] {
            QDialog dialog(&window.button);
            QTimer::singleShot(static_cast<int>(Watchdog::wait_limit_ms) + 100, &dialog, &QDialog::accept);
            dialog.exec(); // an event loop inside of a handler
        });
        const Watchdog watchdog;
        window.click();
        QVERIFY(watchdog.long_turns().empty());
    }

    void a_slow_handler_inside_of_a_dialog_is_caught() {
        Clicked window([&] {
            QDialog dialog(&window.button);
            QTimer timer;
            timer.setObjectName(QStringLiteral("inner"));
            timer.setSingleShot(true);
            connect(&timer, &QTimer::timeout, &dialog, [&] {
                burn(80);
                dialog.accept();
            });
            timer.start(20);
            dialog.exec();
        });
        const Watchdog watchdog;
        window.click();
        QCOMPARE(watchdog.long_turns().size(), std::size_t{1});
        QCOMPARE(watchdog.long_turns().front().longest, QStringLiteral("Timer of QTimer inner"));
    }

    void other_threads_may_compute() {
        const Watchdog watchdog;
        std::thread busy([] { burn(300); });
        QTest::qWait(100);
        busy.join();
        QCoreApplication::processEvents();
        QVERIFY(watchdog.long_turns().empty());
    }
};

WATCHED_TEST_MAIN(TestWatchdog)
#include "tst_watchdog.moc"
