// SPDX-License-Identifier: GPL-3.0-or-later
#include "watchdog.h"

#include <QAbstractEventDispatcher>
#include <QMetaEnum>
#include <QThread>
#ifdef Q_OS_WIN
#include <qt_windows.h>
#else
#include <sys/resource.h>
#include <time.h>
#endif

namespace espalier {

namespace {

/// Who computes is away from the processor so many times as long, if many others want it, too: that is no wait.
constexpr double crowd = 4;

Application* application() { return qobject_cast<Application*>(QCoreApplication::instance()); }

#ifdef Q_OS_WIN
double thread_busy_ms() {
    FILETIME made, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
        return 0;
    const auto ticks = [](FILETIME t) {
        return static_cast<double>((quint64(t.dwHighDateTime) << 32) | t.dwLowDateTime);
    };
    return (ticks(kernel) + ticks(user)) / 1e4; // of 100 ns
}
long thread_waits() {
    static thread_local long calls = 0;
    return ++calls; // not known: each handler may have waited
}
#else
double thread_busy_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}
long thread_waits() {
#ifdef RUSAGE_THREAD
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
#else
    static thread_local long calls = 0;
    return ++calls;
#endif
}
#endif

} // namespace

Watchdog::Watchdog(QObject* parent) : QObject(parent) {
    wall_.start();
    Q_ASSERT(application() && !application()->watchdog_);
    application()->watchdog_ = this;
    // Which of the two signals comes before a turn's events, and which after, differs between dispatchers; both are
    // ends of a turn, and waiting between them takes no processor time.
    auto* dispatcher = QAbstractEventDispatcher::instance();
    connect(dispatcher, &QAbstractEventDispatcher::awake, this, &Watchdog::turn_over);
    connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this, &Watchdog::turn_over);
}

Watchdog::~Watchdog() {
    if (application())
        application()->watchdog_ = nullptr;
}

Watchdog::Clocks Watchdog::now() const {
    return {thread_busy_ms(), static_cast<double>(wall_.nsecsElapsed()) / 1e6, thread_waits()};
}

void Watchdog::begin(QObject* receiver, QEvent* event) {
    if (handlers_.size() == loops_.back())
        mark_ = now();
    handlers_.push_back({receiver->metaObject()->className(), receiver->objectName(), event->type()});
}

void Watchdog::end() {
    if (handlers_.empty()) // it began before this watchdog did
        return;
    if (handlers_.size() - 1 <= loops_.back()) // nobody's handler but the loop's
        account();
    handlers_.pop_back();
    if (handlers_.size() < loops_.back()) // the handler that ran a loop is over
        loops_.pop_back();
}

/// Adds what passed since the mark to this turn, and to the outermost handler of the innermost loop.
void Watchdog::account() {
    const Clocks then = std::exchange(mark_, now());
    const double busy = mark_.busy_ms - then.busy_ms;
    const double away = mark_.wall_ms - then.wall_ms - busy;
    const double waited = mark_.waits > then.waits && away > crowd * busy ? away : 0;
    turn_.busy_ms += busy;
    turn_.waited_ms = std::max(turn_.waited_ms, waited);
    if (busy + waited <= longest_ms_)
        return;
    longest_ms_ = busy + waited;
    const Handler& handler = handlers_[std::min(loops_.back(), handlers_.size() - 1)];
    const char* event = QMetaEnum::fromType<QEvent::Type>().valueToKey(handler.event);
    turn_.longest =
        QStringLiteral("%1 of %2 %3")
            .arg(event ? QLatin1String(event) : QLatin1String("event"), QLatin1String(handler.receiver), handler.name)
            .trimmed();
}

void Watchdog::turn_over() {
    if (handlers_.size() > loops_.back()) { // a handler runs a loop of its own: a dialog, a drag
        account();
        loops_.push_back(handlers_.size());
    }
    if (!handlers_.empty())
        mark_ = now(); // the loop's own waiting is nobody's
    busiest_ms_ = std::max(busiest_ms_, turn_.busy_ms);
    longest_ms_ = 0;
    if (const Turn turn = std::exchange(turn_, {}); turn.busy_ms > busy_limit_ms || turn.waited_ms > wait_limit_ms) {
        long_turns_.push_back(turn);
        emit stood_still(turn);
    }
}

QString Watchdog::text(const Turn& turn) {
    return turn.waited_ms > wait_limit_ms
               ? tr("the window waited for %1 ms (%2)").arg(turn.waited_ms, 0, 'f', 0).arg(turn.longest)
               : tr("the window stood still for %1 ms (%2)").arg(turn.busy_ms, 0, 'f', 0).arg(turn.longest);
}

bool Application::notify(QObject* receiver, QEvent* event) {
    if (!watchdog_ || QThread::currentThread() != thread())
        return QApplication::notify(receiver, event);
    struct Watched {
        Application& application;
        Watched(Application& a, QObject* r, QEvent* e) : application(a) { a.watchdog_->begin(r, e); }
        ~Watched() {
            if (application.watchdog_)
                application.watchdog_->end();
        }
    } watched(*this, receiver, event);
    return QApplication::notify(receiver, event);
}

} // namespace espalier
