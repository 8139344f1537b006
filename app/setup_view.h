// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

#include <QWidget>

class QLabel;

namespace espalier {

class LayerTable;

/// What is trained and with what: the plan of a run in words, and its layers.
class SetupView : public QWidget {
    Q_OBJECT

public:
    explicit SetupView(QWidget* parent = nullptr);
    void show_run(const RunModel& run);

private:
    QLabel* facts_;
    LayerTable* layers_;
};

} // namespace espalier
