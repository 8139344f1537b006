// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_actions.h"

#include "format.h"
#include "json_convert.h"
#include "network_export.h"
#include "report.h"
#include "toggle_words.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QGuiApplication>
#include <QInputDialog>
#include <QSaveFile>
#include <QUrl>
#include <algorithm>

namespace espalier {

namespace {
constexpr int most_epochs = 100000; // as the form of a new run

Json safe_settings() { return {{"toggles", Json{{"safe_mode", true}}}}; }

} // namespace

RunActions::RunActions(RunStore* store, QWidget* window)
    : QObject(window), store_(store), export_(new NetworkExport(store->machine(), window)), window_(window) {
    connect(export_, &NetworkExport::told, this, &RunActions::told);
    connect(export_, &NetworkExport::failed, this, &RunActions::failed);
    connect(store, &RunStore::released, this, [this](const QString& path) {
        if (const auto waiting = waiting_.find(path); waiting != waiting_.end())
            store_->resume(path, waiting_.extract(waiting).mapped());
    });
}

QString RunActions::why_no_folder() const {
    const Machine* machine = store_->machine();
    return machine->is_here() ? QString() : tr("It is on %1, where this PC cannot open it.").arg(machine->name());
}

QString RunActions::why_not(const QString& action, const RunModel& run) const {
    if (action != u"report" && action != u"folder" && !store_->machine()->is_connected())
        return tr("There is no connection to the engine.");
    const RunState state = store_->state_of(run.path());
    const bool pause = action == u"pause", checkpoint = action == u"checkpoint";
    if ((pause || checkpoint || action == u"stop") && !is_active(state))
        return tr("The run has ended.");
    if ((pause || checkpoint) && state == RunState::queued)
        return tr("It waits in the queue.");
    if ((pause || checkpoint) && state == RunState::preparing)
        return tr("It has not taken a step yet.");
    if (checkpoint && state == RunState::paused)
        return tr("A checkpoint was written when it was paused.");
    if (action == u"folder")
        return why_no_folder();
    if (action == u"export" && !run.checkpoint())
        return tr("There is nothing to export yet: the run has written no checkpoint.");
    if (action == u"resume_from" && store_->is_active(run.path()))
        return tr("Stop the run first: then it can go on from any of its checkpoints.");
    if (action == u"resume_from" && !run.checkpoint())
        return tr("There is nothing to resume from: the run has written no checkpoint.");
    return {};
}

void RunActions::perform(const QString& action, const RunModel& run) {
    if (const QString reason = why_not(action, run); !reason.isEmpty()) {
        emit told(reason);
    } else if (action == u"report") {
        copy_report(run);
    } else if (action == u"save_report") {
        save_report(run.path());
    } else if (action == u"command_line") {
        copy_command_of(run.path());
    } else if (action == u"folder") {
        open_folder(run.path());
    } else if (action == u"export") {
        export_->choose(run);
    } else if (action == u"like") {
        configure_like(run.path());
    } else if (action == u"more_epochs") {
        more_epochs(run);
    } else if (action == u"resume_from") {
        choose_checkpoint(run.path());
    } else if (action.startsWith(u"take_back:")) {
        take_back(run, action.section(QLatin1Char(':'), 1));
    } else if (action == u"resume_safe") {
        resume(run.path(), true);
    } else if (action == u"resume_undone") {
        store_->resume(run.path(), run.undo());
    } else if (action == u"resume" && !store_->is_active(run.path())) {
        resume(run.path(), safe_mode_);
    } else {
        store_->command(run.path(), action);
    }
}

void RunActions::copy_report(const RunModel& run) {
    const QString path = run.path();
    if (!store_->is_loading(path)) {
        QGuiApplication::clipboard()->setText(report(run, device_));
        emit told(tr("The report is on the clipboard."));
        return;
    }
    auto* wait = new QObject(this); // for its past: without it the report is empty
    connect(store_, &RunStore::loaded, wait, [this, wait, path](const QString& loaded) {
        if (loaded != path)
            return;
        wait->deleteLater();
        if (const RunModel* read = store_->opened(path))
            copy_report(*read);
    });
}

void RunActions::copy_command_of(const QString& path) {
    if (store_->can("command_line")) {
        store_->command_line(path, [this](const QString& text) { copy_text(text); });
        return;
    } // an older engine does not know what differs from the preset
    fetch_config(path, [this](const Json& config) { copy_command(config); });
}

void RunActions::configure_like(const QString& path) {
    fetch_config(path, [this, path](const Json& config) {
        const RunEntry* entry = store_->entry(path);
        emit new_run_wanted(entry ? entry->name : path.section(QLatin1Char('/'), -1), config);
    });
}

void RunActions::fetch_config(const QString& path, std::function<void(const Json&)> done) {
    store_->fetch(path + QStringLiteral("/config.json"), [this, done = std::move(done)](const QByteArray& file) {
        const Json config = Json::parse(file.toStdString(), nullptr, false);
        if (config.is_object())
            done(config);
        else
            emit told(tr("The run's configuration cannot be read."));
    });
}

void RunActions::open_folder(const QString& path) {
    if (const QString reason = why_no_folder(); !reason.isEmpty())
        emit told(tr("The folder is %1. %2").arg(path, reason));
    else
        QDesktopServices::openUrl(QUrl::fromLocalFile(path));
}

void RunActions::resume(const QString& path, bool safe_mode) {
    store_->resume(path, safe_mode ? safe_settings() : Json::object());
}

void RunActions::take_back(const RunModel& run, const QString& rung) {
    const auto& changes = run.changes();
    const auto change = std::ranges::find(changes, rung, &RunModel::Fallback::rung); // the first knows the beginning
    if (change == changes.end() || change->undo.empty())
        return;
    if (!store_->is_active(run.path())) {
        store_->resume(run.path(), change->undo);
        return;
    }
    waiting_[run.path()] = change->undo;
    store_->command(run.path(), QStringLiteral("stop"));
    emit told(tr("%1 is taken back: the run writes a checkpoint and goes on from there.").arg(toggle_title(rung)));
}

void RunActions::choose_checkpoint(const QString& path) {
    store_->list_checkpoints(path, [this, path](const Json& checkpoints) {
        QStringList words;
        std::vector<QString> names;
        for (const Json& one : checkpoints) {
            const QString name = text_at(one, "name");
            const QString place = tr("step %1, epoch %2")
                                      .arg(format_count(protocol::number_at(one, "step")))
                                      .arg(protocol::number_at(one, "epoch"));
            if (name == u"last") // the newest step's second name
                continue;
            words.append(name == u"best" ? tr("the best: %1").arg(place) : place);
            names.push_back(name);
        }
        if (names.empty()) {
            emit told(tr("The run has no checkpoint to go on from."));
            return;
        }
        auto* dialog = new QInputDialog(window_);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setObjectName(QStringLiteral("resumeFrom"));
        dialog->setWindowTitle(tr("Resume from a checkpoint"));
        dialog->setLabelText(tr("What came after it is taken back; its checkpoints are put aside."));
        dialog->setComboBoxItems(words);
        connect(dialog, &QInputDialog::textValueSelected, this, [this, path, words, names](const QString& chosen) {
            store_->resume(path, safe_mode_ ? safe_settings() : Json::object(),
                           names[static_cast<std::size_t>(words.indexOf(chosen))]);
        });
        dialog->open();
    });
}

void RunActions::save_report(const QString& path) {
    store_->report(path, [this](const QString& name, const QByteArray& zip) {
        auto* dialog = new QFileDialog(window_, tr("Save report"), QDir::home().filePath(name), tr("Zip (*.zip)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setObjectName(QStringLiteral("saveReport"));
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setDefaultSuffix(QStringLiteral("zip"));
        connect(dialog, &QFileDialog::fileSelected, this, [this, zip](const QString& chosen) {
            QSaveFile file(chosen);
            if (file.open(QIODevice::WriteOnly) && file.write(zip) == zip.size() && file.commit())
                emit told(tr("The report is in %1. Look at it before you send it: it has the paths of your files.")
                              .arg(chosen));
            else
                emit told(tr("%1 cannot be written: %2").arg(chosen, file.errorString()));
        });
        dialog->open();
    });
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

void RunActions::copy_command(const Json& config) { copy_text(command_line(config)); }

void RunActions::copy_text(const QString& command) {
    QGuiApplication::clipboard()->setText(command);
    emit told(tr("The command line is on the clipboard."));
}

} // namespace espalier
