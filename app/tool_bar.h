// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "refusal.h"
#include "run_state.h"

#include <QWidget>
#include <optional>

class QLabel;
class QMenu;
class QPushButton;
class QToolButton;

namespace espalier {

class ToggleSwitch;

/// The bar at the top: the machine, what can be done to the run that is looked at, safe mode, and the menu.
class ToolBar : public QWidget {
    Q_OBJECT

public:
    explicit ToolBar(QWidget* parent = nullptr);

    void set_machine(const QString& name, const QString& device);
    void set_machine_menu(QMenu* menu); ///< of the chip
    void set_menu(QMenu* menu);
    void show_menu();
    void set_safe_mode(bool on);
    /// Shows the buttons for a run in that state, those grey that cannot be used now; no run: none of them.
    void set_run(std::optional<RunState> state, const WhyNot& why_not = {});
    /// As clicks on the buttons; nothing where the button is hidden or disabled.
    void press_pause();
    void press_stop();
    void press_checkpoint();

signals:
    void action_requested(const QString& command); ///< pause, resume, stop, checkpoint
    void safe_mode_changed(bool on);

private:
    void paint_icons();
    void paint_pause();

    QPushButton *machine_, *pause_, *stop_, *checkpoint_;
    ToggleSwitch* safe_;
    QLabel* shield_;
    QToolButton* menu_;
    bool paused_ = false; ///< what the pause button offers is to resume
};

} // namespace espalier
