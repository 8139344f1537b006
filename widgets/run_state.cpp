// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_state.h"

#include "words.h"

namespace espalier {

QString state_title(RunState state) {
    switch (state) {
    case RunState::queued:
        return tr("Queued");
    case RunState::preparing:
        return tr("Preparing");
    case RunState::running:
        return tr("Running");
    case RunState::paused:
        return tr("Paused");
    case RunState::finished:
        return tr("Finished");
    case RunState::stopped:
        return tr("Stopped");
    case RunState::failed:
        return tr("Failed");
    case RunState::interrupted:
        return tr("Interrupted");
    }
    return {};
}

Role state_role(RunState state) {
    switch (state) {
    case RunState::queued:
    case RunState::stopped:
        return Role::secondary;
    case RunState::preparing:
    case RunState::running:
        return Role::accent;
    case RunState::paused:
        return Role::attention;
    case RunState::finished:
        return Role::good;
    case RunState::failed:
    case RunState::interrupted:
        return Role::fault;
    }
    return Role::secondary;
}

RunState state_named(const QString& name) {
    if (name == u"queued")
        return RunState::queued;
    if (name == u"preparing")
        return RunState::preparing;
    if (name == u"running")
        return RunState::running;
    if (name == u"paused")
        return RunState::paused;
    if (name == u"finished")
        return RunState::finished;
    if (name == u"stopped")
        return RunState::stopped;
    if (name == u"failed")
        return RunState::failed;
    return RunState::interrupted;
}

bool is_active(RunState state) {
    return state == RunState::queued || state == RunState::preparing || state == RunState::running ||
           state == RunState::paused;
}

} // namespace espalier
