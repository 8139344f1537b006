// SPDX-License-Identifier: GPL-3.0-or-later
// What is looked at of long runs, in finer buckets.
#include "compared_runs.h"
#include "json_convert.h"
#include "machine.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr std::int64_t most_buckets = 1024;         ///< of an answer
constexpr std::ptrdiff_t most_smoothed_at_once = 2; ///< each takes 10 bytes a step of the machine's memory meanwhile
} // namespace

std::int64_t ComparedRuns::StepRange::width() const { return (last - first + most_buckets) / most_buckets; }

bool ComparedRuns::can_refine() const { return machine_->can("overview"); }

void ComparedRuns::look_at(AxisKind kind, std::optional<std::pair<double, double>> range) {
    if (kind == kind_ && range == looked_at_)
        return;
    kind_ = kind;
    looked_at_ = range;
    rest_.start();
}

/// The steps of a run that are looked at; nothing: all of it, or none of them.
std::optional<ComparedRuns::StepRange> ComparedRuns::view_of(const Run& run) const {
    if (!looked_at_ || !run.overview)
        return std::nullopt;
    const auto step_at = [&](double position) {
        return std::clamp(run.overview->clock.to_step(kind_, position), 0.0, static_cast<double>(run.overview->steps));
    };
    const StepRange view{std::max<std::int64_t>(1, std::llround(std::floor(step_at(looked_at_->first)))),
                         std::llround(std::ceil(step_at(looked_at_->second)))};
    if (view.first > view.last || view == StepRange{1, run.overview->steps})
        return std::nullopt;
    return view;
}

bool ComparedRuns::is_refined(const Run& run) const {
    const auto view = view_of(run);
    return view && run.refined && run.fine.holds(*view);
}

std::int64_t ComparedRuns::width_of(const Run& run) const {
    return is_refined(run) ? run.fine_width : run.overview->width;
}

/// An older engine gives its steps as they are.
double ComparedRuns::stretch_smoothing() const { return machine_->can("overview.smoothing") ? smoothing_ : 0; }

const std::shared_ptr<const RunOverview>& ComparedRuns::whole(const Run& run) {
    return run.smoothed ? run.smoothed : run.overview;
}

void ComparedRuns::refine() {
    bool other = false; // what values tell of
    for (const auto& run : runs_) {
        if (!run->overview)
            continue;
        const double smoothing = stretch_smoothing();
        if (smoothing <= 0 && std::exchange(run->smoothed_weight, 0) > 0)
            replace(run->smoothed, nullptr);
        const auto view = view_of(*run);
        if (view && view->width() < run->overview->width && can_refine()) {
            if (!is_refined(*run) || run->fine_width > view->width() || run->fine_smoothing != smoothing)
                ask_stretch(run, *view);
        } else {
            leave_stretch(*run);
            const auto others = std::ranges::count_if(
                runs_, [&](const auto& one) { return one != run && one->overview && is_asking_all(*one); });
            if (run->smoothed_weight != smoothing && !run->live && others < most_smoothed_at_once)
                ask_stretch(run, all_of(*run));
        }
        other = other || std::exchange(run->seen_width, width_of(*run)) != run->seen_width;
    }
    if (other)
        emit changed();
}

void ComparedRuns::ask_stretch(const std::shared_ptr<Run>& run, const StepRange& range) {
    if (run->asking > 0) {
        if (run->asked == range && run->asked_smoothing == stretch_smoothing())
            return;
        machine_->cancel(run->asking); // what it answers is outdated
    }
    const std::weak_ptr<Run> kept = run;
    run->asked = range;
    run->asked_smoothing = stretch_smoothing();
    Json arguments{{"path", run->path.toStdString()}, {"first", range.first}, {"last", range.last}};
    arguments["packed"] = {"loss", "accuracy", "seconds"};
    if (run->asked_smoothing > 0)
        arguments["smoothing"] = run->asked_smoothing;
    run->asking = machine_->request("overview", std::move(arguments),
                                    {[this, kept](const Json& answer) {
                                         if (const auto asker = kept.lock())
                                             take_stretch(*asker, answer);
                                     },
                                     [this, kept](const QString& text, int) {
                                         const auto asker = kept.lock();
                                         if (!asker)
                                             return;
                                         if (is_asking_all(*asker)) {
                                             asker->smoothed_weight = asker->asked_smoothing;
                                             rest_.start(); // for the next run
                                         }
                                         asker->asking = 0;
                                         asker->refusal = text;
                                         emit changed();
                                     },
                                     {},
                                     {}});
}

void ComparedRuns::take_stretch(Run& run, const Json& answer) {
    const bool all = run.overview && is_asking_all(run);
    run.asking = 0;
    run.refusal.clear();
    const auto stretch = read_overview(answer);
    if (!run.overview)
        return;
    if (all) {
        run.smoothed_weight = run.asked_smoothing;
        replace(run.smoothed,
                stretch ? std::make_shared<const RunOverview>(refined(*run.overview, *stretch)) : nullptr);
        QMetaObject::invokeMethod(this, &ComparedRuns::refine, Qt::QueuedConnection); // the next run
        return;
    }
    if (!stretch)
        return;
    replace(run.refined, std::make_shared<const RunOverview>(refined(*whole(run), *stretch)));
    run.fine = {stretch->first, stretch->steps};
    run.fine_width = stretch->width;
    run.fine_smoothing = run.asked_smoothing;
    run.seen_width = width_of(run);
}

void ComparedRuns::replace(std::shared_ptr<const RunOverview>& drawn, std::shared_ptr<const RunOverview> now) {
    tell_soon();
    outgoing_.push_back(std::exchange(drawn, std::move(now)));
}

void ComparedRuns::leave_stretch(Run& run) {
    if (run.asking > 0 && (!is_asking_all(run) || run.asked_smoothing != stretch_smoothing()))
        machine_->cancel(std::exchange(run.asking, 0));
    if (run.asked != all_of(run))
        run.refusal.clear();
    if (run.refined) {
        replace(run.refined, nullptr);
        run.seen_width = run.overview->width;
    }
}

} // namespace espalier
