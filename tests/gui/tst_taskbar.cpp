// SPDX-License-Identifier: GPL-3.0-or-later
// What a desktop hears of a run, its taskbar and who shows its news: over a connection of its own, so that no desktop
// has to be there.
#include "desktop_notice.h"
#include "notifications.h"
#include "sample_run.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusServer>
#include <QGuiApplication>
#include <QTest>
#include <QVariantMap>
#include <optional>

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

/// Shows news, each under a number of its own.
class Desktop : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

public:
    QStringList texts;
    QList<int> urgencies;

public slots:
    uint Notify(const QString&, uint, const QString&, const QString&, const QString& text, const QStringList&,
                const QVariantMap& hints, int) {
        texts.append(text);
        urgencies.append(hints[QStringLiteral("urgency")].toInt());
        return static_cast<uint>(100 + texts.size());
    }
};

} // namespace

class TestTaskbar : public QObject {
    Q_OBJECT

    QDBusServer server_;
    Taskbar taskbar_;
    Desktop desktop_;
    std::optional<QDBusConnection> client_;
    bool connected_ = false;

    void click(uint notice, const char* action) {
        auto told = QDBusMessage::createSignal(QStringLiteral("/org/freedesktop/Notifications"),
                                               QStringLiteral("org.freedesktop.Notifications"),
                                               QStringLiteral("ActionInvoked"));
        told << notice << QLatin1String(action);
        client_->send(told);
    }

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
            client_ = client;
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

    void news_are_shown_and_clicked() {
        QVERIFY(client_->registerObject(QStringLiteral("/org/freedesktop/Notifications"), &desktop_,
                                        QDBusConnection::ExportAllSlots));
        DesktopNotice notice(peer);
        int clicks = 0, refusals = 0;
        connect(&notice, &DesktopNotice::clicked, this, [&] { ++clicks; });
        notice.show(QStringLiteral("Espalier"), QStringLiteral("cats & dogs has finished."), false,
                    [&] { ++refusals; });
        QTRY_COMPARE(desktop_.texts, QStringList{QStringLiteral("cats &amp; dogs has finished.")});
        notice.show(QStringLiteral("Espalier"), QStringLiteral("a has failed."), true, [&] { ++refusals; });
        QTRY_COMPARE(desktop_.urgencies, (QList<int>{1, 2}));
        click(7, "default");    // another program's
        click(101, "settings"); // not on the news itself
        click(102, "default");
        QTRY_VERIFY(clicks > 0);
        notice.show(QStringLiteral("Espalier"), QStringLiteral("b has failed."), true, [&] { ++refusals; });
        QTRY_COMPARE(desktop_.texts.size(), 3); // by now all clicks have come
        QCOMPARE(clicks, 1);
        QCOMPARE(refusals, 0);
        client_->unregisterObject(QStringLiteral("/org/freedesktop/Notifications"));
    }

    void news_that_nobody_shows_go_another_way() {
        for (const QString& connection : {peer, QStringLiteral("no such connection")}) { // without the service; no bus
            DesktopNotice notice(connection);
            int refusals = 0;
            notice.show(QStringLiteral("Espalier"), QStringLiteral("a has finished."), false, [&] { ++refusals; });
            QTRY_COMPARE(refusals, 1);
        }
    }

    void only_a_run_that_trains_or_pauses_has_progress() {
        const RunProgress other{QStringLiteral("grow-2"), 0.25};
        QVERIFY(!Notifications::progress(nullptr));
        QCOMPARE(Notifications::progress(nullptr, other), std::optional(0.25)); // whatever is looked at
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        QVERIFY(!Notifications::progress(&model));
        for (const Json& event : run.past(run.last_step() / 2))
            model.apply(read_event(event));
        QCOMPARE(Notifications::progress(&model), std::optional(0.5));
        QCOMPARE(Notifications::progress(&model, other), std::optional(0.5));
        model.apply(read_event(run.phase("paused")));
        QCOMPARE(Notifications::progress(&model), std::optional(0.5));
        QCOMPARE(Notifications::progress(&model, other), std::optional(0.5));
        model.apply(read_event(run.phase("finished")));
        QVERIFY(!Notifications::progress(&model));
        QCOMPARE(Notifications::progress(&model, other), std::optional(0.25));
    }
};

QTEST_GUILESS_MAIN(TestTaskbar)
#include "tst_taskbar.moc"
