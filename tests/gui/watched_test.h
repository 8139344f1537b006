// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "watchdog.h"

#include <QTest>
#include <memory>

namespace espalier::test {

/// A Qt Test whose functions run under a Watchdog of the window's thread. Every turn of the event loop above the
/// window's limit (50 ms) is printed. A function fails if the window hung beyond any doubt: ten times that of processor
/// time, or a wait of a second. So no test depends on how fast the machine is; bench_plot measures the limit itself.
class WatchedTest : public QObject {
    Q_OBJECT

public:
    static constexpr double hang_ms = 10 * Watchdog::busy_limit_ms;

    /// What a function has to fail for; empty: nothing.
    [[nodiscard]] static QString verdict(const std::vector<Watchdog::Turn>& turns);

private slots:
    void init();
    void cleanup();

private:
    std::unique_ptr<Watchdog> watchdog_;
};

} // namespace espalier::test

/// As QTEST_MAIN, with an application that a Watchdog can look into.
#define WATCHED_TEST_MAIN(Test)                                                                                        \
    int main(int argc, char** argv) {                                                                                  \
        espalier::Application app(argc, argv);                                                                         \
        QCoreApplication::setAttribute(Qt::AA_Use96Dpi);                                                               \
        Test test;                                                                                                     \
        return QTest::qExec(&test, argc, argv);                                                                        \
    }
