// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"
#include "settings.h"

#include <QMenu>

namespace espalier {

/// The menu of the tool bar's machine chip: the machines, and what is done to their list. The list is the settings'.
class MachineMenu : public QMenu {
    Q_OBJECT

public:
    MachineMenu(Machine* machine, Settings* settings, QWidget* window);

signals:
    void chosen(const MachineSpec& spec);
    void told(const QString& text);

private:
    void fill();
    void add_choice(const MachineSpec& spec);
    /// `id`: of the machine that is edited; empty: it is a new one.
    void ask(const MachineSpec& spec, const QString& id);
    void keep(const MachineSpec& spec, const QString& id);
    void remove(const MachineSpec& spec);

    Machine* machine_;
    Settings* settings_;
    QWidget* window_;
};

} // namespace espalier
