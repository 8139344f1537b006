// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_canvas.h"

#include "format.h"
#include "theme.h"

#include <QCoreApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPointer>
#include <QThreadPool>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr int shown_open = 40;        ///< nodes; larger networks begin as their blocks
constexpr int laid_out_at_once = 400; ///< nodes; larger networks are laid out in another thread
constexpr double least_scale = 0.01, most_scale = 3;
constexpr double chain_scale = 0.9; ///< of a network that is too long to be shown whole
constexpr double readable = 0.45;   ///< scale below which texts are left out
constexpr double room = 12;         ///< around what is fitted

QPainterPath path_of(const std::vector<QPointF>& points) {
    QPainterPath path(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) {
        const QPointF from = points[i - 1], to = points[i];
        if (i % 2 == 0 || from.x() == to.x()) {
            path.lineTo(to);
        } else {
            const double bend = (to.y() - from.y()) / 2;
            path.cubicTo(from + QPointF(0, bend), to - QPointF(0, bend), to);
        }
    }
    return path;
}

QRectF bounds_of(const std::vector<QPointF>& points) {
    double left = points.front().x(), right = left;
    for (const QPointF& point : points) {
        left = std::min(left, point.x());
        right = std::max(right, point.x());
    }
    return {QPointF(left - 1, points.front().y() - 1), QPointF(right + 1, points.back().y() + 1)};
}

/// What kind of work a node is, as a colour of its left edge.
Role role_of(const QString& kind) {
    if (kind.startsWith(QLatin1String("conv")) || kind == QLatin1String("linear"))
        return Role::series1;
    if (kind.startsWith(QLatin1String("batch_norm")))
        return Role::series3;
    if (kind.contains(QLatin1String("pool")))
        return Role::series2;
    if (kind == QLatin1String("add") || kind == QLatin1String("concat") || kind == QLatin1String("weighted_sum"))
        return Role::series4;
    return Role::hint;
}

QString amounts(const NetworkTree::Item& item) {
    QStringList parts;
    if (item.parameters > 0)
        parts.append(NetworkCanvas::tr("%1 parameters").arg(format_short(item.parameters)));
    if (item.flops > 0)
        parts.append(NetworkCanvas::tr("%1 FLOPs").arg(format_short(item.flops)));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

NetworkCanvas::NetworkCanvas(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(false);
    setObjectName(QStringLiteral("networkCanvas"));
    setAccessibleName(tr("Graph of the network"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void NetworkCanvas::set_nodes(std::vector<NetworkNode> nodes) {
    if (tree_ && tree_->nodes() == nodes)
        return;
    tree_ = nodes.empty() ? nullptr : std::make_shared<const NetworkTree>(std::move(nodes));
    open_.clear();
    layout_ = {};
    select(-1);
    fitted_ = true;
    if (tree_ && tree_->item(0).count <= shown_open)
        open_all();
    else
        lay_out_again(-1);
}

void NetworkCanvas::open_all() {
    if (!tree_)
        return;
    for (std::size_t i = 1; i < tree_->items().size(); ++i)
        if (tree_->items()[i].is_block())
            open_.insert(static_cast<int>(i));
    fitted_ = true;
    lay_out_again(-1);
}

void NetworkCanvas::close_all() {
    open_.clear();
    fitted_ = true;
    lay_out_again(-1);
    if (selected_ >= 0 && !box_of(selected_))
        select(-1);
}

void NetworkCanvas::toggle(int item) {
    if (!tree_ || item <= 0 || !tree_->item(item).is_block())
        return;
    if (!open_.remove(item))
        open_.insert(item);
    lay_out_again(item);
}

/// `anchor` stays where it is on the screen.
void NetworkCanvas::lay_out_again(int anchor) {
    const QPointF before = anchor >= 0 ? place_of(anchor).topLeft() : QPointF();
    const int number = ++layouts_;
    if (!tree_ || tree_->item(0).count <= laid_out_at_once) {
        take(tree_ ? lay_out(*tree_, open_) : NetworkLayout{}, anchor, before);
        return;
    }
    QThreadPool::globalInstance()->start([canvas = QPointer(this), tree = tree_, open = open_, number, anchor, before] {
        auto layout = std::make_shared<NetworkLayout>(lay_out(*tree, open));
        QMetaObject::invokeMethod(QCoreApplication::instance(), [=] {
            if (canvas && canvas->layouts_ == number)
                canvas->take(std::move(*layout), anchor, before);
        });
    });
}

void NetworkCanvas::take(NetworkLayout layout, int anchor, QPointF anchor_before) {
    layout_ = std::move(layout);
    if (fitted_)
        fit();
    else if (const auto* box = box_of(anchor))
        offset_ = anchor_before - box->place.topLeft() * scale_;
    keep_in_sight();
    update();
    emit laid_out();
}

void NetworkCanvas::fit() {
    fitted_ = true;
    if (layout_.boxes.empty() || width() < 2 * room || height() < 2 * room)
        return;
    // A long chain fitted whole could not be read: it begins at its top, as wide as it goes.
    const double across = (width() - 2 * room) / layout_.bounds.width();
    const double down = (height() - 2 * room) / layout_.bounds.height();
    scale_ = std::clamp(std::min({across, std::max(down, chain_scale), 1.0}), least_scale, most_scale);
    offset_ = {(width() - layout_.bounds.width() * scale_) / 2,
               std::max(room, (height() - layout_.bounds.height() * scale_) / 2)};
    update();
}

void NetworkCanvas::keep_in_sight() {
    const QSizeF size = layout_.bounds.size() * scale_;
    const auto bound = [](double offset, double length, double space) {
        constexpr double least = 60; // of the drawing that stays in sight
        return std::clamp(offset, std::min(least - length, space - least), std::max(space - least, 0.0));
    };
    offset_ = {bound(offset_.x(), size.width(), width()), bound(offset_.y(), size.height(), height())};
}

const NetworkLayout::Box* NetworkCanvas::box_of(int item) const {
    const auto found = std::ranges::find(layout_.boxes, item, &NetworkLayout::Box::item);
    return found == layout_.boxes.end() ? nullptr : &*found;
}

const NetworkLayout::Box* NetworkCanvas::box_at(QPointF place) const {
    const QPointF at = to_scene(place);
    for (auto box = layout_.boxes.rbegin(); box != layout_.boxes.rend(); ++box) // what is inside comes later
        if (box->place.contains(at))
            return &*box;
    return nullptr;
}

QRectF NetworkCanvas::place_of(int item) const {
    const auto* box = box_of(item);
    return box ? QRectF(box->place.topLeft() * scale_ + offset_, box->place.size() * scale_) : QRectF();
}

void NetworkCanvas::select(int item) {
    if (item == selected_)
        return;
    selected_ = item;
    if (tree_ && item >= 0)
        setAccessibleDescription(tree_->item(item).path + QStringLiteral(", ") + amounts(tree_->item(item)));
    update();
    emit selection_changed(item);
}

void NetworkCanvas::zoom_at(QPointF place, double factor) {
    const double scale = std::clamp(scale_ * factor, least_scale, most_scale);
    offset_ = place - (place - offset_) * (scale / scale_);
    scale_ = scale;
    fitted_ = false;
    keep_in_sight();
    update();
}

void NetworkCanvas::bring_into_sight(int item) {
    const QRectF place = place_of(item);
    const QRectF sight = QRectF(rect()).adjusted(room, room, -room, -room);
    if (place.isEmpty() || sight.contains(place))
        return;
    fitted_ = false;
    const auto shift = [](double low, double high, double from, double to) {
        return low < from ? from - low : high > to ? std::max(to - high, from - low) : 0.0;
    };
    offset_ += QPointF(shift(place.left(), place.right(), sight.left(), sight.right()),
                       shift(place.top(), place.bottom(), sight.top(), sight.bottom()));
}

/// To the nearest box in that direction.
void NetworkCanvas::go(QPointF direction) {
    if (layout_.boxes.empty())
        return;
    const auto* from = box_of(selected_);
    const NetworkLayout::Box* best = from ? nullptr : &layout_.boxes.front();
    double least = std::numeric_limits<double>::infinity();
    if (from)
        for (const auto& box : layout_.boxes) {
            if (&box == from || (box.open && box.place.contains(from->place)))
                continue;
            const bool down = direction.y() != 0;
            const QPointF way =
                (box.open && down ? QPointF(box.place.center().x(), box.place.top()) : box.place.center()) -
                (from->open && down ? QPointF(from->place.center().x(), from->place.top()) : from->place.center());
            const double along = QPointF::dotProduct(way, direction);
            const double aside = std::abs(way.x() * direction.y()) + std::abs(way.y() * direction.x());
            if (along > 1 && along + 3 * aside < least) {
                least = along + 3 * aside;
                best = &box;
            }
        }
    if (!best)
        return;
    select(best->item);
    bring_into_sight(best->item);
}

void NetworkCanvas::keyPressEvent(QKeyEvent* event) {
    const QPointF middle = QRectF(rect()).center();
    switch (event->key()) {
    case Qt::Key_Down:
        return go({0, 1});
    case Qt::Key_Up:
        return go({0, -1});
    case Qt::Key_Left:
        return go({-1, 0});
    case Qt::Key_Right:
        return go({1, 0});
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return toggle(selected_);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoom_at(middle, 1.25);
    case Qt::Key_Minus:
        return zoom_at(middle, 0.8);
    case Qt::Key_Home:
        return fit();
    default:
        QWidget::keyPressEvent(event);
    }
}

void NetworkCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    press_ = event->position();
    press_offset_ = offset_;
    pressed_ = true;
    dragging_ = false;
}

void NetworkCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (!pressed_)
        return;
    const QPointF way = event->position() - press_;
    if (!dragging_ && way.manhattanLength() < 5)
        return;
    dragging_ = true;
    fitted_ = false;
    setCursor(Qt::ClosedHandCursor);
    offset_ = press_offset_ + way;
    keep_in_sight();
    update();
}

void NetworkCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (!std::exchange(pressed_, false))
        return;
    unsetCursor();
    if (std::exchange(dragging_, false))
        return;
    const auto* box = box_at(event->position());
    select(box ? box->item : -1);
}

void NetworkCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    const auto* box = box_at(event->position());
    if (event->button() != Qt::LeftButton || !box)
        return;
    select(box->item);
    toggle(box->item);
}

void NetworkCanvas::wheelEvent(QWheelEvent* event) {
    if (layout_.boxes.empty())
        return;
    zoom_at(event->position(), std::pow(1.2, event->angleDelta().y() / 120.0));
    event->accept();
}

void NetworkCanvas::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (fitted_)
        fit();
    else
        keep_in_sight();
}

bool NetworkCanvas::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto* box = box_at(help->pos());
    if (!box || !tree_) {
        QToolTip::hideText();
        return true;
    }
    const auto& item = tree_->item(box->item);
    QStringList lines{item.path.isEmpty() ? tr("Images") : item.path};
    if (const auto text = amounts(item); !text.isEmpty())
        lines.append(text);
    lines.append(tr("Gives %1").arg(tree_->shape_of(item.last)));
    QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
    return true;
}

void NetworkCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(rect());
    painter.translate(offset_);
    painter.scale(scale_, scale_);
    const QRectF sight(to_scene({0, 0}), to_scene(QPointF(width(), height())));
    for (const auto& box : layout_.boxes) // frames below the lines that cross them
        if (box.open && box.place.intersects(sight))
            draw_box(painter, box);
    draw_edges(painter, sight);
    for (const auto& box : layout_.boxes)
        if (!box.open && box.place.intersects(sight))
            draw_box(painter, box);
    if (scale_ >= readable)
        draw_labels(painter, sight);
    if (hasFocus()) {
        painter.resetTransform();
        painter.setPen(QPen(Theme::instance().color(Role::accent), 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
}

void NetworkCanvas::draw_edges(QPainter& painter, const QRectF& sight) const {
    const auto& theme = Theme::instance();
    painter.setBrush(Qt::NoBrush);
    for (const bool marked : {false, true}) { // those of the selection above the others
        painter.setPen(QPen(theme.color(marked ? Role::accent : Role::hint), marked ? 2 : 1.2));
        for (const auto& edge : layout_.edges)
            if (marked == (selected_ >= 0 && (edge.from == selected_ || edge.to == selected_)) &&
                bounds_of(edge.points).intersects(sight))
                painter.drawPath(path_of(edge.points));
    }
    if (scale_ < readable)
        return;
    painter.setPen(Qt::NoPen);
    for (const auto& edge : layout_.edges) {
        const QPointF tip = edge.points.back();
        if (edge.to < 0 || !sight.contains(tip))
            continue;
        const bool marked = selected_ >= 0 && (edge.from == selected_ || edge.to == selected_);
        painter.setBrush(theme.color(marked ? Role::accent : Role::hint));
        painter.drawPolygon(QPolygonF{tip, tip + QPointF(-4, -7), tip + QPointF(4, -7)});
    }
}

void NetworkCanvas::draw_labels(QPainter& painter, const QRectF& sight) const {
    painter.setFont(Theme::instance().font(TextSize::small));
    painter.setPen(Theme::instance().color(Role::secondary));
    for (const auto& label : layout_.labels)
        if (sight.contains(label.at))
            painter.drawText(label.at, tree_->shape_of(label.source));
}

void NetworkCanvas::draw_box(QPainter& painter, const NetworkLayout::Box& box) const {
    const auto& theme = Theme::instance();
    const auto& item = tree_->item(box.item);
    const bool marked = box.item == selected_;
    const QRectF place = box.place.adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(QPen(theme.color(marked ? Role::accent : Role::border), marked ? 2 : 1));
    painter.setBrush(theme.color(box.open ? (item.depth % 2 == 1 ? Role::window : Role::panel)
                                 : marked ? Role::selection
                                          : Role::panel));
    painter.drawRoundedRect(place, 8, 8);
    const auto& node = tree_->node(item.last);
    if (!item.is_block()) {
        painter.save();
        QPainterPath clip;
        clip.addRoundedRect(place, 8, 8);
        painter.setClipPath(clip, Qt::IntersectClip);
        painter.fillRect(QRectF(place.left(), place.top(), 4, place.height()), theme.color(role_of(node.kind)));
        painter.restore();
    }
    if (scale_ < readable)
        return;
    const QRectF words = place.adjusted(12, 5, item.is_block() ? -30 : -10, -5);
    const QFont bold = theme.font(TextSize::normal, QFont::DemiBold), small = theme.font(TextSize::small);
    const QString title = item.is_block() ? item.name : node.layer.isEmpty() ? tr("images") : node.kind;
    const QString beside =
        item.is_block() ? tr("%1 operations").arg(format_count(item.count)) : item.name.section(QLatin1Char('.'), -1);
    const double title_width = QFontMetricsF(bold).horizontalAdvance(title);
    painter.setFont(bold);
    painter.setPen(theme.color(Role::text));
    painter.drawText(words, Qt::AlignLeft | Qt::AlignTop,
                     QFontMetricsF(bold).elidedText(title, Qt::ElideRight, words.width()));
    painter.setFont(small);
    painter.setPen(theme.color(Role::secondary));
    const QRectF rest = words.adjusted(title_width + 8, 2, 0, 0);
    if (rest.width() > 20)
        painter.drawText(rest, Qt::AlignRight | Qt::AlignTop,
                         QFontMetricsF(small).elidedText(beside, Qt::ElideRight, rest.width()));
    if (item.is_block()) {
        const QRectF sign(place.right() - 22, place.top() + 8, 12, 12);
        painter.setPen(QPen(theme.color(Role::secondary), 1.5));
        painter.drawLine(QPointF(sign.left(), sign.center().y()), QPointF(sign.right(), sign.center().y()));
        if (!box.open)
            painter.drawLine(QPointF(sign.center().x(), sign.top()), QPointF(sign.center().x(), sign.bottom()));
    }
    if (box.open)
        return;
    const QString below = node.layer.isEmpty() && !item.is_block() ? tree_->shape_of(item.node) : amounts(item);
    painter.setFont(small);
    painter.setPen(theme.color(Role::secondary));
    painter.drawText(words, Qt::AlignLeft | Qt::AlignBottom,
                     QFontMetricsF(small).elidedText(below, Qt::ElideRight, words.width()));
}

} // namespace espalier
