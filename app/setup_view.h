// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"
#include "worker/protocol.h"

#include <QWidget>

class QBoxLayout;
class QLabel;

namespace espalier {

class NotesPanel;
class RunEmpty;
class ToggleList;

/// What is trained and with what: a run's data and settings, its plan in words, and its toggles, with what the engine
/// has changed.
class SetupView : public QWidget {
    Q_OBJECT

public:
    explicit SetupView(QWidget* parent = nullptr);
    void show_run(const RunModel& run);
    /// Of the run that is shown; null: not known.
    void show_config(const Json& config);
    [[nodiscard]] NotesPanel* notes() const { return notes_; } ///< above the facts; hidden at first

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them
    void config_wanted(const QString& path);       ///< of the run: for show_config()

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QBoxLayout* columns_; ///< the toggles beside all else, where there is room: they are seen without scrolling
    NotesPanel* notes_;
    QLabel* settings_;
    QLabel* facts_;
    ToggleList* toggles_;
    RunEmpty* empty_;
    QString path_; ///< of the run
};

} // namespace espalier
