// SPDX-License-Identifier: GPL-3.0-or-later
#include "notifications.h"

#include "format.h"

#include <QApplication>
#include <QWidget>
#include <algorithm>

namespace espalier {

namespace {

bool is_under_way(const RunModel* run) {
    return run && is_active(run->state()) && run->state() != RunState::queued;
}

} // namespace

Notifications::Notifications(QWidget* window) : QObject(window), window_(window), notice_({}), taskbar_({}) {
    connect(&notice_, &DesktopNotice::clicked, this, &Notifications::show_window);
}

QString Notifications::title(const RunModel* run, const std::optional<RunProgress>& training) {
    const auto far = [](int percent, const QString& name) {
        return tr("%1 % · %2 · Espalier").arg(percent).arg(name);
    };
    if (training && !is_under_way(run))
        return far(static_cast<int>(100 * std::clamp(training->share, 0.0, 1.0)), training->name);
    if (!run)
        return tr("Espalier");
    if (run->state() == RunState::running && run->last_step() > 0)
        return far(static_cast<int>(100 * run->step() / run->last_step()), run->name());
    return tr("%1 · Espalier").arg(run->name());
}

void Notifications::set_run(const RunModel* run, const std::optional<RunProgress>& training) {
    if (const QString text = title(run, training); text != window_->windowTitle())
        window_->setWindowTitle(text);
    taskbar_.set(progress(run, training));
}

std::optional<double> Notifications::progress(const RunModel* run, const std::optional<RunProgress>& training) {
    if (training && !is_under_way(run))
        return training->share;
    if (!run || run->last_step() <= 0 || (run->state() != RunState::running && run->state() != RunState::paused))
        return std::nullopt;
    return static_cast<double>(run->step()) / static_cast<double>(run->last_step());
}

QString Notifications::news(const RunEnd& run) {
    switch (run.state) {
    case RunState::finished:
        return run.best_accuracy ? tr("%1 has finished: %2 of the validation images are told right.")
                                         .arg(run.name, format_percent(*run.best_accuracy))
                                   : tr("%1 has finished.").arg(run.name);
    case RunState::failed:
    case RunState::interrupted:
        return run.reason.isEmpty() ? tr("%1 has ended before its time.").arg(run.name)
                                      : tr("%1 has failed: %2").arg(run.name, run.reason);
    default:
        return {};
    }
}

void Notifications::run_ended(const RunEnd& run) {
    if (window_->isActiveWindow())
        return;
    QApplication::alert(window_);
    const QString text = news(run);
    const bool fault = run.state != RunState::finished;
    if (!text.isEmpty())
        notice_.show(tr("Espalier"), text, fault, [this, text, fault] { show_in_tray(text, fault); });
}

/// Of desktops that have a tray and no service for news, such as that of Windows.
void Notifications::show_in_tray(const QString& text, bool fault) {
    if (!QSystemTrayIcon::isSystemTrayAvailable())
        return;
    if (!tray_) {
        tray_ = new QSystemTrayIcon(window_->windowIcon(), this);
        tray_->setToolTip(tr("Espalier"));
        connect(tray_, &QSystemTrayIcon::messageClicked, this, &Notifications::show_window);
        connect(tray_, &QSystemTrayIcon::activated, this, &Notifications::show_window);
    }
    tray_->show();
    tray_->showMessage(tr("Espalier"), text, fault ? QSystemTrayIcon::Warning : QSystemTrayIcon::Information);
}

void Notifications::show_window() {
    window_->setWindowState(window_->windowState() & ~Qt::WindowMinimized);
    window_->raise();
    window_->activateWindow();
    if (tray_)
        tray_->hide();
}

} // namespace espalier
