// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace espalier {

class NetworkCanvas;
class RunEmpty;

/// The graph of a run's network, and what the selected operation or block takes.
class NetworkView : public QWidget {
    Q_OBJECT

public:
    explicit NetworkView(QWidget* parent = nullptr);
    void show_run(const RunModel* run);
    /// Takes a newer plan or sample of times in, if there is one.
    void refresh();

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them

private:
    void tell_selection();
    [[nodiscard]] QString summary() const;

    const RunModel* run_ = nullptr;
    int shown_ = -1; ///< RunModel::layers_version()
    QLabel* caption_;
    QPushButton* open_;
    QPushButton* close_;
    QPushButton* fit_;
    NetworkCanvas* canvas_;
    QLabel* details_;
    RunEmpty* empty_;
};

} // namespace espalier
