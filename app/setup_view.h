// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

#include <QWidget>

class QLabel;

namespace espalier {

class NotesPanel;
class RunEmpty;
class ToggleList;

/// What is trained and with what: the plan of a run in words, and its toggles, with what the engine has changed.
class SetupView : public QWidget {
    Q_OBJECT

public:
    explicit SetupView(QWidget* parent = nullptr);
    void show_run(const RunModel& run);
    [[nodiscard]] NotesPanel* notes() const { return notes_; } ///< above the facts; hidden at first

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them

private:
    NotesPanel* notes_;
    QLabel* facts_;
    ToggleList* toggles_;
    RunEmpty* empty_;
};

} // namespace espalier
