// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"

namespace espalier {

/// Connects to a machine once, asks what it has, and says in one sentence how that went.
class MachineTest : public QObject {
    Q_OBJECT

public:
    MachineTest(const MachineSpec& spec, const CommandLine& here, QObject* parent = nullptr);

signals:
    void ended(bool ok, const QString& sentence); ///< once

private:
    void end(bool ok, const QString& sentence);

    Machine machine_;
    QTimer tick_, patience_;
    bool over_ = false;
};

} // namespace espalier
