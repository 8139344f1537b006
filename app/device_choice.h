// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_summary.h"
#include "machine.h"
#include "settings.h"

namespace espalier {

/// What new runs of the machine take: the device that somebody chose there, else the best that can train. The choice is
/// the settings', for each machine one.
class DeviceChoice : public QObject {
    Q_OBJECT

public:
    DeviceChoice(Machine* machine, Settings* settings, QObject* parent = nullptr);

    void ask();    ///< the machine what it has: `changed` when it has answered
    void forget(); ///< what another machine has
    /// A value of the choices; the best one leaves it to the machine.
    void choose(const QString& value);
    /// What the machine has; `takes` is the device of new runs. Without choices: not known yet.
    [[nodiscard]] const DeviceSummary& devices() const { return devices_; }
    /// A configuration's `backend` for a new run. Before the machine has said what it has, what was chosen there.
    [[nodiscard]] QString backend() const;

signals:
    void changed();
    void told(const QString& text); ///< what was chosen cannot train now
    void failed(const QString& text);

private:
    void take(const Json& probe);

    Machine* machine_;
    Settings* settings_;
    DeviceSummary best_, devices_;
};

} // namespace espalier
