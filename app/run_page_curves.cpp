// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of the run page: of the run itself, or of its overview until all of its past is there.
#include "plot_exports.h"
#include "plot_group.h"
#include "run_page.h"
#include "way_on.h"

namespace espalier {

namespace {

std::int64_t bucket_width(const RunModel&) { return 1; }
std::int64_t bucket_width(const RunOverview& overview) { return overview.width; }
/// Whose values that are not finite are marked at a smooth curve: the raw one behind it has them in itself.
using Marks = std::pair<const MetricSeries*, const MetricSeries*>;
Marks marks_of(const RunModel&) { return {}; }
Marks marks_of(const RunOverview& overview) { return {&overview.loss_not_finite, &overview.accuracy_not_finite}; }

} // namespace

template <typename Source>
void RunPage::show_curves(const Source& source, const MetricSeries& loss, const MetricSeries& smooth_loss,
                          const MetricSeries& accuracy, const MetricSeries& smooth_accuracy) {
    using Shape = Curve::Shape;
    const BucketWords words = bucket_words(bucket_width(source));
    const auto [loss_marks, accuracy_marks] = marks_of(source);
    const auto curve = [](const char* name, Role role, const MetricSeries& series, Shape shape, const QString& values,
                          const MetricSeries* marks = nullptr) {
        Curve made{name ? tr(name) : QString(), role, &series, shape};
        made.head = QLatin1String(name);
        made.values = values;
        made.marks = marks;
        return made;
    };
    plots_->loss()->set_curves(
        {curve(nullptr, Role::series1, loss, Shape::faint, words.range),
         curve(QT_TR_NOOP("train"), Role::series1, smooth_loss, Shape::line, words.mean, loss_marks),
         curve(QT_TR_NOOP("validation"), Role::series2, source.validation_loss, Shape::dash, words.mean)});
    plots_->accuracy()->set_curves(
        {curve(nullptr, Role::series1, accuracy, Shape::faint, words.range),
         curve(QT_TR_NOOP("train"), Role::series1, smooth_accuracy, Shape::line, words.mean, accuracy_marks),
         curve(QT_TR_NOOP("validation"), Role::series2, source.validation_accuracy, Shape::dash, words.mean)});
    std::vector<Curve> memory{
        curve(QT_TR_NOOP("workspace"), Role::series2, source.memory[3], Shape::area, words.greatest),
        curve(QT_TR_NOOP("activations"), Role::series3, source.memory[2], Shape::area, words.greatest),
        curve(QT_TR_NOOP("optimizer"), Role::series4, source.memory[1], Shape::area, words.greatest),
        curve(QT_TR_NOOP("weights"), Role::series1, source.memory[0], Shape::area, words.greatest),
        curve(QT_TR_NOOP("process"), Role::hint, source.process, Shape::dash, words.mean)};
    if (run_->on_gpu() && run_->plan()->memory[4] > 0) // the images are beside the network
        memory.insert(memory.begin(),
                      curve(QT_TR_NOOP("data"), Role::hint, source.memory[4], Shape::area, words.greatest));
    plots_->memory()->set_curves(std::move(memory));
    std::vector<Curve> arithmetic{curve(QT_TR_NOOP("step"), Role::series1, source.gflops, Shape::line, words.range)};
    if (run_->on_gpu()) {
        arithmetic.push_back(
            curve(QT_TR_NOOP("utilisation"), Role::series3, source.utilisation, Shape::dash, words.mean));
        arithmetic.back().of_whole = true;
    }
    plots_->gflops()->set_curves(std::move(arithmetic));
}

/// Why there is no curve, and what changes that.
void RunPage::fill_empty_plots() {
    const RunState state = run_->state();
    const Emptiness now{state, loading_, run_->checkpoint().has_value(), run_->step() > 0};
    if (emptiness_ == now)
        return;
    emptiness_ = now;
    const WayOn way = loading_                       ? WayOn()
                      : state == RunState::finished  ? WayOn{tr("More epochs…"), QStringLiteral("more_epochs")}
                      : state == RunState::queued || !is_active(state) ? way_on(*run_)
                                                     : WayOn{tr("Show the log"), QStringLiteral("log")};
    const auto say = [&](LivePlot* plot, const QString& meanwhile, const QString& over) {
        const QString waits = tr("The run waits in the queue."), reads = tr("The past of the run is being read.");
        plot->set_empty(loading_                    ? reads
                        : state == RunState::queued ? waits
                        : is_active(state)          ? meanwhile
                                                    : over,
                        way.title, way.action);
    };
    const QString no_step = tr("The run ended before its first step.");
    const QString not_measured = run_->step() > 0 ? tr("The run ended before this was measured.") : no_step;
    say(plots_->loss(), tr("The curve starts with the first step."), no_step);
    say(plots_->accuracy(), tr("The curve starts with the first step."), no_step);
    say(plots_->memory(), tr("Memory is measured once the network is built."), not_measured);
    say(plots_->gflops(), tr("Arithmetic is measured while it trains."), not_measured);
    plots_->refresh();
}

/// What a button asks for: the window does it, but for what is on this page.
void RunPage::request(const QString& command) {
    if (command == u"log")
        show_tab(log_tab);
    else
        emit action_requested(command);
}

void RunPage::show_own_curves() {
    show_curves(*run_, run_->loss.raw, run_->loss.smooth, run_->accuracy.raw, run_->accuracy.smooth);
}

void RunPage::show_overview(const RunOverview& overview) {
    if (!loading_ || !run_)
        return;
    exports_->stop();
    const RunOverview& shown = overview_.emplace(overview);
    plots_->change_clock(&shown.clock);
    show_curves(shown, shown.loss, shown.loss_mean, shown.accuracy, shown.accuracy_mean);
    plots_->set_progress(static_cast<double>(shown.steps), static_cast<double>(std::max(shown.steps, shown.last_step)));
    plots_->follow();
}

} // namespace espalier
