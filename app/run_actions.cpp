// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_actions.h"

#include "report.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QInputDialog>
#include <QUrl>

namespace espalier {

namespace {
constexpr int most_epochs = 100000; // as the form of a new run
}

RunActions::RunActions(RunStore* store, QWidget* window) : QObject(window), store_(store), window_(window) {}

void RunActions::perform(const QString& action, const RunModel& run) {
    if (action == u"report") {
        QGuiApplication::clipboard()->setText(report(run, device_));
        emit told(tr("The report is on the clipboard."));
    } else if (action == u"folder") {
        QDesktopServices::openUrl(QUrl::fromLocalFile(run.path()));
    } else if (action == u"more_epochs") {
        more_epochs(run);
    } else if (action == u"resume_safe") {
        resume(run.path(), true);
    } else if (action == u"resume" && !store_->is_active(run.path())) {
        resume(run.path(), safe_mode_);
    } else {
        store_->command(run.path(), action);
    }
}

void RunActions::resume(const QString& path, bool safe_mode) {
    store_->resume(path, safe_mode ? Json{{"toggles", Json{{"safe_mode", true}}}} : Json::object());
}

void RunActions::more_epochs(const RunModel& run) {
    if (!run.plan())
        return;
    const auto done = static_cast<int>(run.plan()->epochs);
    auto* dialog = new QInputDialog(window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("moreEpochs"));
    dialog->setWindowTitle(tr("More epochs"));
    dialog->setLabelText(tr("Train on until epoch"));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(done + 1, most_epochs);
    dialog->setIntValue(done * 2);
    connect(dialog, &QInputDialog::intValueSelected, this, [this, path = run.path()](int epochs) {
        store_->resume(path, Json{{"epochs", epochs}});
    });
    dialog->open();
}

void RunActions::copy_command(const Json& config) {
    QGuiApplication::clipboard()->setText(command_line(config));
    emit told(tr("The command line is on the clipboard."));
}

} // namespace espalier
