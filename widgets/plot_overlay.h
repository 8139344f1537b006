// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <qcustomplot.h>

#include <optional>
#include <vector>

namespace espalier {

/// Something that happened at a step: a checkpoint, a fallback, a resume, a growth. Drawn as a dotted line with a dot
/// on top.
struct PlotMarker {
    double position = 0; ///< step; the plot turns it into the axis' unit
    Role role = Role::series3;
    QString story;  ///< shown on hover
    QString action; ///< that takes it back, as LivePlot::action_requested() gives it on; empty: nothing does
};

/// The number of a curve, at a place on it.
struct CurveTag {
    double position = 0, value = 0; ///< in the axes' units
    int number = 0;
};

/// What lies above the curves and belongs to no graph: markers, values that were not finite, the limit line, and the
/// sentence of an empty plot.
class PlotOverlay : public QCPLayerable {
    Q_OBJECT

public:
    explicit PlotOverlay(QCPAxisRect* area);

    std::vector<PlotMarker> markers;      ///< positions in steps
    std::vector<double> marker_positions; ///< the same in the axis' unit
    std::vector<double> not_finite;       ///< in the axis' unit
    std::vector<double> not_positive;     ///< on a logarithmic axis: what has no place there
    std::vector<CurveTag> tags;
    std::optional<double> limit;
    QString limit_text;
    QString empty_text;   ///< drawn in the middle of a plot without values
    bool is_empty = true; ///< whether it has none
    bool has_button = false; ///< in its lower half, below the text

    /// The marker nearest to `pixel` within reach; null: there is none.
    [[nodiscard]] const PlotMarker* marker_at(const QPointF& pixel) const;
    [[nodiscard]] static QString not_positive_text();

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    QCPAxisRect* area_;
};

/// The vertical line under the mouse, on a layer of its own: moving it draws nothing else anew.
class PlotCrosshair : public QCPLayerable {
    Q_OBJECT

public:
    explicit PlotCrosshair(QCPAxisRect* area);
    std::optional<double> position; ///< in the axis' unit

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    QCPAxisRect* area_;
};

} // namespace espalier
