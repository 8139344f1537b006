// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <vector>

namespace espalier {

/// Finds what holds up the window. It measures every turn of the event loop of the thread that it is made in: the
/// events that are handled between two looks at what has come in. What it counts is the processor time of that thread,
/// so a machine that is busy with something else is no false alarm. A handler that waits (a file, a process, a lock)
/// takes no processor time; it is found by the wall clock, with a wide margin.
///
/// Needs an Application: it sees every event. One watchdog at a time.
class Watchdog : public QObject {
    Q_OBJECT

public:
    /// A turn that took too long.
    struct Turn {
        double busy_ms = 0;   ///< of the processor
        double waited_ms = 0; ///< longest wait in one handler, unless others may have taken the processor meanwhile
        QString longest;      ///< the event that took most of it: "Timer of QTimer tick"
    };
    static constexpr double busy_limit_ms = 50;
    static constexpr double wait_limit_ms = 1000;

    explicit Watchdog(QObject* parent = nullptr);
    ~Watchdog() override;

    [[nodiscard]] const std::vector<Turn>& long_turns() const { return long_turns_; }
    [[nodiscard]] double busiest_ms() const { return busiest_ms_; } ///< of all turns, long or not
    /// "the window stood still for 63 ms (Timer of QTimer tick)"
    [[nodiscard]] static QString text(const Turn& turn);

signals:
    void stood_still(const Turn& turn);

private:
    friend class Application;
    struct Clocks {
        double busy_ms = 0, wall_ms = 0;
        long waits = 0; ///< how often the thread gave up the processor by itself
    };
    [[nodiscard]] Clocks now() const;
    void begin(QObject* receiver, QEvent* event);
    void end();
    void account();
    void turn_over();

    struct Handler {
        const char* receiver; ///< name of its class
        QString name;
        int event;
    };
    std::vector<Handler> handlers_;     ///< that run now, the innermost last
    std::vector<std::size_t> loops_{0}; ///< how many handlers ran when each nested event loop began
    Clocks mark_;                       ///< up to here all is accounted for
    Turn turn_;
    double longest_ms_ = 0;
    std::vector<Turn> long_turns_;
    double busiest_ms_ = 0;
    QElapsedTimer wall_;
};

/// A QApplication that a Watchdog can look into.
class Application : public QApplication {
    Q_OBJECT

public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override;

private:
    friend class Watchdog;
    Watchdog* watchdog_ = nullptr;
};

} // namespace espalier
