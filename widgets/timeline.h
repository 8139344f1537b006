// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot_overlay.h"
#include "step_clock.h"

#include <QFrame>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace espalier {

struct TimelinePhase {
    double begin = 0, end = 0; ///< steps
    Role role = Role::series1;
    QString name;

    bool operator==(const TimelinePhase&) const = default;
};

/// What of the run is in view as one bar: its phases, and the checkpoints and events on them, along the same axis as
/// the plots. The mouse and the arrow keys are told their stories.
class Timeline : public QFrame {
    Q_OBJECT

public:
    explicit Timeline(QWidget* parent = nullptr);
    void set_content(const std::vector<TimelinePhase>& phases, const std::vector<PlotMarker>& markers);
    /// The axis of the plots, from its left to its right end; `clock` turns steps into its unit (none: they are it).
    void set_view(const StepClock* clock, AxisKind kind, const std::pair<double, double>& range);
    /// Where a step stands, in pixels; it may lie outside of bar().
    [[nodiscard]] double column(double step) const;
    [[nodiscard]] QRectF bar() const;
    void set_story(const QString& story); ///< at the right: the newest event
    [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Stop {
        double at = 0; ///< pixels
        QString story;
    };
    [[nodiscard]] bool is_in_view(const PlotMarker& marker) const;
    [[nodiscard]] std::vector<Stop> stops() const; ///< beginnings of phases, and markers, from left to right

    std::vector<TimelinePhase> phases_;
    std::vector<PlotMarker> markers_;
    const StepClock* clock_ = nullptr;
    AxisKind kind_ = AxisKind::step;
    std::pair<double, double> range_{0, 1};
    QString story_;
    std::optional<std::size_t> stop_; ///< where the arrow keys are
};

} // namespace espalier
