// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_store.h"

#include <QMessageBox>
#include <QPointer>

class QWidget;

namespace espalier {

/// Asks what becomes of runs that still train when their window is about to close.
class CloseGuard : public QObject {
    Q_OBJECT

public:
    CloseGuard(RunStore* store, QWidget* window);

    /// Whether the window may close now. If not, a question is open; its answer closes the window, now or when the runs
    /// have been saved. Asked again while they are saved, it says yes: nobody has to wait.
    [[nodiscard]] bool may_close();

signals:
    void told(const QString& text); ///< why the window is still there

private:
    void ask(int runs, int waiting);
    void stop_all();
    void close_when_ended();

    RunStore* store_;
    QWidget* window_;
    QPointer<QMessageBox> box_; ///< the question, while it is open
    bool decided_ = false;
    bool stopping_ = false;
};

} // namespace espalier
