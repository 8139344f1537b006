// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "live_plot.h"

#include <QWidget>
#include <vector>

namespace espalier {

/// Title, legend and a note of a plot. The note gives way first, word by word, then the gaps of the legend; a legend
/// that is wider still goes on below the title.
class PlotHeader : public QWidget {
    Q_OBJECT

public:
    explicit PlotHeader(QWidget* parent = nullptr);
    void set_title(const QString& title);
    void set_curves(const std::vector<Curve>& curves);
    /// The same from long to short, numbers last: the first one that there is room for is shown.
    void set_note(const QStringList& forms);
    [[nodiscard]] QString note() const { return note_.value(0); }
    /// As it is painted, without a note of the crosshair's; in a picture there may be more room than on the screen.
    void draw(QPainter& painter, const QSize& room) const;
    [[nodiscard]] QSize sizeHint() const override { return {200, 20}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {80, 20}; }

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    struct Entry {
        const Curve* curve;
        QString name; ///< as much of it as one line holds
        int x, line;
        int end; ///< where the name ends
    };
    [[nodiscard]] std::vector<const Curve*> legend() const; ///< what is told of, in its order
    [[nodiscard]] std::vector<Entry> placed(int width) const;
    void fit_height();

    QString title_;
    QStringList note_;
    std::vector<Curve> curves_;
};

} // namespace espalier
