// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "desktop_notice.h"
#include "run_end.h"
#include "run_model.h"
#include "run_progress.h"
#include "taskbar_progress.h"

#include <QSystemTrayIcon>

class QWidget;

namespace espalier {

/// Tells a person who is not looking: the window's title and its icon in the taskbar show the progress, and the end of
/// a run is announced by the desktop while another window is in front.
class Notifications : public QObject {
    Q_OBJECT

public:
    explicit Notifications(QWidget* window);

    /// The run that is looked at, if any, and how far the one is that trains: it is shown unless the first is under way.
    void set_run(const RunModel* run, const std::optional<RunProgress>& training);
    void run_ended(const RunEnd& run);

    /// "42 % · quick-1 · Espalier"
    [[nodiscard]] static QString title(const RunModel* run, const std::optional<RunProgress>& training = {});
    /// 0 to 1; nothing unless one of them trains, or the first is paused.
    [[nodiscard]] static std::optional<double> progress(const RunModel* run,
                                                        const std::optional<RunProgress>& training = {});
    /// What the desktop shows of an end; empty if it was asked for (a stop) and so is no news.
    [[nodiscard]] static QString news(const RunEnd& run);

private:
    void show_in_tray(const QString& text, bool fault);
    void show_window();

    QWidget* window_;
    DesktopNotice notice_;
    TaskbarProgress taskbar_;
    QSystemTrayIcon* tray_ = nullptr; ///< made for the first message: it is there to be clicked on, no more
};

} // namespace espalier
