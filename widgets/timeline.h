// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot_overlay.h"

#include <QFrame>
#include <vector>

namespace espalier {

struct TimelinePhase {
    double begin = 0, end = 0; ///< steps
    Role role = Role::series1;
    QString name;

    bool operator==(const TimelinePhase&) const = default;
};

/// The run as one bar: its phases, and the checkpoints and events on them, under the same steps as the plots.
class Timeline : public QFrame {
    Q_OBJECT

public:
    explicit Timeline(QWidget* parent = nullptr);
    void set_content(const std::vector<TimelinePhase>& phases, const std::vector<PlotMarker>& markers,
                     double last_step);
    void set_story(const QString& story); ///< at the right: the newest event
    [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QRectF bar() const;

    std::vector<TimelinePhase> phases_;
    std::vector<PlotMarker> markers_;
    double last_step_ = 0;
    QString story_;
};

} // namespace espalier
