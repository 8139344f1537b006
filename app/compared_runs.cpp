// SPDX-License-Identifier: GPL-3.0-or-later
#include "compared_runs.h"

#include "json_convert.h"
#include "machine.h"
#include "run_store.h"

#include <QByteArray>

namespace espalier {

ComparedRuns::ComparedRuns(Machine* machine, RunStore* store, QObject* parent)
    : QObject(parent), machine_(machine), store_(store) {
    rest_.setSingleShot(true);
    rest_.setInterval(150);
    connect(&rest_, &QTimer::timeout, this, &ComparedRuns::refine);
}

ComparedRuns::~ComparedRuns() = default; // the machine may be gone already: nothing is cancelled here

void ComparedRuns::compare(const QStringList& paths) {
    clear();
    for (const QString& path : paths) {
        auto run = std::make_shared<Run>();
        run->path = path;
        runs_.push_back(run);
        if (RunModel* open = store_->opened(path)) {
            run->open = open;
            open->set_smoothing(smoothing_);
        } else {
            attach(run);
        }
        fetch_config(run);
    }
    emit changed();
    emit configs_changed();
}

void ComparedRuns::clear() {
    emit about_to_change();
    for (const auto& run : runs_)
        for (const auto id : {run->request, run->asking})
            if (id > 0)
                machine_->cancel(id);
    rest_.stop();
    runs_.clear();
}

QStringList ComparedRuns::paths() const {
    QStringList paths;
    for (const auto& run : runs_)
        paths.append(run->path);
    return paths;
}

void ComparedRuns::attach(const std::shared_ptr<Run>& whole) {
    whole->own = std::make_unique<RunModel>(whole->path);
    whole->own->set_smoothing(smoothing_);
    whole->live = store_->is_active(whole->path);
    Json arguments{{"path", whole->path.toStdString()}};
    arguments["packed"] = {"loss", "accuracy", "seconds"};
    const auto with = [kept = std::weak_ptr(whole)](auto&& then) { // it may have gone meanwhile
        if (const auto run = kept.lock())
            then(*run);
    };
    const auto end = [this](Run& run) {
        run.request = 0;
        take_progress(run, Json{{"caught_up", true}});
    };
    whole->request = machine_->request(
        "attach", std::move(arguments),
        {[with, end](const Json&) {
             with([&](Run& run) {
                 run.own->close();
                 end(run);
             });
         },
         [with, end](const QString& text, int) {
             with([&](Run& run) {
                 run.problem = text;
                 end(run);
             });
         },
         [this, with](const Json& progress) { with([&](Run& run) { take_progress(run, progress); }); },
         [with](const RunEvent& event) {
             with([&](Run& run) {
                 if (!run.overview || run.live)
                     run.own->apply(event);
             });
         }});
}

void ComparedRuns::take_progress(Run& run, const Json& progress) {
    if (protocol::flag_at(progress, "caught_up")) {
        if (std::exchange(run.complete, true))
            return;
        if (run.live && run.overview) { // every step is there now
            emit about_to_change();
            leave_stretch(run);
            run.overview.reset();
        }
        emit changed();
        return;
    }
    const auto field = progress.find("overview");
    if (field == progress.end())
        return;
    auto overview = read_overview(*field);
    if (!overview)
        return;
    if (run.live)
        run.own->reserve(std::max(overview->last_step, overview->steps)); // a series that moves takes long
    outgoing_.push_back(std::exchange(run.overview, std::make_shared<const RunOverview>(std::move(*overview))));
    run.seen_width = run.overview->width;
    rest_.start();
    tell_soon();
    if (run.live)
        return;
    // every single step would tell no more at this size; not from inside of the request's own handler
    QMetaObject::invokeMethod(
        this, [this, id = std::exchange(run.request, 0)] { machine_->cancel(id); }, Qt::QueuedConnection);
}

void ComparedRuns::tell_soon() {
    if (std::exchange(telling_, true))
        return;
    QMetaObject::invokeMethod(
        this,
        [this] {
            telling_ = false;
            emit changed();
            outgoing_.clear();
        },
        Qt::QueuedConnection);
}

void ComparedRuns::fetch_config(const std::shared_ptr<Run>& whole) {
    const std::weak_ptr<Run> kept = whole;
    machine_->request("fetch", Json{{"path", whole->path.toStdString() + "/config.json"}},
                      {[this, kept](const Json& answer) {
                           const auto run = kept.lock();
                           if (!run)
                               return;
                           const auto bytes = QByteArray::fromBase64(text_at(answer, "base64").toLatin1());
                           Json config = Json::parse(bytes.toStdString(), nullptr, false);
                           if (config.is_object())
                               run->config = std::move(config);
                           else
                               run->problem = tr("Its config.json is damaged.");
                           emit configs_changed();
                       },
                       [this, kept](const QString& text, int) {
                           if (const auto run = kept.lock())
                               run->problem = text;
                           emit configs_changed();
                       },
                       {},
                       {}});
}

RunModel* ComparedRuns::model(const Run& run) const {
    if (run.open)
        return run.open;
    return run.complete ? run.own.get() : nullptr;
}

bool ComparedRuns::is_coarse(std::size_t index) const { return runs_[index]->overview != nullptr; }

std::optional<ComparedRuns::Curves> ComparedRuns::curves(std::size_t index) const {
    const Run& run = *runs_[index];
    if (run.overview) {
        const auto& o = run.refined ? run.refined : whole(run);
        return Curves{&o->loss_mean,
                      &o->accuracy_mean,
                      &o->loss_not_finite,
                      &o->accuracy_not_finite,
                      &o->validation_loss,
                      &o->validation_accuracy,
                      &o->memory.back(),
                      &o->gflops,
                      &run.overview->clock,
                      width_of(run),
                      is_refined(run) ? run.fine_smoothing
                      : run.smoothed  ? run.smoothed_weight
                                      : 0,
                      o};
    }
    if (const RunModel* m = model(run))
        return Curves{&m->loss.smooth,     &m->accuracy.smooth,
                      &m->loss.raw,        &m->accuracy.raw,
                      &m->validation_loss, &m->validation_accuracy,
                      &m->memory.back(),   &m->gflops,
                      &m->clock,           1,
                      smoothing_,          nullptr};
    return std::nullopt;
}

ComparedRuns::Facts ComparedRuns::facts(std::size_t index) const {
    const Run& run = *runs_[index];
    Facts facts;
    facts.name = run.path.section(QLatin1Char('/'), -1);
    for (const RunEntry& entry : store_->runs())
        if (entry.id == run.path)
            facts.name = entry.name;
    facts.state = store_->state_of(run.path);
    if (run.overview) {
        facts.steps = run.overview->steps;
        facts.seconds = run.overview->clock.seconds();
        facts.best_accuracy = run.overview->best_accuracy;
        facts.best_epoch = run.overview->best_epoch;
    } else if (const RunModel* m = model(run)) {
        facts.state = m->state();
        facts.steps = m->step();
        facts.seconds = m->seconds_trained();
        facts.best_accuracy = m->best_accuracy();
        facts.best_epoch = m->best_epoch();
    }
    return facts;
}

void ComparedRuns::set_smoothing(double weight) {
    smoothing_ = weight;
    for (const auto& run : runs_)
        for (RunModel* one : {run->open.data(), run->own.get()})
            if (one)
                one->set_smoothing(weight);
    rest_.start(); // stretches are smoothed where they come from
}

void ComparedRuns::smooth_for(int budget_ms) {
    for (const auto& run : runs_)
        if (RunModel* one = model(*run))
            one->smooth_for(budget_ms / static_cast<int>(runs_.size()) + 1);
}

} // namespace espalier
