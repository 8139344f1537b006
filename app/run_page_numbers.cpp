// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of the run page: its header, and the tiles below it.
#include "format.h"
#include "metric_tile.h"
#include "plot_group.h"
#include "progress_header.h"
#include "run_page.h"
#include "run_title.h"
#include "worker/protocol.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// Which way the mean of a series moved over the last tenth of the run; nothing if it hardly did.
int direction(const MetricSeries& series) {
    const std::size_t size = series.size();
    const std::size_t back = std::max<std::size_t>(10, size / 10);
    if (size < back + 5)
        return 0;
    const double now = series.value_at(size - 1), then = series.value_at(size - 1 - back);
    if (!std::isfinite(now) || !std::isfinite(then) ||
        std::abs(now - then) < 0.004 * std::max(std::abs(now), std::abs(then)))
        return 0;
    return now > then ? 1 : -1;
}

/// Whether what is measured from time to time became more or less: the mean of the newest values to that of those before
/// them. Nothing if it is about the same.
MetricTile::Trend pace_trend(const MetricSeries& series) {
    constexpr double least = 0.02; // less is the noise of a machine
    const std::size_t size = series.size(), part = std::clamp<std::size_t>(size / 10, 5, 50);
    if (size < 2 * part)
        return MetricTile::Trend::none;
    const auto mean = [&](std::size_t begin) {
        double sum = 0;
        for (std::size_t i = begin; i < begin + part; ++i)
            sum += series.value_at(i);
        return sum / static_cast<double>(part);
    };
    const double now = mean(size - part), then = mean(size - 2 * part);
    if (!(std::abs(now - then) >= least * then)) // or one of them is no number
        return MetricTile::Trend::none;
    return now > then ? MetricTile::Trend::rising_is_good : MetricTile::Trend::falling_is_bad;
}

std::optional<double> greatest(const MetricSeries& series) {
    const Extent extent = series.extent();
    return extent.empty ? std::nullopt : std::optional(extent.high);
}

/// What a tile says below its value, with the best or the most so far if there is room for both.
QString with_best(const QString& context, const QString& best) {
    return context.isEmpty() || best.isEmpty() ? context + best : QStringLiteral("%1 · %2").arg(context, best);
}

/// Memory by what it is for, and who else has some.
QString memory_story(const Json& sizes) {
    QStringList lines;
    for (const auto& [key, text] : {std::pair{"weights", RunPage::tr("Weights: %1")},
                                    {"optimizer", RunPage::tr("Optimizer: %1")},
                                    {"activations", RunPage::tr("Activations: %1")},
                                    {"workspace", RunPage::tr("Workspace: %1")},
                                    {"data", RunPage::tr("Data set: %1")},
                                    {"process", RunPage::tr("This process, with libraries: %1")},
                                    {"device", RunPage::tr("All programs on the device: %1")},
                                    {"device_total", RunPage::tr("The device has: %1")},
                                    {"host", RunPage::tr("Memory of the machine: %1")}})
        if (const double bytes = protocol::number_at(sizes, key, -1); bytes >= 0)
            lines.append(text.arg(format_bytes(bytes)));
    return lines.join(QLatin1Char('\n'));
}

double newest(const MetricSeries& series) { return series.empty() ? std::nan("") : series.value_at(series.size() - 1); }

} // namespace

void RunPage::fill_header() {
    const RunTitle title = run_title(run_->name());
    QStringList beside{preset_titles_.value(run_->kind(), run_->kind()), title.begun()};
    beside.removeAll(QString());
    header_->set_name(title.text, beside.join(QStringLiteral(" · ")));
    const RunState state = run_->state();
    header_->set_state(state, run_->is_saving() ? tr("Saving") : run_->is_evaluating() ? tr("Evaluating") : QString());
    const auto& plan = run_->plan();
    if (!plan) {
        header_->set_progress(state == RunState::preparing ? tr("reading the data, building the network") : QString(),
                              -1, {});
        return;
    }
    const double share =
        run_->last_step() > 0 ? static_cast<double>(run_->step()) / static_cast<double>(run_->last_step()) : 0;
    if (state == RunState::finished) {
        const QString clock = format_clock(run_->seconds_trained());
        const double epochs = std::round(run_->epoch());
        header_->set_progress(epochs == 1 ? tr("1 epoch in %1").arg(clock)
                                          : tr("%1 epochs in %2").arg(format_count(epochs), clock),
                              -1, {});
        return;
    }
    const auto left = run_->seconds_left();
    header_->set_progress(tr("epoch %1 of %2").arg(run_->current_epoch()).arg(plan->epochs), share,
                          left ? tr("%1 left").arg(format_clock(*left)) : QString());
}

void RunPage::fill_tiles() {
    using Trend = MetricTile::Trend;
    const bool over = !is_active(run_->state()) && run_->best_accuracy().has_value();
    const double loss = newest(run_->loss.smooth);
    const int falls = direction(run_->loss.smooth);
    tiles_[0]->set_value(std::isfinite(loss)      ? format_loss(loss)
                         : run_->loss.raw.empty() ? QStringLiteral("–")
                                                  : format_loss(newest(run_->loss.raw)),
                         over || falls == 0 ? Trend::none
                         : falls < 0        ? Trend::falling_is_good
                                            : Trend::rising_is_bad);
    tiles_[0]->set_context(run_->best_loss() ? tr("best validation %1").arg(format_loss(*run_->best_loss()))
                                             : tr("of training"));

    const auto& validation = run_->validation_accuracy;
    const std::size_t evaluations = validation.size();
    if (over) {
        tiles_[1]->set_label(tr("Best accuracy"));
        tiles_[1]->set_value(format_percent(*run_->best_accuracy()));
        tiles_[1]->set_context(tr("at epoch %1").arg(run_->best_epoch()));
    } else {
        tiles_[1]->set_label(tr("Validation accuracy"));
        const int rises = evaluations < 2                                                               ? 0
                          : validation.value_at(evaluations - 1) > validation.value_at(evaluations - 2) ? 1
                                                                                                        : -1;
        tiles_[1]->set_value(evaluations ? format_percent(newest(validation)) : QStringLiteral("–"),
                             rises == 0  ? Trend::none
                             : rises > 0 ? Trend::rising_is_good
                                         : Trend::falling_is_bad);
        tiles_[1]->set_context(run_->best_accuracy() ? tr("best %1").arg(format_percent(*run_->best_accuracy()))
                               : run_->accuracy.smooth.empty()
                                   ? tr("after the first epoch")
                                   : tr("training %1").arg(format_percent(newest(run_->accuracy.smooth))));
    }

    const Json& resources = run_->resources();
    const auto memory = resources.find("memory");
    const Json sizes = memory != resources.end() ? *memory : Json::object();
    const double planned = run_->plan() ? run_->plan()->memory_total : 0;
    const double used = protocol::number_at(sizes, "total", newest(run_->memory.back()));
    tiles_[2]->set_value(std::isfinite(used) && used > 0 ? format_bytes(used)
                         : planned > 0                   ? format_bytes(planned)
                                                         : QStringLiteral("–"));
    tiles_[2]->set_label(run_->on_gpu() ? tr("GPU memory") : tr("Memory"));
    const auto process = greatest(run_->process), most = greatest(run_->memory.back());
    const double device = protocol::number_at(sizes, "device");
    const double total = protocol::number_at(sizes, "device_total", run_->plan() ? run_->plan()->device_memory : 0);
    tiles_[2]->set_context(
        process && total > 0      ? tr("peak %1 of %2").arg(format_bytes(*process), format_bytes(total))
        : device > 0 && total > 0 ? tr("in all %1 of %2").arg(format_bytes(device), format_bytes(total))
        : process                 ? tr("peak %1 with the program").arg(format_bytes(*process))
        : most                    ? tr("peak %1").arg(format_bytes(*most))
        : planned > 0             ? tr("as planned")
                                  : QString());
    tiles_[2]->setToolTip(memory_story(sizes));
    const double rate = newest(run_->gflops);
    const bool trains = run_->state() == RunState::running;
    tiles_[3]->set_value(std::isfinite(rate) ? format_count(rate) : QStringLiteral("–"),
                         trains ? pace_trend(run_->gflops) : Trend::none);
    const double mfu = protocol::number_at(resources, "mfu", std::nan(""));
    const auto best_rate = greatest(run_->gflops), best_speed = greatest(run_->speed);
    const auto best = [](const std::optional<double>& value) {
        return value ? tr("best %1").arg(format_count(*value < 10 ? *value : std::round(*value))) : QString();
    };
    tiles_[3]->set_context(with_best(std::isfinite(mfu) ? tr("MFU %1").arg(format_percent(mfu)) : QString(),
                                     std::isfinite(mfu) || best_rate ? best(best_rate)
                                     : run_->plan() ? tr("%1FLOP a step").arg(format_short(run_->plan()->flops))
                                                    : QString()));
    tiles_[3]->setToolTip(std::isfinite(mfu) && run_->plan()
                              ? tr("Planned arithmetic by the time of a step. MFU: its share of the %1 GFLOPS that the "
                                   "device reaches at best in %2.")
                                    .arg(format_count(std::round(run_->plan()->peak_gflops)), run_->plan()->precision)
                              : tr("Planned arithmetic by the time of a step"));
    plots_->gflops()->set_note(
        std::isfinite(mfu) ? QStringList{tr("MFU %1").arg(format_percent(mfu)), format_percent(mfu)} : QStringList());
    if (over && run_->state() == RunState::finished) {
        tiles_[4]->set_label(tr("Duration"));
        tiles_[4]->set_value(format_clock(run_->seconds_trained()));
        tiles_[4]->set_context(tr("%1 img/s").arg(format_count(std::round(run_->images_per_second()))));
        return;
    }
    tiles_[4]->set_label(tr("Speed"));
    double images = run_->images_per_second();
    if (run_->plan() && run_->step_seconds() > 0 && images <= 0)
        images = static_cast<double>(run_->plan()->batch) / run_->step_seconds();
    tiles_[4]->set_value(images > 0 ? tr("%1 img/s").arg(format_count(std::round(images))) : QStringLiteral("–"),
                         trains ? pace_trend(run_->speed) : Trend::none);
    tiles_[4]->set_context(with_best(
        run_->step_seconds() > 0
            ? tr("step %1 ms").arg(screen_locale().toString(run_->step_seconds() * 1000, 'f', 1))
            : QString(),
        best(best_speed)));
}

} // namespace espalier
