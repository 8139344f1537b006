// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"
#include "run_model.h"

class QWidget;

namespace espalier {

/// Takes a run's best network away as a file that other programs read: a dialog for its name and format, and the
/// request `export`.
class NetworkExport : public QObject {
    Q_OBJECT

public:
    NetworkExport(Machine* machine, QWidget* window);
    void choose(const RunModel& run);

signals:
    void told(const QString& text);
    void failed(const QString& text);

private:
    void write(const Json& arguments, const QString& file);
    void bring(const QString& from, const QString& file, const QString& sentence);
    void write(const QString& checkpoint, const QString& format, const QString& file);

    Machine* machine_;
    QWidget* window_;
};

} // namespace espalier
