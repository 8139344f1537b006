// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace espalier {

class LayerTable;
class RunEmpty;

/// What each layer of a run takes: the newest sample of its times, beside what was planned.
class LayersView : public QWidget {
    Q_OBJECT

public:
    explicit LayersView(QWidget* parent = nullptr);
    void show_run(const RunModel* run);
    /// Takes a newer sample in, if there is one.
    void refresh();

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them

private:
    const RunModel* run_ = nullptr;
    int shown_ = -1; ///< RunModel::layers_version()
    QLabel* caption_;
    QPushButton* copy_;
    LayerTable* table_;
    RunEmpty* empty_;
};

} // namespace espalier
