// SPDX-License-Identifier: Apache-2.0
#include "worker/memory_kills.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;
using namespace std::chrono_literals;

class TestMemoryKills : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    const std::filesystem::path counters_ = folder_.filePath("vmstat").toStdString();
    const MemoryKills::Clock::time_point start_{};

    void count(int kills) const {
        std::ofstream(counters_) << "nr_free_pages 12345\noom_kill " << kills << "\nunstable 0\n";
    }

private Q_SLOTS:
    void only_a_recent_one_is_blamed() {
        count(7);
        MemoryKills kills(counters_);
        kills.look(start_);
        QVERIFY(!kills.recent(start_)); // all seven were before us
        count(8);
        kills.look(start_ + 60s);
        QVERIFY(kills.recent(start_ + 60s));
        kills.look(start_ + 63s);
        QVERIFY(kills.recent(start_ + 63s)); // the process took its time to go
        kills.look(start_ + 90s);
        QVERIFY(!kills.recent(start_ + 90s)); // that one was of another process
        count(9);
        kills.look(start_ + 91s);
        QVERIFY(kills.recent(start_ + 91s));
    }

    void where_nothing_is_counted_there_is_none() {
        MemoryKills kills(folder_.filePath("missing").toStdString());
        kills.look(start_);
        QVERIFY(!kills.recent(start_));
    }
};

QTEST_GUILESS_MAIN(TestMemoryKills)
#include "tst_memory_kills.moc"
