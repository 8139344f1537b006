// SPDX-License-Identifier: GPL-3.0-or-later
// What a person changes of runs beside their training: names, tags, notes, their place in the queue, and their end.
#include "json_convert.h"
#include "run_store.h"

#include <algorithm>

namespace espalier {

namespace {

Json texts(const QStringList& list) {
    Json json = Json::array();
    for (const QString& text : list)
        json.push_back(text.toStdString());
    return json;
}

} // namespace

const RunEntry* RunStore::entry(const QString& path) const {
    const auto found = std::ranges::find(runs_, path, &RunEntry::id);
    return found == runs_.end() ? nullptr : &*found;
}

void RunStore::change_entry(const QString& path, const std::function<void(RunEntry&)>& change) {
    const auto found = std::ranges::find(runs_, path, &RunEntry::id);
    if (found == runs_.end())
        return;
    change(*found);
    if (found->state != RunState::queued)
        return emit entry_changed(*found);
    emit runs_changed();
}

void RunStore::write(const char* request, Json arguments, std::function<void()> done) {
    ++writing_;
    const auto over = [this] {
        if (--writing_ == 0)
            emit written();
    };
    machine_->request(request, std::move(arguments),
                      {[over, done](const Json&) {
                           done();
                           over();
                       },
                       [this, over](const QString& text, int) {
                           emit failed(text);
                           over();
                       },
                       {},
                       {}});
}

void RunStore::rename(const QString& path, const QString& name) {
    const RunEntry* known = entry(path);
    if (!known || known->name == name)
        return;
    write("rename", Json{{"path", path.toStdString()}, {"name", name.toStdString()}}, [this, path, name] {
        if (const auto model = models_.find(path); model != models_.end())
            model->second->set_name(name, model->second->kind());
        change_entry(path, [&](RunEntry& run) { run.name = name; });
    });
}

void RunStore::annotate(const QString& path, const QStringList& tags, const QString& notes) {
    const int number = ++notes_written_;
    unwritten_.insert_or_assign(path, Notes{tags, notes, number});
    write("notes", Json{{"path", path.toStdString()}, {"tags", texts(tags)}, {"notes", notes.toStdString()}},
          [this, path, number] {
              if (const auto mine = unwritten_.find(path); mine != unwritten_.end() && mine->second.number == number)
                  unwritten_.erase(mine);
          });
    change_entry(path, [&](RunEntry& run) {
        run.tags = tags;
        run.notes = notes;
    });
}

void RunStore::order_queue(const QStringList& paths) {
    machine_->request("queue", Json{{"order", texts(paths)}},
                      {[this](const Json&) { reload(); },
                       [this](const QString& text, int) {
                           emit failed(text);
                           reload(); // as it is there
                       },
                       {},
                       {}});
}

QString RunStore::why_not_deleted(const QString& path) const {
    const RunEntry* found = entry(path);
    if (!found)
        return {};
    if (is_active(path))
        return tr("%1 has not ended. Stop it first: then it can be deleted.").arg(found->name);
    if (!can("restore"))
        return tr("The engine of %1 is older: it could not bring %2 back. Nothing is deleted; its folder is "
                  "%3.")
            .arg(machine_->name(), found->name, path);
    return {};
}

void RunStore::remove(const QString& path) {
    const RunEntry* found = entry(path);
    if (!found)
        return;
    if (const QString reason = why_not_deleted(path); !reason.isEmpty())
        return emit failed(reason);
    const QString name = found->name;
    hidden_.insert(path);
    std::erase_if(runs_, [&](const RunEntry& run) { return run.id == path; });
    emit runs_changed();
    emit removed(path);
    machine_->request("delete", Json{{"path", path.toStdString()}, {"keep", true}},
                      {[this, name](const Json& answer) { emit trashed(name, text_at(answer, "trash")); },
                       [this, path](const QString& text, int) {
                           hidden_.remove(path);
                           emit failed(text);
                           reload();
                       },
                       {},
                       {}});
}

void RunStore::restore(const QString& trash) {
    machine_->request("restore", Json{{"trash", trash.toStdString()}},
                      {[this](const Json& answer) {
                           hidden_.remove(text_at(answer, "path"));
                           reload();
                       },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

} // namespace espalier
