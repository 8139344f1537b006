// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_overlay.h"

#include "series_tag.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr double dot_height = 4; ///< of a marker's dot below the upper edge
constexpr double reach = 6;      ///< pixels from a marker at which its story is told
} // namespace

PlotOverlay::PlotOverlay(QCPAxisRect* area) : QCPLayerable(area->parentPlot(), QStringLiteral("axes")), area_(area) {}

void PlotOverlay::applyDefaultAntialiasingHint(QCPPainter* painter) const { painter->setAntialiasing(true); }

const PlotMarker* PlotOverlay::marker_at(const QPointF& pixel) const {
    const QCPAxis* x = area_->axis(QCPAxis::atBottom);
    const PlotMarker* found = nullptr;
    double best = reach;
    for (std::size_t i = 0; i < marker_positions.size(); ++i) {
        const double distance = std::abs(x->coordToPixel(marker_positions[i]) - pixel.x());
        if (distance <= best) {
            best = distance;
            found = &markers[i];
        }
    }
    return found;
}

QString PlotOverlay::not_positive_text() { return tr("Values of 0 or below are not on a logarithmic axis"); }

void PlotOverlay::draw(QCPPainter* painter) {
    const Theme& theme = Theme::instance();
    const QRectF area = area_->rect();
    const QCPAxis* x = area_->axis(QCPAxis::atBottom);
    const QCPAxis* y = area_->axis(QCPAxis::atLeft);
    const auto column = [&](double position) { return x->coordToPixel(position); };
    const auto inside = [&](double pixel) { return pixel >= area.left() - 0.5 && pixel <= area.right() + 1.5; };

    double drawn = -1;
    for (std::size_t i = 0; i < marker_positions.size(); ++i) {
        const double at = column(marker_positions[i]);
        if (!inside(at) || std::abs(at - drawn) < 1) // those of a long run stand in the same column
            continue;
        drawn = at;
        const QColor color = theme.color(markers[i].role);
        QPen dotted(color, 1);
        dotted.setDashPattern({1.5, 2.5});
        painter->setPen(dotted);
        painter->drawLine(QPointF(at, area.top() + dot_height), QPointF(at, area.bottom()));
        painter->setPen(Qt::NoPen);
        painter->setBrush(color);
        painter->drawEllipse(QPointF(at, area.top() + dot_height), 3.5, 3.5);
    }
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.color(Role::fault));
    for (const double position : not_finite) {
        const double at = column(position);
        if (inside(at))
            painter->drawPolygon(QPolygonF{{at - 4, area.bottom()}, {at + 4, area.bottom()}, {at, area.bottom() - 7}});
    }
    if (!not_positive.empty()) {
        painter->setPen(QPen(theme.color(Role::attention), 1));
        painter->setBrush(Qt::NoBrush);
        double last = -1;
        for (const double position : not_positive) {
            const double at = column(position);
            if (!inside(at) || std::abs(at - last) < 4)
                continue;
            last = at;
            painter->drawPolygon(
                QPolygonF{{at - 3, area.bottom() - 6}, {at + 3, area.bottom() - 6}, {at, area.bottom()}});
        }
        painter->setFont(theme.font(TextSize::small));
        painter->drawText(QRectF(area.left() + 4, area.bottom() - 24, area.width() - 8, 16),
                          Qt::AlignRight | Qt::AlignVCenter, not_positive_text());
    }
    if (limit && y->range().contains(*limit)) {
        const double at = y->coordToPixel(*limit);
        QPen dashed(theme.color(Role::fault), 1);
        dashed.setDashPattern({5, 3});
        painter->setPen(dashed);
        painter->drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        painter->setFont(theme.font(TextSize::small));
        const double height = painter->fontMetrics().height();
        const double top = at - height - 1 < area.top() ? at + 2 : at - height - 1;
        painter->drawText(QRectF(area.left(), top, area.width(), height), Qt::AlignRight | Qt::AlignVCenter,
                          limit_text);
    }
    for (const CurveTag& tag : tags)
        if (inside(column(tag.position)))
            draw_tag(*painter,
                     {column(tag.position), std::clamp(y->coordToPixel(tag.value), area.top(), area.bottom())},
                     tag.number);
    if (is_empty) {
        painter->setPen(theme.color(Role::hint));
        painter->setFont(theme.font(TextSize::normal));
        if (has_button)
            painter->drawText(QRectF(area.left(), area.top(), area.width(), area.height() / 2 - 4),
                              Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, empty_text);
        else
            painter->drawText(area, Qt::AlignCenter | Qt::TextWordWrap, empty_text);
    }
}

PlotCrosshair::PlotCrosshair(QCPAxisRect* area)
    : QCPLayerable(area->parentPlot(), QStringLiteral("overlay")), area_(area) {}

void PlotCrosshair::applyDefaultAntialiasingHint(QCPPainter* painter) const { painter->setAntialiasing(false); }

void PlotCrosshair::draw(QCPPainter* painter) {
    if (!position)
        return;
    const QRectF area = area_->rect();
    const double at = std::round(area_->axis(QCPAxis::atBottom)->coordToPixel(*position));
    if (at < area.left() || at > area.right() + 1)
        return;
    painter->setPen(QPen(Theme::instance().color(Role::hint), 1));
    painter->drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
}

} // namespace espalier
