// SPDX-License-Identifier: GPL-3.0-or-later
#include "watched_test.h"

namespace espalier::test {

QString WatchedTest::verdict(const std::vector<Watchdog::Turn>& turns) {
    QStringList hangs;
    for (const Watchdog::Turn& turn : turns)
        if (turn.busy_ms > hang_ms || turn.waited_ms > Watchdog::wait_limit_ms)
            hangs.append(Watchdog::text(turn));
    return hangs.join(QLatin1Char('\n'));
}

void WatchedTest::init() {
    watchdog_ = std::make_unique<Watchdog>();
    connect(watchdog_.get(), &Watchdog::stood_still, this,
            [](const Watchdog::Turn& turn) { qInfo("%s", qPrintable(Watchdog::text(turn))); });
}

void WatchedTest::cleanup() {
    QCoreApplication::processEvents(); // what a last click did is a turn of its own
    const QString hangs = verdict(watchdog_->long_turns());
    watchdog_.reset();
    QVERIFY2(hangs.isEmpty(), qPrintable(hangs));
}

} // namespace espalier::test
