// SPDX-License-Identifier: GPL-3.0-or-later
// What is looked at of long runs, in finer buckets.
#include "compared_runs.h"
#include "json_convert.h"
#include "machine.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr std::int64_t most_buckets = 1024; ///< of an answer
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

void ComparedRuns::refine() {
    bool other = false; // what values tell of
    for (const auto& run : runs_) {
        if (!run->overview)
            continue;
        const auto view = view_of(*run);
        if (!view || view->width() >= run->overview->width || !can_refine())
            leave_stretch(*run);
        else if (!is_refined(*run) || run->fine_width > view->width() || run->fine_smoothing != stretch_smoothing())
            ask_stretch(run, *view);
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
                                         asker->asking = 0;
                                         asker->refusal = text;
                                         emit changed();
                                     },
                                     {},
                                     {}});
}

void ComparedRuns::take_stretch(Run& run, const Json& answer) {
    run.asking = 0;
    run.refusal.clear();
    const auto stretch = read_overview(answer);
    if (!stretch || !run.overview)
        return;
    replace_refined(run, std::make_shared<const RunOverview>(refined(*run.overview, *stretch)));
    run.fine = {stretch->first, stretch->steps};
    run.fine_width = stretch->width;
    run.fine_smoothing = run.asked_smoothing;
    run.seen_width = width_of(run);
}

void ComparedRuns::replace_refined(Run& run, std::shared_ptr<const RunOverview> now) {
    tell_soon();
    outgoing_.push_back(std::exchange(run.refined, std::move(now)));
}

void ComparedRuns::leave_stretch(Run& run) {
    if (run.asking > 0)
        machine_->cancel(std::exchange(run.asking, 0));
    run.refusal.clear();
    if (run.refined) {
        replace_refined(run, nullptr);
        run.seen_width = run.overview->width;
    }
}

} // namespace espalier
