// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_menu.h"

#include "notes_panel.h"
#include "queue_list.h"
#include "refusal.h"

#include <QInputDialog>
#include <QMenu>

namespace espalier {

namespace {

template <typename Slot>
QAction* add(QMenu* menu, const char* name, const QString& text, Slot slot) {
    auto* action = menu->addAction(text);
    action->setObjectName(QLatin1String(name));
    QObject::connect(action, &QAction::triggered, menu, std::move(slot));
    return action;
}

} // namespace

RunMenu::RunMenu(RunRail* rail, RunStore* store, RunActions* actions, QWidget* window)
    : QObject(window), rail_(rail), store_(store), actions_(actions), window_(window) {
    connect(rail, &RunRail::menu_requested, this, &RunMenu::show);
    connect(rail, &RunRail::rename_requested, store, &RunStore::rename);
    connect(rail, &RunRail::delete_requested, store, &RunStore::remove);
    connect(rail, &RunRail::queue_order_wanted, store, &RunStore::order_queue);
    connect(rail, &RunRail::queue_remove_requested, this, [this](const QString& path) {
        store_->command(path, QStringLiteral("stop"), [this] { store_->reload(); });
    });
}

void RunMenu::show(const QString& path, const QPoint& global) {
    const RunEntry* run = store_->entry(path);
    if (!run)
        return;
    auto* menu = new QMenu(window_);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("runMenu"));
    menu->setToolTipsVisible(true);
    if (run->state == RunState::queued)
        add_queued(menu, path);
    else
        add_training(menu, *run);
    menu->addSeparator();
    add_common(menu, *run);
    if (!store_->machine()->is_connected())
        for (QAction* action : menu->actions())
            if (!action->isSeparator() && action->objectName() != u"runReport" && action->objectName() != u"runFolder")
                set_refusal(action, tr("There is no connection to the engine."));
    menu->popup(global);
}

void RunMenu::add_queued(QMenu* menu, const QString& path) {
    const auto command = [this, path](const char* name) {
        store_->command(path, QLatin1String(name), [this] { store_->reload(); });
    };
    add(menu, "runBegin", tr("Begin now"), [command] { command("resume"); });
    add(menu, "runEarlier", tr("Earlier"), [this, path] { rail_->queue()->move(path, -1); });
    add(menu, "runLater", tr("Later"), [this, path] { rail_->queue()->move(path, 1); });
    add(menu, "runUnqueue", tr("Take out of the queue"), [command] { command("stop"); });
}

void RunMenu::add_training(QMenu* menu, const RunEntry& run) {
    const QString path = run.id;
    const auto command = [this, path](const char* name) { store_->command(path, QLatin1String(name)); };
    if (run.state == RunState::paused)
        add(menu, "runResume", tr("Resume"), [command] { command("resume"); });
    else if (run.state == RunState::running)
        add(menu, "runPause", tr("Pause"), [command] { command("pause"); });
    if (is_active(run.state)) {
        add(menu, "runStop", tr("Stop"), [command] { command("stop"); });
        return;
    }
    const QString done =
        run.state == RunState::finished ? tr("It has finished. More epochs are asked for on its page.") : QString();
    const RunModel* opened = store_->opened(path); // knows it to the second
    const bool resumable = opened ? opened->checkpoint().has_value() : run.resumable;
    auto* resume = add(menu, "runResume", resumable ? tr("Resume") : tr("Start again"),
                       [this, path] { store_->resume(path, Json::object()); });
    set_refusal(resume, done);
    auto* queue = add(menu, "runQueue", resumable ? tr("Resume in the queue") : tr("Start again in the queue"),
                      [this, path] { store_->resume(path, Json::object(), {}, true); });
    set_refusal(queue, done.isEmpty() && !store_->can("queue") ? tr("The engine is older and has no queue.") : done);
}

void RunMenu::add_common(QMenu* menu, const RunEntry& run) {
    const QString path = run.id;
    auto* rename = add(menu, "runRename", tr("Rename\tF2"), [this, path] { rail_->rename(path); });
    set_refusal(rename, run.state == RunState::queued ? tr("It gets another name when it has begun.") : QString());
    add(menu, "runTags", tr("Tags…"), [this, path] { edit_tags(path); });
    menu->addSeparator();
    add(menu, "runLike", tr("New run like this…"), [this, path] { actions_->configure_like(path); });
    add(menu, "runCommand", tr("Copy as command"), [this, path] { actions_->copy_command_of(path); });
    add(menu, "runReport", tr("Copy report"), [this, path] { actions_->copy_report(*store_->open(path)); });
    add(menu, "runSaveReport", tr("Save report…"), [this, path] { actions_->save_report(path); });
    auto* folder = add(menu, "runFolder", tr("Open folder"), [this, path] { actions_->open_folder(path); });
    set_refusal(folder, actions_->why_no_folder());
    menu->addSeparator();
    auto* remove = add(menu, "runDelete", tr("Delete\tDel"), [this, path] { store_->remove(path); });
    set_refusal(remove, store_->why_not_deleted(path));
}

void RunMenu::edit_tags(const QString& path) {
    const RunEntry* run = store_->entry(path);
    if (!run)
        return;
    auto* dialog = new QInputDialog(window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("tagsDialog"));
    dialog->setWindowTitle(tr("Tags of %1").arg(run->name));
    dialog->setLabelText(tr("Words with commas between"));
    dialog->setTextValue(run->tags.join(QStringLiteral(", ")));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, path](const QString& text) {
        if (const RunEntry* now = store_->entry(path))
            store_->annotate(path, NotesPanel::tags_in(text), now->notes);
    });
    dialog->open();
}

} // namespace espalier
