// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProcess>

namespace espalier {

/// Keeps the machine from going to sleep by itself while a run trains: a child of systemd-inhibit holds the lock, and
/// lets go of it when its input ends, also if this process dies. Where there is no systemd, or it refuses, the machine
/// sleeps as it likes; a run survives that too.
class SleepInhibitor {
public:
    /// `program`: systemd-inhibit, or what stands in for it.
    explicit SleepInhibitor(QString program = QStringLiteral("systemd-inhibit"));
    ~SleepInhibitor();
    SleepInhibitor(const SleepInhibitor&) = delete;
    SleepInhibitor& operator=(const SleepInhibitor&) = delete;

    /// May be called with what holds already.
    void hold(bool wanted);

private:
    void start();

    QString program_;
    bool wanted_ = false;
    bool letting_go_ = false; ///< the one that was started last has been told to end
    QProcess holder_;
};

} // namespace espalier
