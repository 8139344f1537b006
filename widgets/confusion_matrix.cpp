// SPDX-License-Identifier: GPL-3.0-or-later
#include "confusion_matrix.h"

#include "color.h"
#include "format.h"
#include "tabular.h"
#include "theme.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr int least_cell = 5, largest_cell = 72; ///< pixels, at zoom 1
constexpr int longest_name = 118;                ///< pixels
constexpr int line = 14;                         ///< least distance of two names
constexpr int gap = 6;
constexpr int title = 16; ///< height of "predicted" and width of "truth"
constexpr double largest_zoom = 8;

} // namespace

ConfusionMatrix::ConfusionMatrix(QWidget* parent) : QAbstractScrollArea(parent) {
    setAccessibleName(tr("Confusion matrix"));
    setFrameShape(NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    horizontalScrollBar()->setSingleStep(24);
    verticalScrollBar()->setSingleStep(24);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void ConfusionMatrix::set_counts(ConfusionCounts counts) {
    const bool other = counts.classes != counts_.classes;
    counts_ = std::move(counts);
    const auto size = static_cast<std::size_t>(classes());
    row_sums_.assign(size, 0);
    column_sums_.assign(size, 0);
    for (std::size_t truth = 0; truth < size; ++truth)
        for (std::size_t predicted = 0; predicted < size; ++predicted) {
            row_sums_[truth] += counts_.counts[truth * size + predicted];
            column_sums_[predicted] += counts_.counts[truth * size + predicted];
        }
    if (other) {
        current_.reset();
        zoom_ = 1;
    }
    pointed_.reset();
    measure();
}

void ConfusionMatrix::set_scale(Scale scale) {
    scale_ = scale;
    viewport()->update();
}

void ConfusionMatrix::set_current(int truth, int predicted) {
    current_ = QPoint(predicted, truth);
    viewport()->update();
}

QString ConfusionMatrix::describe(int truth, int predicted) const {
    const auto& names = counts_.classes;
    const qint64 count = counts_.at(truth, predicted);
    const auto all = row_sums_[static_cast<std::size_t>(truth)];
    const QString of_class =
        all > 0 ? format_percent(static_cast<double>(count) / static_cast<double>(all)) : QStringLiteral("–");
    return truth == predicted ? tr("%1: %2 of %3 images told right (%4)")
                                    .arg(names[truth], format_count(static_cast<double>(count)),
                                         format_count(static_cast<double>(all)), of_class)
                              : tr("%1 taken for %2: %3 of %4 images (%5)")
                                    .arg(names[truth], names[predicted], format_count(static_cast<double>(count)),
                                         format_count(static_cast<double>(all)), of_class);
}

double ConfusionMatrix::share(int truth, int predicted) const {
    const qint64 all = scale_ == Scale::columns ? column_sums_[static_cast<std::size_t>(predicted)]
                                                : row_sums_[static_cast<std::size_t>(truth)];
    return all > 0 ? static_cast<double>(counts_.at(truth, predicted)) / static_cast<double>(all) : 0;
}

/// Sizes of cells and names, and the scroll bars.
void ConfusionMatrix::measure() {
    const QFontMetrics metrics(Theme::instance().font(TextSize::small));
    int widest = 0;
    for (const QString& name : counts_.classes)
        widest = std::max(widest, metrics.horizontalAdvance(name));
    const int names = std::min(widest + 1, longest_name) + gap; // an advance that is rounded down has no room in itself
    left_ = title + names;
    top_ = title + names;
    const int count = std::max(1, classes());
    const QSize seen = maximumViewportSize();
    const int high = std::clamp((seen.height() - top_ - 2) / count, least_cell, largest_cell);
    // Wider than high where there is room: numbers are.
    const int wide = std::clamp((seen.width() - left_ - 2) / count, least_cell, 2 * high);
    cell_ = QSize(static_cast<int>(wide * zoom_), static_cast<int>(std::min(high, wide) * zoom_));
    const QSize whole = cell_ * count;
    horizontalScrollBar()->setPageStep(seen.width() - left_);
    horizontalScrollBar()->setRange(0, std::max(0, left_ + whole.width() + 2 - seen.width()));
    verticalScrollBar()->setPageStep(seen.height() - top_);
    verticalScrollBar()->setRange(0, std::max(0, top_ + whole.height() + 2 - seen.height()));
    viewport()->update();
}

QRect ConfusionMatrix::cell_rect(int truth, int predicted) const {
    return {QPoint(left_ + predicted * cell_.width() - horizontalScrollBar()->value(),
                   top_ + truth * cell_.height() - verticalScrollBar()->value()),
            cell_};
}

std::optional<QPoint> ConfusionMatrix::cell_at(const QPoint& position) const {
    if (position.x() < left_ || position.y() < top_ || classes() == 0)
        return std::nullopt;
    const QPoint cell((position.x() - left_ + horizontalScrollBar()->value()) / cell_.width(),
                      (position.y() - top_ + verticalScrollBar()->value()) / cell_.height());
    return cell.x() < classes() && cell.y() < classes() ? std::optional(cell) : std::nullopt;
}

void ConfusionMatrix::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    if (classes() == 0)
        return;
    painter.setFont(Theme::instance().font(TextSize::small));
    paint_names(painter);
    paint_cells(painter);
}

void ConfusionMatrix::paint_names(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const QFontMetrics metrics = painter.fontMetrics();
    // Where names would touch, some are left out.
    const int row_stride = (line + cell_.height() - 1) / cell_.height(),
              column_stride = (line + cell_.width() - 1) / cell_.width();
    const int room = left_ - title - gap;
    const auto color = [&](std::optional<int> marked, int i) {
        return theme.color(marked == i ? Role::text : Role::secondary);
    };
    const auto marked = pointed_ ? pointed_ : hasFocus() ? current_ : std::nullopt;
    const auto row = marked ? std::optional(marked->y()) : std::nullopt;
    const auto column = marked ? std::optional(marked->x()) : std::nullopt;
    const QSize seen = viewport()->size();

    painter.save();
    painter.setClipRect(0, top_, left_, seen.height());
    for (int i = 0; i < classes(); i += row_stride) {
        const int y = cell_rect(i, 0).y();
        if (y + cell_.height() * row_stride < top_ || y > seen.height())
            continue;
        painter.setPen(color(row, i));
        painter.drawText(QRect(title, y, room, cell_.height() * std::min(row_stride, 2)),
                         Qt::AlignRight | Qt::AlignVCenter,
                         metrics.elidedText(counts_.classes[i], Qt::ElideRight, room));
    }
    painter.setClipRect(left_, 0, seen.width(), top_);
    for (int i = 0; i < classes(); i += column_stride) {
        const int x = cell_rect(0, i).x();
        if (x + cell_.width() * column_stride < left_ || x > seen.width())
            continue;
        painter.setPen(color(column, i));
        painter.save();
        painter.translate(x, top_ - gap);
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, room, cell_.width() * std::min(column_stride, 2)),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(counts_.classes[i], Qt::ElideRight, room));
        painter.restore();
    }
    painter.restore();

    painter.setPen(theme.color(Role::hint));
    painter.drawText(QRect(left_, 0, seen.width() - left_, title), Qt::AlignLeft | Qt::AlignTop, tr("predicted →"));
    painter.save();
    painter.translate(0, std::min(seen.height(), cell_rect(classes() - 1, 0).bottom() + 1));
    painter.rotate(-90);
    const int height = std::min(seen.height(), cell_rect(classes() - 1, 0).bottom() + 1) - top_;
    painter.drawText(QRect(0, 0, height, title), Qt::AlignRight | Qt::AlignTop, tr("← truth"));
    painter.restore();
}

void ConfusionMatrix::paint_cells(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const QColor ground = theme.color(Role::panel), right = theme.color(Role::series1),
                 wrong = theme.color(Role::series2), grid = theme.color(Role::inner_border);
    const QFontMetrics metrics = painter.fontMetrics();
    const QSize seen = viewport()->size();
    const int gutter = cell_.height() >= 12 ? 1 : 0;
    painter.setClipRect(left_, top_, seen.width() - left_, seen.height() - top_);
    const int first_row = verticalScrollBar()->value() / cell_.height(),
              first_column = horizontalScrollBar()->value() / cell_.width();
    const int last_row = std::min(classes() - 1, first_row + seen.height() / cell_.height() + 1),
              last_column = std::min(classes() - 1, first_column + seen.width() / cell_.width() + 1);
    painter.fillRect(QRect(cell_rect(0, 0).topLeft(), cell_ * classes()), gutter ? ground : theme.color(Role::window));
    for (int truth = first_row; truth <= last_row; ++truth)
        for (int predicted = first_column; predicted <= last_column; ++predicted) {
            const QRect box = cell_rect(truth, predicted).adjusted(0, 0, -gutter, -gutter);
            const qint64 count = counts_.at(truth, predicted);
            if (count == 0) {
                if (gutter)
                    painter.fillRect(box, truth == predicted ? grid : theme.color(Role::window));
                continue;
            }
            const double part = share(truth, predicted);
            // A few wrong ones among many must be seen too: the root, and never quite the ground.
            const auto [color, ink] =
                legible(mixed(truth == predicted ? right : wrong, ground, 0.12 + 0.88 * std::sqrt(part)));
            painter.fillRect(box, color);
            const QString text = scale_ == Scale::counts ? format_count(static_cast<double>(count))
                                                         : screen_locale().toString(100 * part, 'f', 0);
            if (cell_.height() < 14 || tabular_width(metrics, text) > box.width() - 2)
                continue;
            painter.setPen(ink);
            draw_tabular(painter, box, Qt::AlignCenter, text);
        }
    const auto frame = [&](const std::optional<QPoint>& cell, Role role, int width) {
        if (!cell)
            return;
        painter.setPen(QPen(theme.color(role), width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(cell_rect(cell->y(), cell->x()).adjusted(0, 0, -1, -1));
    };
    frame(pointed_, Role::hint, 1);
    frame(current_, hasFocus() ? Role::text : Role::secondary, 2);
}

void ConfusionMatrix::resizeEvent(QResizeEvent*) { measure(); }

void ConfusionMatrix::point_at(std::optional<QPoint> cell) {
    if (cell == pointed_)
        return;
    pointed_ = cell;
    viewport()->update();
    const auto told = pointed_ ? pointed_ : current_;
    emit cell_pointed(told ? told->y() : -1, told ? told->x() : -1);
}

void ConfusionMatrix::mouseMoveEvent(QMouseEvent* event) { point_at(cell_at(event->position().toPoint())); }

void ConfusionMatrix::mousePressEvent(QMouseEvent* event) {
    const auto cell = cell_at(event->position().toPoint());
    if (event->button() != Qt::LeftButton || !cell)
        return;
    move_current(cell->y(), cell->x());
    emit cell_chosen(cell->y(), cell->x());
}

void ConfusionMatrix::move_current(int truth, int predicted) {
    if (classes() == 0)
        return;
    current_ = QPoint(std::clamp(predicted, 0, classes() - 1), std::clamp(truth, 0, classes() - 1));
    const QRect box = cell_rect(current_->y(), current_->x());
    const auto bring = [](QScrollBar* bar, int low, int high, int begin, int end) {
        if (low < begin)
            bar->setValue(bar->value() + low - begin);
        else if (high > end)
            bar->setValue(bar->value() + high - end);
    };
    bring(horizontalScrollBar(), box.left(), box.right(), left_, viewport()->width());
    bring(verticalScrollBar(), box.top(), box.bottom(), top_, viewport()->height());
    setAccessibleDescription(describe(current_->y(), current_->x()));
    QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
    viewport()->update();
    emit cell_pointed(current_->y(), current_->x());
}

void ConfusionMatrix::keyPressEvent(QKeyEvent* event) {
    const QPoint at = current_.value_or(QPoint(-1, -1));
    const auto go = [&](int rows, int columns) {
        if (current_)
            move_current(at.y() + rows, at.x() + columns);
        else
            move_current(0, 0);
    };
    switch (event->key()) {
    case Qt::Key_Left:
        return go(0, -1);
    case Qt::Key_Right:
        return go(0, 1);
    case Qt::Key_Up:
        return go(-1, 0);
    case Qt::Key_Down:
        return go(1, 0);
    case Qt::Key_Home:
        return move_current(0, 0);
    case Qt::Key_End:
        return move_current(classes() - 1, classes() - 1);
    case Qt::Key_Plus:
        return zoom(1.25);
    case Qt::Key_Minus:
        return zoom(0.8);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current_)
            emit cell_chosen(at.y(), at.x());
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void ConfusionMatrix::zoom(double factor) {
    const QSize before = cell_;
    zoom_ = std::clamp(zoom_ * factor, 1.0, largest_zoom);
    measure();
    // The middle of what is seen stays there.
    const auto keep = [](QScrollBar* bar, double now, double then) {
        bar->setValue(static_cast<int>((bar->value() + bar->pageStep() / 2.0) * now / then - bar->pageStep() / 2.0));
    };
    keep(horizontalScrollBar(), cell_.width(), before.width());
    keep(verticalScrollBar(), cell_.height(), before.height());
}

void ConfusionMatrix::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ControlModifier) {
        zoom(event->angleDelta().y() > 0 ? 1.25 : 0.8);
        event->accept();
    } else {
        QAbstractScrollArea::wheelEvent(event);
    }
}

void ConfusionMatrix::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    if (!current_ && event->reason() != Qt::MouseFocusReason)
        move_current(0, 0); // where the keys begin
    viewport()->update();
}

void ConfusionMatrix::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

bool ConfusionMatrix::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave)
        point_at(std::nullopt);
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const auto cell = cell_at(help->pos()))
            QToolTip::showText(help->globalPos(), describe(cell->y(), cell->x()), viewport());
        else
            QToolTip::hideText();
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace espalier
