// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_store.h"

#include "engine_words.h"
#include "format.h"
#include "json_convert.h"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

Json path_argument(const QString& path) { return Json{{"path", path.toStdString()}}; }

RunEntry read_entry(const Json& item) {
    RunEntry entry;
    entry.id = text_at(item, "path");
    entry.name = text_at(item, "name", entry.id.section(QLatin1Char('/'), -1));
    entry.state = state_named(text_at(item, "state"));
    entry.preset = text_at(item, "preset");
    entry.notes = text_at(item, "notes");
    entry.place = static_cast<int>(protocol::number_at(item, "queue"));
    entry.resumable = protocol::flag_at(item, "checkpoint", true);
    if (const auto tags = item.find("tags"); tags != item.end() && tags->is_array())
        for (const Json& tag : *tags)
            if (tag.is_string())
                entry.tags.append(to_qstring(tag.get<std::string>()));
    const double epoch = protocol::number_at(item, "epoch"), epochs = protocol::number_at(item, "epochs");
    const double best = protocol::number_at(item, "best_accuracy", -1);
    const QString step = format_count(protocol::number_at(item, "step"));
    switch (entry.state) {
    case RunState::queued:
        entry.detail = state_title(entry.state);
        break;
    case RunState::preparing:
    case RunState::running:
        entry.detail = RunStore::tr("Running · %1/%2").arg(epoch).arg(epochs);
        break;
    case RunState::paused:
        entry.detail = RunStore::tr("Paused · epoch %1").arg(epoch);
        break;
    case RunState::finished:
        entry.detail = best >= 0 ? QStringLiteral("%1 · %2").arg(format_percent(best),
                                                                 format_about(protocol::number_at(item, "seconds")))
                                 : state_title(entry.state);
        break;
    default:
        entry.detail = RunStore::tr("%1 · step %2").arg(state_title(entry.state), step);
    }
    return entry;
}

double share_of_epochs(const Json& item) {
    const double epochs = protocol::number_at(item, "epochs");
    return epochs > 0 ? std::clamp(protocol::number_at(item, "epoch") / epochs, 0.0, 1.0) : 0;
}

} // namespace

RunStore::RunStore(Machine* machine, QObject* parent) : QObject(parent), machine_(machine) {
    if (machine_)
        connect(machine_, &Machine::connected, this, &RunStore::reattach_all);
}

void RunStore::change_machine(const QString& id) {
    attached_.clear(); // the connection was theirs
    overviews_.clear();
    ended_.clear();
    reloading_ = false;
    listed_.invalidate();
    parked_.insert_or_assign(machine_id_, Parked{std::move(runs_), std::move(models_), std::move(loading_), hidden_,
                                                 std::exchange(unwritten_, {})});
    Parked now = std::move(parked_[id]);
    parked_.erase(id);
    machine_id_ = id;
    runs_ = std::move(now.runs);
    models_ = std::move(now.models);
    loading_ = std::move(now.loading);
    hidden_ = std::move(now.hidden);
    unwritten_ = std::move(now.unwritten);
    emit runs_changed();
}

void RunStore::reload() {
    reloading_ = true;
    QSet<QString> ended; // before the list is made, so that it knows of their end
    for (const auto& [path, model] : models_)
        if (!attached_.contains(path))
            ended.insert(path);
    machine_->request("runs", Json::object(),
                      {[this, ended](const Json& answer) {
                           reloading_ = false;
                           const bool first = !listed_.isValid();
                           listed_.start();
                           const std::vector<RunEntry> before = std::exchange(runs_, {});
                           epochs_trained_.clear();
                           if (const auto list = answer.find("runs"); list != answer.end() && list->is_array())
                               for (const Json& item : *list)
                                   if (item.is_object() && !hidden_.contains(text_at(item, "path"))) {
                                       runs_.push_back(read_entry(item));
                                       if (runs_.back().state == RunState::running)
                                           epochs_trained_[runs_.back().id] = share_of_epochs(item);
                                       follow(item, ended);
                                       tell_end(item, before);
                                   }
                           for (RunEntry& run : runs_)
                               if (const auto notes = unwritten_.find(run.id); notes != unwritten_.end()) {
                                   run.tags = notes->second.tags;
                                   run.notes = notes->second.text;
                               }
                           update_entries();
                           if (first || runs_ != before) // that there is none is told too
                               emit runs_changed();
                           emit listed();
                       },
                       [this](const QString& text, int) {
                           reloading_ = false;
                           listed_.start();
                           emit failed(text);
                       },
                       {},
                       {}});
}

/// A run that had ended when it was looked at, and went on since in another window or a terminal.
void RunStore::follow(const Json& item, const QSet<QString>& ended) {
    const QString path = text_at(item, "path");
    if (!ended.contains(path) || attached_.contains(path)) {
        ended_.erase(path);
        return;
    }
    Json now = Json::array();
    for (const char* key : {"state", "step", "seconds"})
        now.push_back(item.value(key, Json()));
    const auto [seen, first] = ended_.try_emplace(path, now);
    const bool goes_on = espalier::is_active(runs_.back().state) && !is_active(path);
    if (goes_on || (!first && seen->second != now)) {
        ended_.erase(path);
        attach(path); // all its events, from the first on
    }
}

/// Of a run that was never opened here, such as one of the queue, or whose past is still coming in.
void RunStore::tell_end(const Json& item, const std::vector<RunEntry>& before) {
    const RunEntry& now = runs_.back();
    const auto was = std::ranges::find(before, now.id, &RunEntry::id);
    const bool heard = models_.contains(now.id) && !is_loading(now.id); // it tells of its end itself
    if (heard || espalier::is_active(now.state) || was == before.end() || !espalier::is_active(was->state))
        return;
    const double best = protocol::number_at(item, "best_accuracy", -1);
    emit ended({now.name, now.state, best >= 0 ? std::optional(best) : std::nullopt,
                engine_words(text_at(item, "reason"))});
}

void RunStore::tell_end(const RunModel& run) {
    emit ended({run.name(), run.state(), run.best_accuracy(), run.reason()});
}

/// Of a run that is not attached to nobody tells how it goes on, nor of those that others begin.
void RunStore::look_again() {
    const auto unseen = [this](const RunEntry& run) {
        return run.state == RunState::queued || (espalier::is_active(run.state) && !attached_.contains(run.id));
    };
    const int interval_ms = std::ranges::any_of(runs_, unseen) ? 2000 : 10000;
    if (machine_ && machine_->is_connected() && !reloading_ && listed_.isValid() && listed_.hasExpired(interval_ms))
        reload();
}

RunModel* RunStore::open(const QString& path) {
    const bool known = models_.contains(path);
    RunModel* model = adopt(path);
    if (!known || (is_active(path) && !attached_.contains(path)))
        attach(path);
    return model;
}

RunModel* RunStore::opened(const QString& path) const {
    const auto found = models_.find(path);
    return found == models_.end() || is_loading(path) ? nullptr : found->second.get();
}

RunModel* RunStore::adopt(const QString& path) {
    auto& model = models_[path];
    if (!model) {
        model = std::make_unique<RunModel>(path);
        for (const RunEntry& entry : runs_)
            if (entry.id == path)
                model->set_name(entry.name, entry.preset);
        connect(model.get(), &RunModel::state_changed, this,
                [this, path, before = model->state()](RunState now) mutable {
                    const RunState was = before;
                    before = now;
                    update_entries();
                    if (is_loading(path))
                        return;
                    emit state_changed(path, was, now);
                    if (!espalier::is_active(now))
                        tell_end(*models_.at(path));
                });
    }
    return model.get();
}

void RunStore::attach(const QString& path) {
    loading_[path] = true;
    overviews_.erase(path);
    models_[path]->reset(); // all events come, from the first on
    const auto over = [this, path](const QString& reason) {
        attached_.erase(path);
        RunModel* model = models_[path].get();
        model->close(reason);
        end_loading(path);
        emit released(path);
    };
    Json arguments = path_argument(path);
    arguments["packed"] = {"loss", "accuracy", "seconds"}; // a machine that does not know it sends lines
    attached_[path] = machine_->request(
        "attach", std::move(arguments),
        {[over](const Json&) { over({}); },
         [this, over, path](const QString& text, int) {
             if (machine_->is_connected())
                 over(text);
             else
                 attached_.erase(path); // it goes on there; so will the curves when the machine is back
         },
         [this, path](const Json& progress) { take_progress(path, progress); },
         [this, path](const RunEvent& event) { models_[path]->apply(event); }});
}

void RunStore::take_progress(const QString& path, const Json& progress) {
    if (protocol::flag_at(progress, "caught_up"))
        return end_loading(path);
    if (progress.contains("making_columns"))
        emit reading(path, protocol::number_at(progress, "making_columns"));
    const auto field = progress.find("overview");
    if (field == progress.end() || !is_loading(path))
        return;
    if (auto overview = read_overview(*field)) {
        // with room for what follows: a series that has to move takes longer than the window may stand still
        models_[path]->reserve(std::max(overview->last_step, overview->steps + overview->steps / 4) + 1'000'000);
        overviews_.insert_or_assign(path, std::move(*overview));
        emit overview_came(path);
    }
}

void RunStore::end_loading(const QString& path) {
    overviews_.erase(path);
    if (!std::exchange(loading_[path], false))
        return;
    const RunEntry* known = entry(path);
    const RunModel& run = *models_.at(path);
    if (known && espalier::is_active(known->state) && !espalier::is_active(run.state()))
        tell_end(run); // it ended while its past was coming in
    emit loaded(path);
}

const RunOverview* RunStore::overview(const QString& path) const {
    const auto found = overviews_.find(path);
    return found == overviews_.end() ? nullptr : &found->second;
}

void RunStore::reattach_all() {
    reload();
    for (auto& [path, model] : models_)
        if ((is_active(path) || is_loading(path)) && !attached_.contains(path))
            attach(path); // the events from the beginning replace what is there
}

bool RunStore::is_loading(const QString& path) const {
    const auto found = loading_.find(path);
    return found != loading_.end() && found->second;
}

RunState RunStore::state_of(const QString& path) const {
    const auto model = models_.find(path);
    if (model != models_.end() && !is_loading(path))
        return model->second->state();
    for (const RunEntry& entry : runs_)
        if (entry.id == path)
            return entry.state;
    return model != models_.end() ? model->second->state() : RunState::interrupted;
}

bool RunStore::is_active(const QString& path) const { return espalier::is_active(state_of(path)); }

QStringList RunStore::active() const {
    QStringList paths;
    for (const RunEntry& entry : runs_)
        if (is_active(entry.id))
            paths.append(entry.id);
    return paths;
}

void RunStore::start(const Json& config, const QString& name, bool queue) {
    Json arguments{{"config", config}};
    if (queue)
        arguments["queue"] = true;
    if (!name.isEmpty())
        arguments["name"] = name.toStdString();
    machine_->request("start", std::move(arguments),
                      {[this, queue, preset = text_at(config, "preset")](const Json& answer) {
                           const QString path = text_at(answer, "path");
                           RunEntry entry;
                           entry.id = path;
                           entry.name = path.section(QLatin1Char('/'), -1);
                           entry.state = queue ? RunState::queued : RunState::preparing;
                           entry.detail = state_title(entry.state);
                           entry.preset = preset;
                           entry.place = static_cast<int>(runs_.size()) + 1; // behind all others until it is known
                           runs_.insert(runs_.begin(), entry);
                           emit runs_changed();
                           if (!queue)
                               return emit started(path);
                           emit queued(path, entry.name);
                           reload();
                       },
                       [this](const QString& text, int) { emit start_refused(text); },
                       {},
                       {}});
}

void RunStore::list_checkpoints(const QString& path, std::function<void(const Json&)> done) {
    machine_->request("checkpoints", path_argument(path),
                      {[done](const Json& answer) { done(answer.value("checkpoints", Json::array())); },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

void RunStore::resume(const QString& path, const Json& set, const QString& checkpoint, bool queue) {
    Json arguments = path_argument(path);
    if (queue)
        arguments["queue"] = true;
    if (!checkpoint.isEmpty())
        arguments["checkpoint"] = checkpoint.toStdString();
    if (!set.empty())
        arguments["set"] = set;
    machine_->request("resume", std::move(arguments),
                      {[this, path, queue](const Json&) {
                           adopt(path);
                           if (!attached_.contains(path))
                               attach(path);
                           if (!queue)
                               return emit started(path);
                           emit queued(path, entry(path) ? entry(path)->name : path.section(QLatin1Char('/'), -1));
                           reload();
                       },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

void RunStore::command(const QString& path, const QString& command, std::function<void()> done) {
    Json arguments = path_argument(path);
    arguments["command"] = command.toStdString();
    machine_->request("command", std::move(arguments),
                      {[done](const Json&) {
                           if (done)
                               done();
                       },
                       [this, done](const QString& text, int) {
                           emit failed(text);
                           if (done)
                               done();
                       },
                       {},
                       {}});
}

void RunStore::report(const QString& path, std::function<void(const QString&, const QByteArray&)> done) {
    machine_->request("report", path_argument(path),
                      {[done](const Json& answer) {
                           done(text_at(answer, "name"),
                                QByteArray::fromBase64(QByteArray::fromStdString(protocol::text_at(answer, "base64"))));
                       },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

void RunStore::command_line(const QString& path, std::function<void(const QString&)> done) {
    machine_->request("command_line", path_argument(path),
                      {[done](const Json& answer) { done(text_at(answer, "text")); },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

void RunStore::read_config(const QString& path, std::function<void(const Json&)> done) {
    machine_->request("fetch", path_argument(path + QStringLiteral("/config.json")),
                      {[done](const Json& answer) {
                           const auto text = QByteArray::fromBase64(text_at(answer, "base64").toLatin1());
                           if (const Json config = Json::parse(text.toStdString(), nullptr, false); config.is_object())
                               done(config);
                       },
                       {},
                       {},
                       {}});
}

void RunStore::fetch(const QString& file, std::function<void(const QByteArray&)> done) {
    machine_->request("fetch", path_argument(file),
                      {[done](const Json& answer) {
                           done(QByteArray::fromBase64(QByteArray::fromStdString(protocol::text_at(answer, "base64"))));
                       },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

std::optional<RunProgress> RunStore::progress() const {
    for (const RunEntry& run : runs_) {
        if (run.state != RunState::running)
            continue;
        if (const RunModel* model = opened(run.id); model && model->last_step() > 0)
            return RunProgress{run.name,
                               static_cast<double>(model->step()) / static_cast<double>(model->last_step())};
        const auto known = epochs_trained_.find(run.id);
        return RunProgress{run.name, known == epochs_trained_.end() ? 0 : known->second};
    }
    return std::nullopt;
}

void RunStore::update_entries() {
    look_again();
    bool moved = false; // into the queue or out of it
    for (RunEntry& entry : runs_) {
        const auto model = models_.find(entry.id);
        if (model == models_.end() || is_loading(entry.id))
            continue;
        const QString detail = model->second->detail();
        if (detail == entry.detail && model->second->state() == entry.state)
            continue;
        const RunState before = std::exchange(entry.state, model->second->state());
        entry.detail = detail;
        if (before == RunState::queued || entry.state == RunState::queued) {
            entry.place = static_cast<int>(runs_.size()) + 1; // until the list says which
            moved = true;
        } else
            emit entry_changed(entry);
    }
    if (moved) {
        emit runs_changed();
        listed_.invalidate(); // places have changed
        reload();
    }
}

} // namespace espalier
