// SPDX-License-Identifier: GPL-3.0-or-later
#include "live_plot.h"

#include "color.h"
#include "format.h"
#include "logarithmic_ticker.h"
#include "plot_header.h"
#include "plot_ticker.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

namespace espalier {

namespace {

constexpr int pixels_a_tick = 24, least_vertical_ticks = 2, most_vertical_ticks = 4;
constexpr double pen_width = 1.5;               ///< logical pixels
constexpr QMargins axis_margins(52, 9, 14, 20); ///< fixed, so that no plot's area moves as its numbers grow
/// A dashed line is stroked as a whole, which takes long where it has many points: it gets one point for so many
/// pixels.
constexpr int pixels_a_dash_point = 4;

Measure axis_measure(AxisKind kind) {
    return kind == AxisKind::step ? Measure::step : kind == AxisKind::epoch ? Measure::epoch : Measure::time;
}

QString value_text(double value, Measure measure) {
    switch (measure) {
    case Measure::percent:
        return format_percent(value);
    case Measure::bytes:
        return format_bytes(value);
    case Measure::count:
        return format_count(value);
    default:
        return format_loss(value);
    }
}

} // namespace

LivePlot::LivePlot(const QString& title, Measure measure, QWidget* parent)
    : QFrame(parent), title_(title), measure_(measure), plot_(new QCustomPlot(this)), header_(new PlotHeader(this)) {
    setProperty("card", true);
    setFocusPolicy(Qt::StrongFocus);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 0, 12, 0);
    top->setSpacing(2);
    top->addWidget(header_, 1);
    options_ = new QHBoxLayout;
    options_->setSpacing(2);
    top->addLayout(options_);
    build_menu();
    top->addWidget(menu_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 8, 1, 6);
    column->setSpacing(2);
    column->addLayout(top);
    column->addWidget(plot_, 1);

    way_on_ = new QPushButton(plot_);
    way_on_->setObjectName(QStringLiteral("emptyPlot"));
    way_on_->hide();
    connect(way_on_, &QPushButton::clicked, this,
            [this] { emit action_requested(way_on_->property("command").toString()); });
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setPlottingHint(QCP::phFastPolylines, true); // pens wider than 1 take seconds without it
    plot_->setPlottingHint(QCP::phCacheLabels, true);
    plot_->setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid);
    plot_->setNoAntialiasingOnDrag(false);
    plot_->axisRect()->setAutoMargins(QCP::msNone);
    plot_->axisRect()->setMargins(axis_margins);
    plot_->xAxis->setTicker(QSharedPointer<PlotTicker>::create(Measure::step));
    plot_->yAxis->setTicker(QSharedPointer<PlotTicker>::create(measure));
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->ticker()->setTickCount(4);
        axis->setTickLength(0);
        axis->setSubTicks(false);
        axis->setTickLabelPadding(6);
        axis->setBasePen(Qt::NoPen);
        axis->setTickPen(QPen(Qt::transparent)); // no pen at all becomes a dot in exported pictures
    }
    plot_->xAxis->grid()->setVisible(false);
    plot_->yAxis->grid()->setZeroLinePen(Qt::NoPen);
    plot_->yAxis->setNumberFormat(QStringLiteral("g"));
    plot_->yAxis2->setRange(0, 1); // of shares; not shown
    overlay_ = new PlotOverlay(plot_->axisRect());
    crosshair_ = new PlotCrosshair(plot_->axisRect());
    plot_->installEventFilter(this);
    plot_->setMouseTracking(true);
    set_title(title);
    apply_theme();
    connect(&Theme::instance(), &Theme::changed, this, &LivePlot::apply_theme);
}

void LivePlot::build_menu() {
    menu_ = new QPushButton(QStringLiteral("…"));
    menu_->setProperty("kind", "plot");
    menu_->setObjectName(QStringLiteral("plotMenu"));
    auto* menu = new QMenu(menu_);
    logarithm_ = menu->addAction(tr("Logarithmic axis"));
    logarithm_->setCheckable(true);
    connect(logarithm_, &QAction::toggled, this, &LivePlot::set_logarithmic);
    menu->addSeparator();
    connect(menu->addAction(tr("Export this plot…")), &QAction::triggered, this,
            [this] { emit export_requested(false); });
    connect(menu->addAction(tr("Export all plots…")), &QAction::triggered, this,
            [this] { emit export_requested(true); });
    menu_->setMenu(menu);
}

void LivePlot::set_title(const QString& title) {
    title_ = title;
    setAccessibleName(tr("%1 plot").arg(title));
    menu_->setAccessibleName(tr("Options of the plot %1").arg(title));
    menu_->setToolTip(tr("Logarithmic axis, export"));
    header_->set_title(title);
}

void LivePlot::set_curves(std::vector<Curve> curves) {
    curves_ = std::move(curves);
    plot_->clearGraphs();
    graphs_.clear();
    for (const Curve& curve : curves_) {
        QCPGraph* graph = plot_->addGraph(plot_->xAxis, curve.of_whole ? plot_->yAxis2 : plot_->yAxis);
        graph->setAdaptiveSampling(false); // the series reduces itself
        if (curve.shape == Curve::Shape::area)
            graph->setLineStyle(QCPGraph::lsStepLeft);
        graphs_.push_back(graph);
    }
    header_->set_curves(curves_);
    style_graphs();
}

void LivePlot::apply_theme() {
    const Theme& theme = Theme::instance();
    const QColor panel = theme.color(Role::panel);
    plot_->setBackground(panel);
    plot_->axisRect()->setBackground(Qt::NoBrush);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->setTickLabelFont(theme.font(TextSize::small));
        axis->setTickLabelColor(theme.color(Role::hint));
        axis->grid()->setPen(QPen(theme.color(Role::grid), 1));
    }
    style_graphs();
    if (plot_->xAxis->range().size() > 0)
        plot_->replot(QCustomPlot::rpQueuedReplot);
}

void LivePlot::style_graphs() {
    const Theme& theme = Theme::instance();
    const QColor panel = theme.color(Role::panel);
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
        const Curve& curve = curves_[i];
        const QColor color = theme.color(curve.role);
        QPen pen(color, pen_width);
        switch (curve.shape) {
        case Curve::Shape::line:
            break;
        case Curve::Shape::dash:
            pen.setDashPattern({4, 2.4});
            break;
        case Curve::Shape::faint:
            pen = QPen(mixed(color, panel, 0.38), 1);
            break;
        case Curve::Shape::area:
            graphs_[i]->setBrush(mixed(color, panel, 0.72));
            pen = QPen(Qt::NoPen);
            break;
        }
        graphs_[i]->setPen(pen);
    }
}

void LivePlot::set_clock(const StepClock* clock) { clock_ = clock; }

void LivePlot::set_axis(AxisKind kind) {
    kind_ = kind;
    plot_->xAxis->setTicker(QSharedPointer<PlotTicker>::create(axis_measure(kind)));
    plot_->xAxis->ticker()->setTickCount(4);
}

void LivePlot::set_range(double low, double high, bool following) {
    following_ = following;
    plot_->xAxis->setRange(low, high);
}

void LivePlot::set_markers(std::vector<PlotMarker> markers) {
    overlay_->markers = std::move(markers);
    place_markers(); // a layout may draw before the next refresh
}

void LivePlot::place_markers() {
    overlay_->marker_positions.clear();
    for (const PlotMarker& marker : overlay_->markers)
        overlay_->marker_positions.push_back(clock_ ? clock_->to_axis(kind_, marker.position) : marker.position);
}

void LivePlot::set_limit(std::optional<double> value, const QString& text) {
    limit_ = value;
    overlay_->limit = value;
    overlay_->limit_text = text;
}

void LivePlot::set_logarithmic(bool on) {
    if (on == logarithmic_)
        return;
    logarithmic_ = on;
    logarithm_->setChecked(on);
    plot_->yAxis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (on)
        plot_->yAxis->setTicker(QSharedPointer<LogarithmicTicker>::create(measure_));
    else
        plot_->yAxis->setTicker(QSharedPointer<PlotTicker>::create(measure_));
    plot_->yAxis->setNumberFormat(on ? QStringLiteral("gb") : QStringLiteral("g")); // b: powers of ten stand high
    plot_->yAxis->setSubTicks(false);
    refresh();
    emit logarithmic_changed(on);
}

void LivePlot::set_note(const QStringList& forms) {
    note_ = forms;
    if (!crosshair_->position)
        header_->set_note(note_);
}

QString LivePlot::note() const { return header_->note(); }

void LivePlot::set_empty(const QString& text, const QString& title, const QString& action) {
    overlay_->empty_text = text;
    overlay_->has_button = !title.isEmpty();
    way_on_->setText(title);
    way_on_->setProperty("command", action);
    place_way_on();
}

void LivePlot::place_way_on() {
    const QSize size = way_on_->sizeHint();
    const QPoint middle = plot_->axisRect()->rect().center();
    way_on_->setGeometry(QRect(QPoint(middle.x() - size.width() / 2, middle.y() + 4), size));
    way_on_->setVisible(overlay_->is_empty && overlay_->has_button);
}

void LivePlot::add_option(QWidget* control) { options_->addWidget(control); }

double LivePlot::plot_width() const { return plot_->axisRect()->width(); }

QRect LivePlot::plot_area() const { return plot_->axisRect()->rect().translated(plot_->pos()); }

void LivePlot::set_crosshair(std::optional<double> position) {
    if (position == crosshair_->position)
        return;
    crosshair_->position = position;
    header_->set_note(position ? readout(*position) : note_);
    if (hasFocus()) // it is moved by keys: a screen reader follows
        describe();
    plot_->layer(QStringLiteral("overlay"))->replot();
}

Measure LivePlot::measure_of(const Curve& curve) const { return curve.of_whole ? Measure::percent : measure_; }

QString LivePlot::position_text(double position) const {
    position = std::max(0.0, position);
    if (clock_ || kind_ == AxisKind::step)
        return tr("step %1").arg(format_count(std::round(clock_ ? clock_->to_step(kind_, position) : position)));
    return kind_ == AxisKind::epoch ? tr("epoch %1").arg(screen_locale().toString(position, 'f', 2))
                                    : format_clock(position);
}

QStringList LivePlot::readout(double position) const {
    QStringList parts, values;
    for (const Curve& curve : curves_) {
        if (curve.shape == Curve::Shape::faint || curve.series->empty())
            continue;
        const double step = clock_of(curve) ? clock_of(curve)->to_step(kind_, position) : position;
        const std::size_t index = curve.series->index_at(step);
        if (index >= curve.series->size() || (curve.shape == Curve::Shape::area && !parts.isEmpty()))
            continue;
        values.append(value_text(curve.series->value_at(index), measure_of(curve)));
        parts.append(curve.shape == Curve::Shape::area ? tr("total %1").arg(values.last())
                     : curve.tag > 0 ? QStringLiteral("%1: %2").arg(curve.tag).arg(values.last())
                                     : QStringLiteral("%1 %2").arg(curve.name, values.last()));
    }
    if (parts.isEmpty())
        return {};
    const QString between = QStringLiteral(" · ");
    return {(QStringList(position_text(position)) + parts).join(between), parts.join(between), values.join(between)};
}

std::pair<double, double> LivePlot::visible_steps(const Curve& curve) const {
    const QCPRange range = plot_->xAxis->range();
    const StepClock* clock = clock_of(curve);
    return clock ? std::pair(clock->to_step(kind_, range.lower), clock->to_step(kind_, range.upper))
                 : std::pair(range.lower, range.upper);
}

void LivePlot::set_data() {
    const int columns = std::max(1, plot_->axisRect()->width());
    std::vector<Sample> bad;
    overlay_->not_finite.clear();
    overlay_->not_positive.clear();
    least_positive_ = 0;
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
        const Curve& curve = curves_[i];
        const auto [low, high] = visible_steps(curve);
        const auto to_axis = [this, clock = clock_of(curve)](double step) {
            return clock ? clock->to_axis(kind_, step) : step;
        };
        curve.series->reduce(low, high, curve.shape == Curve::Shape::dash ? columns / pixels_a_dash_point : columns,
                             samples_);
        QVector<QCPGraphData> points;
        points.reserve(static_cast<qsizetype>(samples_.size()));
        bool off = false; // the sample before had no place on a logarithmic axis
        for (const Sample& sample : samples_) {
            const double at = to_axis(sample.step);
            if (logarithmic_ && !curve.of_whole && sample.value <= 0) {
                overlay_->not_positive.push_back(at);
                if (std::exchange(off, true)) // one alone is left out, a stretch breaks the line
                    points.append(QCPGraphData(at, qQNaN()));
                continue;
            }
            off = false;
            if (sample.value > 0 && !curve.of_whole && (least_positive_ <= 0 || sample.value < least_positive_))
                least_positive_ = sample.value;
            points.append(QCPGraphData(at, sample.value));
        }
        graphs_[i]->data()->set(points, true);
        if (const MetricSeries& marks = curve.marks ? *curve.marks : *curve.series; marks.has_non_finite()) {
            marks.non_finite(low, high, columns / 8, bad);
            for (const Sample& sample : bad)
                overlay_->not_finite.push_back(to_axis(sample.step));
        }
        // one value alone has no line: a dot shows that it is there
        const bool alone = samples_.size() == 1 && curve.shape != Curve::Shape::area;
        graphs_[i]->setScatterStyle(alone ? QCPScatterStyle(QCPScatterStyle::ssDisc, 5) : QCPScatterStyle());
    }
    place_markers();
    place_tags();
}

/// Each number at another place along its curve, so that those of curves that end together do not cover each other.
void LivePlot::place_tags() {
    overlay_->tags.clear();
    int count = 0, index = 0;
    for (const Curve& curve : curves_)
        count = std::max(count, curve.tag);
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
        const auto& points = *graphs_[i]->data();
        if (curves_[i].tag == 0 || curves_[i].shape == Curve::Shape::faint || points.isEmpty())
            continue;
        const QCPRange range = plot_->xAxis->range();
        const double first = std::max(range.lower, points.constBegin()->key);
        const double last = std::min(range.upper, (points.constEnd() - 1)->key);
        const double share = (curves_[i].tag - 0.5 + 0.25 * (index++ % 2)) / (count + 0.5);
        const auto point = points.findBegin(first + (last - first) * share, false);
        if (point != points.constEnd() && std::isfinite(point->value))
            overlay_->tags.push_back({point->key, point->value, curves_[i].tag});
    }
}

void LivePlot::set_vertical_range() {
    Extent extent;
    for (const Curve& curve : curves_)
        if (!curve.of_whole) {
            const auto [low, high] = visible_steps(curve);
            extent.add(curve.series->extent(low, high));
        }
    if (extent.empty) {
        plot_->yAxis->setRange(logarithmic_ ? 0.01 : 0, measure_ == Measure::bytes ? 1024. * 1024 * 1024 : 1);
        return;
    }
    if (logarithmic_) {
        const double bottom = least_positive_ > 0 ? least_positive_ : 1e-3;
        plot_->yAxis->setRange(std::pow(10, std::floor(std::log10(bottom) * 2) / 2),
                               std::pow(10, std::ceil(std::log10(std::max(extent.high, bottom * 2)) * 2) / 2));
        return;
    }
    const bool areas = !curves_.empty() && curves_.front().shape == Curve::Shape::area;
    if (following_ || areas) {
        double top = extent.high;
        if (limit_ && areas && *limit_ < top * 2) // a limit far above would flatten what is below it
            top = std::max(top, *limit_ * 1.02);
        top = measure_ == Measure::percent ? std::max(1.0, top) : round_up(std::max(top * 1.02, 1e-12), measure_);
        plot_->yAxis->setRange(std::min(0.0, extent.low), top);
        return;
    }
    const double margin = std::max((extent.high - extent.low) * 0.06, std::abs(extent.high) * 1e-3 + 1e-9);
    plot_->yAxis->setRange(extent.low - margin, extent.high + margin);
}

void LivePlot::refresh(bool at_once) {
    set_data();
    set_vertical_range();
    plot_->yAxis->ticker()->setTickCount(
        std::clamp(plot_->axisRect()->height() / pixels_a_tick, least_vertical_ticks, most_vertical_ticks));
    bool empty = true;
    for (const Curve& curve : curves_)
        empty = empty && curve.series->empty();
    plot_->xAxis->setTickLabels(!empty);
    plot_->yAxis->setTickLabels(!empty);
    overlay_->is_empty = empty;
    place_way_on();
    if (at_once)
        plot_->replot(QCustomPlot::rpImmediateRefresh);
    else
        plot_->replot(QCustomPlot::rpRefreshHint);
    if (crosshair_->position)
        header_->set_note(readout(*crosshair_->position));
    describe();
}

void LivePlot::describe() {
    QStringList parts;
    for (const Curve& curve : curves_)
        if (curve.shape != Curve::Shape::faint && !curve.series->empty()) {
            const QString name = curve.run.isEmpty() ? curve.name : QStringLiteral("%1: %2").arg(curve.run, curve.name);
            parts.append(QStringLiteral("%1 %2").arg(
                name, value_text(curve.series->value_at(curve.series->size() - 1), measure_of(curve))));
        }
    if (!overlay_->not_positive.empty())
        parts.append(overlay_->not_positive_text());
    if (crosshair_->position)
        parts.append(readout(*crosshair_->position).value(0));
    const QString text = parts.isEmpty() ? tr("No values yet") : parts.join(QStringLiteral(", "));
    if (text != accessibleDescription())
        setAccessibleDescription(text);
}

void LivePlot::render_to(QCPPainter& painter) {
    refresh(); // its turn to be drawn may not have come yet
    const QMargins margins = layout()->contentsMargins();
    const QColor panel = Theme::instance().color(Role::panel);
    painter.fillRect(rect(), panel);
    painter.save();
    painter.translate(header_->mapTo(this, QPoint(0, 0)));
    header_->draw(painter, QSize(width() - header_->x() - margins.right() - 12, header_->height()));
    painter.restore();
    painter.save();
    painter.translate(plot_->pos());
    const auto position = std::exchange(crosshair_->position, std::nullopt);
    plot_->toPainter(&painter, plot_->width(), plot_->height());
    crosshair_->position = position;
    painter.restore();
}

void LivePlot::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange)
        apply_theme();
    QFrame::changeEvent(event);
}

} // namespace espalier
