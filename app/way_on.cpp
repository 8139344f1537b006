// SPDX-License-Identifier: GPL-3.0-or-later
#include "way_on.h"

#include "words.h"

namespace espalier {

WayOn way_on(const RunModel& run) {
    const QString resume = QStringLiteral("resume");
    if (run.state() == RunState::queued)
        return {tr("Begin now"), resume};
    if (run.checkpoint())
        return {tr("Resume"), resume};
    if (run.state() == RunState::failed)
        return {tr("Change settings…"), QStringLiteral("like")};
    return {tr("Start again"), resume};
}

} // namespace espalier
