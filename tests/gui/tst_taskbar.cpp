// SPDX-License-Identifier: GPL-3.0-or-later
// What a desktop's taskbar hears of a run: over a connection of its own, so that no desktop has to be there.
#include "notifications.h"
#include "sample_run.h"

#include <QDBusConnection>
#include <QDBusServer>
#include <QGuiApplication>
#include <QTest>
#include <QVariantMap>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString peer = QStringLiteral("taskbar");

/// What a taskbar has been told, in its order.
class Taskbar : public QObject {
    Q_OBJECT

public:
    QStringList programs;
    QList<QVariantMap> told;

public slots:
    void update(const QString& program, const QVariantMap& properties) {
        programs.append(program);
        told.append(properties);
    }
};

} // namespace

class TestTaskbar : public QObject {
    Q_OBJECT

    QDBusServer server_;
    Taskbar taskbar_;
    bool connected_ = false;

    [[nodiscard]] bool shows(double progress) const {
        return !taskbar_.told.isEmpty() && taskbar_.told.last()[QStringLiteral("progress-visible")].toBool() &&
               taskbar_.told.last()[QStringLiteral("progress")].toDouble() == progress;
    }

private slots:
    void initTestCase() {
        QVERIFY(server_.isConnected());
        QGuiApplication::setDesktopFileName(QStringLiteral("io.github.espalier.Studio"));
        connect(&server_, &QDBusServer::newConnection, this, [this](QDBusConnection client) {
            connected_ = client.connect({}, {}, QStringLiteral("com.canonical.Unity.LauncherEntry"),
                                        QStringLiteral("Update"), &taskbar_, SLOT(update(QString, QVariantMap)));
        });
        QVERIFY(QDBusConnection::connectToPeer(server_.address(), peer).isConnected());
        QTRY_VERIFY(connected_);
    }

    void init() {
        taskbar_.programs.clear();
        taskbar_.told.clear();
    }

    void whole_per_cents_are_told_once() {
        TaskbarProgress progress(peer);
        progress.set(0.5);
        QTRY_VERIFY(shows(0.5));
        QCOMPARE(taskbar_.programs, QStringList{QStringLiteral("application://io.github.espalier.Studio.desktop")});
        progress.set(0.5001); // nothing that would be seen
        progress.set(0.509);
        progress.set(0.51);
        QTRY_VERIFY(shows(0.51));
        QCOMPARE(taskbar_.told.size(), 2);
        progress.set(7); // of a run that goes further than it was planned
        QTRY_VERIFY(shows(1));
    }

    void the_end_takes_it_off() {
        {
            TaskbarProgress progress(peer);
            progress.set(0.25);
            QTRY_VERIFY(shows(0.25));
            progress.set(std::nullopt);
            QTRY_VERIFY(!taskbar_.told.last()[QStringLiteral("progress-visible")].toBool());
            progress.set(0.25);
            QTRY_VERIFY(shows(0.25));
        }
        QTRY_VERIFY(!taskbar_.told.last()[QStringLiteral("progress-visible")].toBool());
    }

    void a_bus_that_is_not_there_is_no_fault() {
        TaskbarProgress progress(QStringLiteral("no such connection"));
        progress.set(0.5);
        QTest::qWait(50);
        QVERIFY(taskbar_.told.isEmpty());
    }

    void only_a_run_that_trains_or_pauses_has_progress() {
        QVERIFY(!Notifications::progress(nullptr));
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        QVERIFY(!Notifications::progress(&model));
        for (const Json& event : run.past(run.last_step() / 2))
            model.apply(read_event(event));
        QCOMPARE(Notifications::progress(&model), std::optional(0.5));
        model.apply(read_event(run.phase("paused")));
        QCOMPARE(Notifications::progress(&model), std::optional(0.5));
        model.apply(read_event(run.phase("finished")));
        QVERIFY(!Notifications::progress(&model));
    }
};

QTEST_GUILESS_MAIN(TestTaskbar)
#include "tst_taskbar.moc"
