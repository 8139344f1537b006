// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_summary.h"
#include "machine.h"
#include "settings.h"

#include <QMenu>

namespace espalier {

class DeviceChoice;

/// The menu of the tool bar's machine chip: the devices of the machine that is looked at, of which one is chosen for
/// new runs; the machines, and what is done to their list. The list is the settings'.
class MachineMenu : public QMenu {
    Q_OBJECT

public:
    MachineMenu(Machine* machine, DeviceChoice* devices, Settings* settings, QWidget* window);

signals:
    void chosen(const MachineSpec& spec);
    void told(const QString& text);

private:
    void fill();
    void add_devices();
    void add_heading(const QString& text);
    /// A device that cannot be chosen, and why not.
    void add_unusable(const DeviceSummary::Unusable& device);
    void add_choice(const MachineSpec& spec);
    /// `id`: of the machine that is edited; empty: it is a new one.
    void ask(const MachineSpec& spec, const QString& id);
    void keep(const MachineSpec& spec, const QString& id);
    void remove(const MachineSpec& spec);

    Machine* machine_;
    DeviceChoice* devices_;
    Settings* settings_;
    QWidget* window_;
};

} // namespace espalier
