// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "event_stream.h"
#include "layer_table.h"
#include "log_view.h"
#include "metric_series.h"
#include "network_tree.h"
#include "plot_overlay.h"
#include "run_overview.h"
#include "run_state.h"
#include "smoothed_series.h"
#include "step_clock.h"
#include "timeline.h"

#include <QObject>
#include <array>
#include <map>
#include <optional>

namespace espalier {

/// One run, as its events tell it: the only place that knows which state follows which. Fed by events alone, live or
/// old, real or replayed.
class RunModel : public QObject {
    Q_OBJECT

public:
    struct Checkpoint {
        std::int64_t step = 0;
        double time = 0; ///< seconds since 1970
        double epoch = 0;
        QString file;
    };
    /// Something that the engine changed by itself so that the run could go on.
    struct Fallback {
        QString rung, from, to, reason; ///< rung: the toggle, or "batch", "device" ...
        std::int64_t step = 0;
        Json undo = Json::object(); ///< settings with which a resume takes it back; empty: nothing does
        QString words;              ///< all of it
    };
    struct Plan {
        double parameters = 0, flops = 0, steps_per_epoch = 0;
        std::int64_t epochs = 0, batch = 0;
        QString backend, device, precision;
        std::array<double, memory_parts> memory{}; ///< bytes, in the order of memory_parts
        double memory_total = 0;
        double limit = 0;              ///< bytes that the run may take; 0: not known
        double device_memory = 0;      ///< bytes; 0: the device uses the machine's
        double peak_gflops = 0;        ///< of the device in this precision; 0: not known
        Json toggles = Json::object(); ///< those in force, by name; empty: an engine that does not tell
        QStringList passes, notes;
        std::vector<LayerRow> layers;   ///< with the times of the newest sample
        std::vector<NetworkNode> nodes; ///< the network's graph; empty: an engine that does not tell
    };

    explicit RunModel(QString path, QObject* parent = nullptr);

    void apply(const RunEvent& event);
    /// A past of so many steps is about to come.
    void reserve(std::int64_t steps);
    /// Forgets everything but its name: all events come again from the first on.
    void reset();
    /// No event will come any more: a run without an end was interrupted.
    void close(const QString& reason = {});
    /// Weight of what was before in the smoothed curves; the same as before: nothing happens.
    void set_smoothing(double weight);
    /// Goes on with smoothing, a few milliseconds at a time where a long run has got another weight.
    void smooth_for(int budget_ms);
    void set_name(const QString& name, const QString& kind);

    [[nodiscard]] const QString& path() const { return path_; }
    [[nodiscard]] const QString& name() const { return name_; }
    [[nodiscard]] const QString& kind() const { return kind_; }
    [[nodiscard]] RunState state() const { return state_; }
    [[nodiscard]] bool is_saving() const { return saving_; }
    [[nodiscard]] bool is_evaluating() const { return evaluating_; }
    [[nodiscard]] const QString& reason() const { return reason_; } ///< of an end that was not asked for
    [[nodiscard]] std::int64_t step() const { return step_; }
    [[nodiscard]] std::int64_t last_step() const;     ///< at which the run will end; 0: not known
    [[nodiscard]] double epoch() const;               ///< fractional
    [[nodiscard]] std::int64_t current_epoch() const; ///< from 1: that of the newest step
    [[nodiscard]] std::optional<double> seconds_left() const;
    [[nodiscard]] double seconds_trained() const { return clock.seconds(); }
    [[nodiscard]] const std::optional<Plan>& plan() const { return plan_; }
    [[nodiscard]] const std::optional<Checkpoint>& checkpoint() const { return checkpoint_; } ///< the newest
    [[nodiscard]] int warnings() const { return warnings_; }
    [[nodiscard]] QStringList fallbacks() const; ///< that are in force, in words
    [[nodiscard]] const std::vector<Fallback>& changes() const { return changes_; } ///< the same
    /// Settings with which a resume takes the fallbacks of the last run through back; empty if none can be.
    [[nodiscard]] const Json& undo() const { return undo_; }
    [[nodiscard]] bool on_gpu() const { return plan_ && plan_->backend == QLatin1String("cuda"); }
    /// Counts up whenever a layer has other numbers.
    [[nodiscard]] int layers_version() const { return layers_version_; }
    [[nodiscard]] std::int64_t profiled_step() const { return profiled_step_; } ///< 0: none has been timed by layers
    [[nodiscard]] double profiled_milliseconds() const { return profiled_milliseconds_; }
    [[nodiscard]] std::optional<double> best_accuracy() const { return best().accuracy; }
    [[nodiscard]] std::int64_t best_epoch() const { return best().epoch; }
    [[nodiscard]] std::optional<double> best_loss() const { return best().loss; }
    [[nodiscard]] double images_per_second() const { return images_per_second_; }
    [[nodiscard]] double step_seconds() const { return step_seconds_; }
    [[nodiscard]] const Json& resources() const { return resources_; } ///< the newest event of that name
    [[nodiscard]] const std::vector<PlotMarker>& markers() const { return markers_; }
    [[nodiscard]] int markers_version() const { return markers_version_; } ///< counts up with each change of them
    [[nodiscard]] const std::vector<TimelinePhase>& phases() const { return phases_; }
    [[nodiscard]] const QString& story() const { return story_; } ///< of the newest thing that happened
    [[nodiscard]] const std::vector<LogLine>& log() const { return log_; }
    [[nodiscard]] QString detail() const; ///< for the rail: "Running · 12/30"

    SmoothedSeries loss, accuracy;
    MetricSeries validation_loss, validation_accuracy;
    std::array<MetricSeries, memory_parts> memory; ///< sums: weights; and optimizer; and activations ...
    MetricSeries process;                          ///< memory of the process on the device that trains
    MetricSeries gflops, utilisation;
    MetricSeries speed; ///< images a second
    StepClock clock;

signals:
    void state_changed(RunState state);

private:
    void set_state(RunState state, const QString& reason = {});
    void take_steps(const RunEvent& event);
    void take_phase(const RunEvent& event);
    void take_plan(const RunEvent& event);
    void take_evaluation(const RunEvent& event);
    void take_checkpoint(const RunEvent& event);
    void take_resources(const RunEvent& event);
    void take_layers(const RunEvent& event);
    void take_fallback(const RunEvent& event);
    void take_samples(const RunEvent& event);
    void take_sample(std::int64_t at, const Json& fields);
    void mark(PlotMarker marker);
    void mark_pause(double until);
    void take_back(const RunEvent& event);
    void forget_after(std::int64_t step);
    [[nodiscard]] bool in_force(const Fallback& change) const;
    void forget_undone();
    void extend_phase(const QString& name, Role role);
    void note(const RunEvent& event, const QString& text, Role role = Role::text);

    QString path_, name_, kind_;
    RunState state_ = RunState::preparing;
    bool saving_ = false, evaluating_ = false;
    bool told_preparing_ = false; ///< in the log, of this preparation
    QString reason_;
    std::int64_t step_ = 0;
    std::optional<Plan> plan_;
    std::optional<Checkpoint> checkpoint_;
    std::vector<Checkpoint> checkpoints_; ///< of the steps that count, the newest last
    struct Best {
        std::int64_t step = 0; ///< of the evaluation after which it was the best
        std::optional<double> accuracy, loss;
        std::int64_t epoch = 0; ///< of the accuracy
    };
    [[nodiscard]] Best best() const { return bests_.empty() ? Best() : bests_.back(); }
    std::vector<Best> bests_; ///< the newest last
    int warnings_ = 0;
    Json undo_ = Json::object();
    std::vector<Fallback> changes_;
    bool resumed_ = false; ///< by a person, who may have taken changes back: the next plan tells
    std::map<QString, std::size_t> layer_places_; ///< in plan_->layers
    int layers_version_ = 0;
    std::int64_t profiled_step_ = 0;
    double profiled_milliseconds_ = 0;
    double paused_at_ = 0; ///< seconds since 1970
    double images_per_second_ = 0, step_seconds_ = 0;
    double pace_time_ = 0, pace_step_ = 0, event_time_ = 0; ///< where the measured pace began
    Json resources_ = Json::object();
    std::vector<PlotMarker> markers_;
    int markers_version_ = 0;
    std::vector<TimelinePhase> phases_;
    QString story_;
    std::vector<LogLine> log_;
};

} // namespace espalier
