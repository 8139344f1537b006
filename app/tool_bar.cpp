// SPDX-License-Identifier: GPL-3.0-or-later
#include "tool_bar.h"

#include "report.h"
#include "theme.h"
#include "toggle_switch.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

namespace espalier {

namespace {

/// A button with a menu below it, which its arrow tells.
class MenuButton : public QPushButton {
public:
    MenuButton() { setProperty("kind", "menu"); }

protected:
    void paintEvent(QPaintEvent* event) override {
        QPushButton::paintEvent(event);
        QPainter painter(this);
        Theme::instance()
            .icon(QStringLiteral("chevron-down"))
            .paint(&painter, QRect(width() - 26, (height() - 14) / 2, 14, 14));
    }
};

void press(QPushButton* button) {
    if (button->isVisible() && button->isEnabled())
        button->click();
}

} // namespace

ToolBar::ToolBar(QWidget* parent)
    : QWidget(parent), machine_(new MenuButton), pause_(new QPushButton), stop_(new QPushButton(tr("Stop"))),
      checkpoint_(new QPushButton(tr("Checkpoint"))), safe_(new ToggleSwitch(tr("Safe mode"))), shield_(new QLabel),
      menu_(new QToolButton) {
    setObjectName(QStringLiteral("toolBar"));
    setAttribute(Qt::WA_StyledBackground);
    setFixedHeight(48);
    machine_->setObjectName(QStringLiteral("machine"));
    machine_->setAccessibleName(tr("Machine"));
    pause_->setObjectName(QStringLiteral("pause"));
    stop_->setObjectName(QStringLiteral("stop"));
    checkpoint_->setObjectName(QStringLiteral("checkpoint"));
    safe_->setObjectName(QStringLiteral("safeMode"));
    safe_->setToolTip(tr("New and resumed runs take the shortest pipeline: slower, every step checked"));
    menu_->setObjectName(QStringLiteral("menu"));
    menu_->setAccessibleName(tr("Menu"));
    menu_->setPopupMode(QToolButton::InstantPopup);

    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 0, 12, 1);
    row->setSpacing(8);
    row->addWidget(machine_);
    row->addSpacing(16);
    row->addWidget(pause_);
    row->addWidget(stop_);
    row->addWidget(checkpoint_);
    row->addStretch(1);
    row->addWidget(shield_);
    row->addWidget(safe_);
    row->addSpacing(4);
    row->addWidget(menu_);

    connect(pause_, &QPushButton::clicked, this,
            [this] { emit action_requested(paused_ ? QStringLiteral("resume") : QStringLiteral("pause")); });
    connect(stop_, &QPushButton::clicked, this, [this] { emit action_requested(QStringLiteral("stop")); });
    connect(checkpoint_, &QPushButton::clicked, this, [this] { emit action_requested(QStringLiteral("checkpoint")); });
    connect(safe_, &ToggleSwitch::toggled, this, &ToolBar::safe_mode_changed);
    connect(&Theme::instance(), &Theme::changed, this, &ToolBar::paint_icons);
    paint_icons();
    set_run({});
}

void ToolBar::paint_icons() {
    const Theme& theme = Theme::instance();
    machine_->setIcon(theme.button_icon(QStringLiteral("chip")));
    stop_->setIcon(theme.button_icon(QStringLiteral("stop")));
    checkpoint_->setIcon(theme.button_icon(QStringLiteral("checkpoint")));
    menu_->setIcon(theme.icon(QStringLiteral("menu"), Role::secondary));
    shield_->setPixmap(
        theme.icon(QStringLiteral("shield"), Role::secondary).pixmap(QSize(16, 16), devicePixelRatioF()));
    paint_pause();
}

void ToolBar::paint_pause() {
    pause_->setText(paused_ ? tr("Resume") : tr("Pause"));
    pause_->setIcon(Theme::instance().button_icon(paused_ ? QStringLiteral("play") : QStringLiteral("pause")));
}

void ToolBar::set_machine(const QString& name, const QString& device) {
    machine_->setText(device.isEmpty() ? name : QStringLiteral("%1 · %2").arg(shortened(device), name));
    machine_->setToolTip(device);
}

void ToolBar::set_machine_menu(QMenu* menu) {
    connect(machine_, &QPushButton::clicked, menu,
            [this, menu] { menu->popup(machine_->mapToGlobal(QPoint(0, machine_->height()))); });
}

void ToolBar::set_menu(QMenu* menu) { menu_->setMenu(menu); }

void ToolBar::show_menu() { menu_->showMenu(); }

void ToolBar::set_safe_mode(bool on) { safe_->setChecked(on); }

void ToolBar::set_run(std::optional<RunState> state, const WhyNot& why_not) {
    const bool active = state && is_active(*state);
    const bool begun = active && state != RunState::queued;
    pause_->setVisible(begun);
    checkpoint_->setVisible(begun);
    stop_->setVisible(active);
    const auto reason = [&](const char* action) { return why_not ? why_not(QLatin1String(action)) : QString(); };
    set_refusal(pause_, reason("pause"), tr("Pause or resume (Space)"));
    set_refusal(stop_, reason("stop"), tr("Write a checkpoint and end the run"));
    set_refusal(checkpoint_, reason("checkpoint"), tr("Write a checkpoint now"));
    const bool paused = state == RunState::paused;
    if (paused != paused_) {
        paused_ = paused;
        paint_pause();
    }
}

void ToolBar::press_pause() { press(pause_); }
void ToolBar::press_stop() { press(stop_); }
void ToolBar::press_checkpoint() { press(checkpoint_); }

} // namespace espalier
