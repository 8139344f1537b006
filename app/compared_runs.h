// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"
#include "run_overview.h"

#include <QPointer>
#include <QTimer>
#include <memory>

namespace espalier {

class Machine;
class RunStore;

/// What is known of runs that are compared: their curves and configurations. A run that is open already is seen as it
/// is there; of another one all events come if it is short or still trains, and the overview alone if it is long. What
/// is looked at of a long one is asked for in finer buckets, down to single steps. Of the whole as of a stretch each
/// step is smoothed before buckets are made of them, where the steps are: a zoom shows more of a curve, not another
/// one.
class ComparedRuns : public QObject {
    Q_OBJECT

public:
    /// The curves of one run, whatever they come from; they live until changed() says otherwise.
    struct Curves {
        const MetricSeries *loss, *accuracy;             ///< of training, smoothed
        const MetricSeries *loss_marks, *accuracy_marks; ///< whose NaN and infinite values are marked
        const MetricSeries *validation_loss, *validation_accuracy, *memory, *gflops;
        const StepClock* clock;
        std::int64_t width = 1;           ///< steps that one value tells of, in what is looked at
        double smoothing = 0;             ///< weight of what was before in those of training; 0: they are not smoothed
        std::shared_ptr<const void> keep; ///< has the series live on when others have come
    };
    struct Facts {
        QString name;
        RunState state = RunState::preparing;
        std::int64_t steps = 0;
        double seconds = 0; ///< of training
        std::optional<double> best_accuracy;
        std::int64_t best_epoch = 0;
    };

    ComparedRuns(Machine* machine, RunStore* store, QObject* parent);
    ~ComparedRuns() override;

    void compare(const QStringList& paths);
    void clear(); ///< nothing is asked for any more
    /// The part of the axis that is looked at; none: all of it. Finer buckets of it are asked for when it has stood
    /// still for a moment; those of before stay until then.
    void look_at(AxisKind kind, std::optional<std::pair<double, double>> range);
    [[nodiscard]] std::size_t size() const { return runs_.size(); }
    [[nodiscard]] QStringList paths() const;
    [[nodiscard]] std::optional<Curves> curves(std::size_t index) const; ///< nothing: they are on their way
    [[nodiscard]] Facts facts(std::size_t index) const;
    [[nodiscard]] const std::optional<Json>& config(std::size_t index) const { return runs_[index]->config; }
    [[nodiscard]] const QString& problem(std::size_t index) const { return runs_[index]->problem; }
    /// Whether its curves are means of stretches of steps, not the steps themselves.
    [[nodiscard]] bool is_coarse(std::size_t index) const;
    [[nodiscard]] bool can_refine() const; ///< an older engine knows no stretches
    /// Why finer buckets of a run did not come; mostly empty.
    [[nodiscard]] const QString& refusal(std::size_t index) const { return runs_[index]->refusal; }
    /// Whether changed() has told of all that curves() gives: it follows a turn later.
    [[nodiscard]] bool has_told() const { return !telling_; }
    void set_smoothing(double weight);
    void smooth_for(int budget_ms);

signals:
    void about_to_change(); ///< curves that were given out end here
    void changed();         ///< others have come
    void configs_changed();

private:
    struct StepRange {
        std::int64_t first = 1, last = 0; ///< both among them
        bool operator==(const StepRange&) const = default;
        [[nodiscard]] std::int64_t width() const; ///< of a bucket, if it is asked for
        [[nodiscard]] bool holds(const StepRange& other) const { return first <= other.first && other.last <= last; }
    };
    struct Run {
        QString path;
        QPointer<RunModel> open;       ///< of the store
        std::unique_ptr<RunModel> own; ///< of all events
        std::shared_ptr<const RunOverview> overview;
        std::shared_ptr<const RunOverview> refined;  ///< the same with a stretch in finer buckets
        StepRange fine;                              ///< that stretch
        std::shared_ptr<const RunOverview> smoothed; ///< the overview with all of it smoothed
        double smoothed_weight = 0;                  ///< asked for; `smoothed` is none if it did not come
        std::int64_t fine_width = 1, seen_width = 1;
        double fine_smoothing = 0;
        StepRange asked; ///< on its way
        double asked_smoothing = 0;
        std::int64_t asking = 0;
        QString refusal;
        bool live = false;     ///< it trains: its overview alone would stand still
        bool complete = false; ///< the past of `own` is there
        std::int64_t request = 0;
        std::optional<Json> config;
        QString problem;
    };
    void attach(const std::shared_ptr<Run>& run);
    void fetch_config(const std::shared_ptr<Run>& run);
    void take_progress(Run& run, const Json& progress);
    /// Says once of all curves that come together that they changed, and not in the slice of time in which they were
    /// read. Until then those of before are drawn, and live.
    void tell_soon();
    [[nodiscard]] RunModel* model(const Run& run) const;
    // of stretches: compared_stretches.cpp
    [[nodiscard]] std::optional<StepRange> view_of(const Run& run) const;
    [[nodiscard]] bool is_refined(const Run& run) const; ///< in all that is looked at
    [[nodiscard]] std::int64_t width_of(const Run& run) const;
    [[nodiscard]] static StepRange all_of(const Run& run) { return {1, run.overview->steps}; }
    [[nodiscard]] static bool is_asking_all(const Run& run) { return run.asking > 0 && run.asked == all_of(run); }
    [[nodiscard]] static const std::shared_ptr<const RunOverview>& whole(const Run& run);
    [[nodiscard]] double stretch_smoothing() const; ///< that stretches are asked for with
    void refine();
    void ask_stretch(const std::shared_ptr<Run>& run, const StepRange& range);
    void take_stretch(Run& run, const Json& answer);
    void leave_stretch(Run& run);
    void replace(std::shared_ptr<const RunOverview>& drawn, std::shared_ptr<const RunOverview> now);

    Machine* machine_;
    RunStore* store_;
    double smoothing_ = 0.9;
    AxisKind kind_ = AxisKind::step;
    std::optional<std::pair<double, double>> looked_at_; ///< in the axis' unit
    bool telling_ = false;
    QTimer rest_;                                              ///< until it has stood still
    std::vector<std::shared_ptr<const RunOverview>> outgoing_; ///< drawn still, but not for long
    std::vector<std::shared_ptr<Run>> runs_; ///< handlers of requests look whether theirs is still there
};

} // namespace espalier
