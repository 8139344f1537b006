// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "live_plot.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QPushButton;

namespace espalier {

/// The four plots of a run: one horizontal axis and one crosshair for all of them. Zooming and panning stop the
/// following of the newest step, never the stream; "follow" or a double click returns to it.
class PlotGroup : public QWidget {
    Q_OBJECT

public:
    explicit PlotGroup(QWidget* parent = nullptr);

    [[nodiscard]] LivePlot* loss() const { return plots_[0]; }
    [[nodiscard]] LivePlot* accuracy() const { return plots_[1]; }
    [[nodiscard]] LivePlot* memory() const { return plots_[2]; }
    [[nodiscard]] LivePlot* gflops() const { return plots_[3]; }

    void set_clock(const StepClock* clock);
    /// The same run with another clock: what is in view stays.
    void change_clock(const StepClock* clock);
    void set_markers(const std::vector<PlotMarker>& markers);
    /// The newest step and the one at which the run will end (0: not known). While following, the axis grows in leaps
    /// and stays otherwise.
    void set_progress(double step, double last_step);
    /// Without a clock, of curves of several runs: the end of the axis as step, epoch and seconds.
    void set_ends(const std::array<double, 3>& ends);
    void set_axis(AxisKind kind);
    [[nodiscard]] AxisKind axis() const { return kind_; }
    [[nodiscard]] const StepClock* clock() const { return clock_; }
    void follow();
    [[nodiscard]] bool is_following() const { return following_; }
    [[nodiscard]] const std::array<LivePlot*, 4>& plots() const { return plots_; }
    [[nodiscard]] double smoothing() const { return smoothing_; }
    [[nodiscard]] std::pair<double, double> range() const { return {low_, high_}; }
    /// Has what is new drawn, if it can be seen, and seldom enough to leave the processor to the training; `at_once` in
    /// any case. Each plot is drawn in a turn of the event loop of its own, and once however often it was asked for
    /// meanwhile: a burst of turns of the wheel holds up nobody.
    void refresh(bool at_once = false);

signals:
    void smoothing_changed(double weight);
    void action_requested(const QString& action); ///< of a marker
    void range_changed();                         ///< what is in view, its unit, or the clock
    void export_requested(const std::vector<LivePlot*>& plots);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void connect_plot(LivePlot* plot);
    void fit_options();
    void show_range(double low, double high);
    void apply_range();
    void draw_next();
    [[nodiscard]] double end() const; ///< of the run, in the axis' unit

    std::array<LivePlot*, 4> plots_{};
    QPushButton* follow_button_;
    QPushButton* axis_button_;
    QPushButton* logarithm_button_;
    QPushButton* smooth_button_;
    const StepClock* clock_ = nullptr;
    AxisKind kind_ = AxisKind::step;
    bool following_ = true;
    double low_ = 0, high_ = 1;
    double step_ = 0, last_step_ = 0, follow_end_ = 0;
    std::array<double, 3> ends_{};
    double smoothing_ = 0.9;
    QTimer drawing_;       ///< runs while plots are to be drawn
    std::size_t next_ = 0; ///< of plots_, of which `waiting_` are to be drawn from there on, in a ring
    std::size_t waiting_ = 0;
    qint64 cost_ns_ = 0; ///< of those that were drawn since it began to run
    QElapsedTimer since_draw_;
    qint64 rest_ms_ = 0; ///< before the next draw
};

} // namespace espalier
