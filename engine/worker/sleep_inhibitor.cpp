// SPDX-License-Identifier: Apache-2.0
#include "worker/sleep_inhibitor.h"

#include <utility>

namespace espalier {

SleepInhibitor::SleepInhibitor(QString program) : program_(std::move(program)) {
    holder_.setStandardOutputFile(QProcess::nullDevice());
    holder_.setStandardErrorFile(QProcess::nullDevice());
    // Wanted again before the one let go of has gone. One that ended by itself is not tried again.
    QObject::connect(&holder_, &QProcess::finished, &holder_, [this] {
        if (letting_go_ && wanted_)
            start();
    });
}

SleepInhibitor::~SleepInhibitor() {
    hold(false);
    if (holder_.state() != QProcess::NotRunning && !holder_.waitForFinished(1000))
        holder_.kill();
}

void SleepInhibitor::hold(bool wanted) {
    if (std::exchange(wanted_, wanted) == wanted)
        return;
    if (wanted) {
        if (holder_.state() == QProcess::NotRunning)
            start();
    } else {
        letting_go_ = true;
        holder_.closeWriteChannel(); // cat ends with its input
    }
}

void SleepInhibitor::start() {
    letting_go_ = false;
    holder_.start(program_,
                  {"--what=sleep", "--mode=block", "--who=Espalier", "--why=A network is being trained", "cat"});
}

} // namespace espalier
