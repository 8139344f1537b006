// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "network_layout.h"
#include "network_tree.h"

#include <QWidget>
#include <memory>

namespace espalier {

/// The graph of a network: operations and blocks as boxes with parameters and FLOPs, tensors as lines with their
/// shapes. A double click (or Enter) opens and closes a block; the wheel zooms, dragging moves, Home fits; arrows go
/// from box to box. Large networks are laid out in another thread.
class NetworkCanvas : public QWidget {
    Q_OBJECT

public:
    explicit NetworkCanvas(QWidget* parent = nullptr);

    /// A small network is shown open, a larger one as its blocks.
    void set_nodes(std::vector<NetworkNode> nodes);
    void open_all();
    void close_all();
    void fit();
    /// Of the whole tree; null before set_nodes().
    [[nodiscard]] const NetworkTree* tree() const { return tree_.get(); }
    /// The item that is selected; -1: none.
    [[nodiscard]] int selected() const { return selected_; }
    [[nodiscard]] const NetworkLayout& layout_in_sight() const { return layout_; }
    [[nodiscard]] double zoom() const { return scale_; }
    /// Where an item stands on this widget; empty if it is inside of a closed block.
    [[nodiscard]] QRectF place_of(int item) const;
    void toggle(int item);

    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 160}; }

signals:
    void selection_changed(int item);
    void laid_out();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void lay_out_again(int anchor);
    void take(NetworkLayout layout, int anchor, QPointF anchor_before);
    void select(int item);
    void zoom_at(QPointF place, double factor);
    void go(QPointF direction);
    void bring_into_sight(int item);
    void keep_in_sight();
    [[nodiscard]] QPointF to_scene(QPointF place) const { return (place - offset_) / scale_; }
    [[nodiscard]] const NetworkLayout::Box* box_at(QPointF place) const;
    [[nodiscard]] const NetworkLayout::Box* box_of(int item) const;
    void draw_edges(QPainter& painter, const QRectF& sight) const;
    void draw_labels(QPainter& painter, const QRectF& sight) const;
    void draw_box(QPainter& painter, const NetworkLayout::Box& box) const;

    std::shared_ptr<const NetworkTree> tree_;
    QSet<int> open_;
    NetworkLayout layout_;
    int layouts_ = 0; ///< counts those asked for: an older one that comes late is not taken
    int selected_ = -1;
    double scale_ = 1;
    QPointF offset_;
    bool fitted_ = true; ///< follows the widget's size until the user zooms or moves
    QPointF press_, press_offset_;
    bool pressed_ = false, dragging_ = false;
};

} // namespace espalier
