// SPDX-License-Identifier: GPL-3.0-or-later
#include "close_guard.h"

#include <QPushButton>
#include <algorithm>

namespace espalier {

CloseGuard::CloseGuard(RunStore* store, QWidget* window) : QObject(window), store_(store), window_(window) {
    connect(store, &RunStore::state_changed, this, &CloseGuard::close_when_ended);
    connect(store, &RunStore::loaded, this, &CloseGuard::close_when_ended); // it may have ended in its past
}

bool CloseGuard::may_close() {
    int waiting = 0;
    for (const QString& path : store_->active())
        waiting += store_->state_of(path) == RunState::queued;
    const int training = static_cast<int>(store_->active().size()) - waiting;
    if (decided_ || training == 0)
        return true;
    ask(training, waiting);
    return false;
}

void CloseGuard::ask(int runs, int waiting) {
    if (box_ && box_->isVisible())
        return;
    auto* box = new QMessageBox(window_);
    box_ = box;
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setObjectName(QStringLiteral("closeDialog"));
    box->setWindowTitle(tr("A run is still training"));
    box->setText(runs == 1 ? tr("A run is still training.") : tr("%1 runs are still training.").arg(runs));
    box->setInformativeText(
        waiting > 0
            ? tr("It can go on without the window, and what waits in the queue (%1) begins after it. Save and stop "
                 "empties the queue, too.")
                  .arg(waiting)
            : tr("It can go on without the window and will be here again at the next start."));
    auto* keep = box->addButton(tr("Keep training"), QMessageBox::AcceptRole);
    auto* stop = box->addButton(tr("Save and stop"), QMessageBox::DestructiveRole);
    auto* cancel = box->addButton(tr("Cancel"), QMessageBox::RejectRole);
    keep->setProperty("kind", "primary");
    keep->setObjectName(QStringLiteral("keepTraining"));
    stop->setObjectName(QStringLiteral("saveAndStop"));
    cancel->setObjectName(QStringLiteral("cancelClose"));
    box->setDefaultButton(keep);
    connect(box, &QMessageBox::finished, this, [this, box, keep, stop] {
        decided_ = box->clickedButton() == keep || box->clickedButton() == stop;
        if (box->clickedButton() == stop)
            stop_all();
        else if (decided_)
            window_->close();
    });
    box->open();
}

void CloseGuard::stop_all() {
    stopping_ = true;
    QStringList paths = store_->active();
    std::ranges::stable_partition(paths, [this](const QString& path) { // or they would begin now
        return store_->state_of(path) == RunState::queued;
    });
    for (const QString& path : paths) {
        store_->open(path); // whoever is not attached to is not told of its end
        store_->command(path, QStringLiteral("stop"));
    }
    emit told(tr("Saving and stopping. The window closes by itself."));
    close_when_ended();
}

void CloseGuard::close_when_ended() {
    if (stopping_ && store_->active().isEmpty())
        window_->close();
}

} // namespace espalier
