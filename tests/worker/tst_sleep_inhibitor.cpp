// SPDX-License-Identifier: Apache-2.0
#include "worker/sleep_inhibitor.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace espalier;

namespace {

constexpr int patient = 60000; // for a loaded machine

/// Stands in for systemd-inhibit, and tells what it does.
class Inhibit {
public:
    /// `body`: what the script does after it has told that it is there.
    explicit Inhibit(const QByteArray& body) {
        QFile script(program());
        if (!script.open(QIODevice::WriteOnly))
            qFatal("no script");
        script.write("#!/bin/sh\necho held >> '" + folder_.filePath("told").toLocal8Bit() + "'\n" + body +
                     "\necho released >> '" + folder_.filePath("told").toLocal8Bit() + "'\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    [[nodiscard]] QString program() const { return folder_.filePath("inhibit"); }
    [[nodiscard]] QByteArray told() const {
        QFile file(folder_.filePath("told"));
        return file.open(QIODevice::ReadOnly) ? file.readAll().replace('\n', ' ') : QByteArray();
    }

private:
    QTemporaryDir folder_;
};

} // namespace

class TestSleepInhibitor : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_quick_pause_and_resume_ends_held() {
        const Inhibit inhibit("cat");
        SleepInhibitor awake(inhibit.program());
        awake.hold(true);
        QTRY_COMPARE_WITH_TIMEOUT(inhibit.told(), QByteArray("held "), patient);
        for (int i = 0; i < 3; ++i) { // nothing has had the time to end
            awake.hold(false);
            awake.hold(true);
        }
        QTRY_COMPARE_WITH_TIMEOUT(inhibit.told(), QByteArray("held released held "), patient);
        awake.hold(false);
        QTRY_COMPARE_WITH_TIMEOUT(inhibit.told(), QByteArray("held released held released "), patient);
        awake.hold(true);
        QTRY_COMPARE_WITH_TIMEOUT(inhibit.told(), QByteArray("held released held released held "), patient);
    }

    void one_that_refuses_is_not_tried_again_by_itself() {
        const Inhibit inhibit("");
        SleepInhibitor awake(inhibit.program());
        awake.hold(true);
        QTRY_COMPARE_WITH_TIMEOUT(inhibit.told(), QByteArray("held released "), patient);
        QTest::qWait(300);
        QCOMPARE(inhibit.told(), QByteArray("held released "));
    }
};

QTEST_GUILESS_MAIN(TestSleepInhibitor)
#include "tst_sleep_inhibitor.moc"
