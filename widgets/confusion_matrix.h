// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QStringList>
#include <optional>
#include <vector>

namespace espalier {

/// Counts of images by their class (rows) and the one that was predicted (columns).
struct ConfusionCounts {
    QStringList classes;
    std::vector<qint64> counts; ///< row after row, classes x classes

    [[nodiscard]] qint64 at(int truth, int predicted) const {
        return counts[static_cast<std::size_t>(truth) * static_cast<std::size_t>(classes.size()) +
                      static_cast<std::size_t>(predicted)];
    }
};

/// Draws a confusion matrix of 2 to some hundreds of classes. Right ones are blue and wrong ones orange, which no kind
/// of colour blindness mixes up, the deeper the more. Cells shrink until all are seen, as far as they can still be hit;
/// + and - and the wheel with Ctrl zoom, arrows move the current cell, Return chooses it.
class ConfusionMatrix : public QAbstractScrollArea {
    Q_OBJECT

public:
    /// What a cell says, and what its colour is measured by.
    enum class Scale {
        counts,  ///< images, coloured as `rows`
        rows,    ///< share of the images of the class (the diagonal is the recall)
        columns, ///< share of the images taken for the class (the diagonal is the precision)
    };

    explicit ConfusionMatrix(QWidget* parent = nullptr);
    void set_counts(ConfusionCounts counts);
    void set_scale(Scale scale);
    [[nodiscard]] const ConfusionCounts& counts() const { return counts_; }
    void set_current(int truth, int predicted);
    [[nodiscard]] std::optional<QPoint> current() const { return current_; } ///< x: predicted, y: truth
    /// Where a cell stands in the viewport.
    [[nodiscard]] QRect cell_rect(int truth, int predicted) const;
    /// "31 images of shirt are taken for T-shirt, 12.4 % of all shirt"
    [[nodiscard]] QString describe(int truth, int predicted) const;

    [[nodiscard]] QSize sizeHint() const override { return {420, 420}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, 160}; }

signals:
    void cell_chosen(int truth, int predicted);
    /// The mouse or the keys are at a cell; -1: at none.
    void cell_pointed(int truth, int predicted);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    [[nodiscard]] int classes() const { return static_cast<int>(counts_.classes.size()); }
    [[nodiscard]] double share(int truth, int predicted) const;
    [[nodiscard]] std::optional<QPoint> cell_at(const QPoint& position) const;
    void measure();
    void zoom(double factor);
    void point_at(std::optional<QPoint> cell);
    void move_current(int truth, int predicted);
    void paint_names(class QPainter& painter) const;
    void paint_cells(class QPainter& painter) const;

    ConfusionCounts counts_;
    std::vector<qint64> row_sums_, column_sums_;
    Scale scale_ = Scale::counts;
    double zoom_ = 1;
    QSize cell_{24, 24};            ///< pixels
    int left_ = 0, top_ = 0;        ///< room of the names
    std::optional<QPoint> current_; ///< of the keys
    std::optional<QPoint> pointed_; ///< of the mouse
};

} // namespace espalier
