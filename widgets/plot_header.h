// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "live_plot.h"

#include <QWidget>
#include <vector>

namespace espalier {

/// Title, legend and a note of a plot on one line. The note gives way first, then the gaps and the
/// longest names of the legend.
class PlotHeader : public QWidget {
    Q_OBJECT

public:
    explicit PlotHeader(QWidget* parent = nullptr);
    void set_title(const QString& title);
    void set_curves(const std::vector<Curve>& curves);
    void set_note(const QString& note);
    [[nodiscard]] const QString& note() const { return note_; }
    /// As it is painted, without a note of the crosshair's; in a picture there may be more room than on the screen.
    void draw(QPainter& painter, const QSize& room) const;
    [[nodiscard]] QSize sizeHint() const override { return {200, 20}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {80, 20}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    [[nodiscard]] std::vector<const Curve*> legend() const; ///< what is told of, in its order

    QString title_, note_;
    std::vector<Curve> curves_;
};

} // namespace espalier
