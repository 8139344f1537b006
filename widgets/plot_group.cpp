// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_group.h"

#include "format.h"
#include "plot_ticker.h"

#include <QActionGroup>
#include <QGridLayout>
#include <QMenu>
#include <QPushButton>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// Of the time between two draws of a stream that drawing may take: the processor is the training's.
constexpr int draw_share = 8; // per cent
constexpr qint64 longest_rest_ms = 400;
constexpr int narrow_group = 860; ///< pixels of two plots beside each other

QPushButton* option(const QString& text, const QString& help) {
    auto* button = new QPushButton(text);
    button->setProperty("kind", "plot");
    button->setToolTip(help);
    button->setAccessibleName(help);
    return button;
}

QString smoothing_words(double weight) {
    return weight > 0 ? PlotGroup::tr("smooth %1").arg(screen_locale().toString(weight)) : PlotGroup::tr("not smooth");
}

} // namespace

PlotGroup::PlotGroup(QWidget* parent) : QWidget(parent) {
    plots_ = {new LivePlot(tr("Loss"), Measure::plain), new LivePlot(tr("Accuracy"), Measure::percent),
              new LivePlot(tr("Memory"), Measure::bytes), new LivePlot(tr("GFLOPS"), Measure::count)};
    loss()->set_head(QStringLiteral("Loss"));
    accuracy()->set_head(QStringLiteral("Accuracy"));
    memory()->set_head(QStringLiteral("Memory"));
    gflops()->set_head(QStringLiteral("GFLOPS"));
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    for (int i = 0; i < 4; ++i) {
        grid->addWidget(plots_[static_cast<std::size_t>(i)], i / 2, i % 2);
        grid->setColumnStretch(i % 2, 1);
        grid->setRowStretch(i / 2, 1);
        connect_plot(plots_[static_cast<std::size_t>(i)]);
    }

    axis_button_ = option(tr("step"), tr("What the horizontal axis counts"));
    auto* axes = new QMenu(axis_button_);
    auto* axis_choice = new QActionGroup(axes);
    for (const auto& [kind, name] :
         {std::pair{AxisKind::step, tr("step")}, {AxisKind::epoch, tr("epoch")}, {AxisKind::time, tr("time")}}) {
        auto* action = axes->addAction(name);
        action->setCheckable(true);
        action->setChecked(kind == kind_);
        axis_choice->addAction(action);
        connect(action, &QAction::triggered, this, [this, kind = kind] { set_axis(kind); });
    }
    axis_button_->setMenu(axes);

    logarithm_button_ = option(tr("log"), tr("Logarithmic loss"));
    logarithm_button_->setCheckable(true);
    connect(logarithm_button_, &QPushButton::toggled, loss(), &LivePlot::set_logarithmic);
    connect(loss(), &LivePlot::logarithmic_changed, logarithm_button_, &QPushButton::setChecked);

    smooth_button_ = option({}, tr("Smoothing of the curves of training"));
    auto* weights = new QMenu(smooth_button_);
    auto* weight_choice = new QActionGroup(weights);
    for (const double weight : {0.0, 0.6, 0.9, 0.98, 0.995, 0.999}) {
        auto* action = weights->addAction(smoothing_words(weight));
        action->setCheckable(true);
        action->setChecked(weight == smoothing_);
        weight_choice->addAction(action);
        connect(action, &QAction::triggered, this, [this, weight] {
            smoothing_ = weight;
            fit_options();
            emit smoothing_changed(weight);
        });
    }
    smooth_button_->setMenu(weights);

    follow_button_ = option(tr("follow"), tr("Show the whole run and follow the newest step"));
    follow_button_->setCheckable(true);
    follow_button_->setChecked(true);
    connect(follow_button_, &QPushButton::clicked, this, [this](bool on) {
        if (on)
            follow();
        else
            show_range(low_, high_);
    });
    for (const auto& [button, name] : {std::pair{axis_button_, "plotAxis"},
                                       {logarithm_button_, "plotLog"},
                                       {smooth_button_, "plotSmooth"},
                                       {follow_button_, "plotFollow"}}) {
        button->setObjectName(QLatin1String(name));
        loss()->add_option(button);
    }
    fit_options();
    drawing_.setInterval(0);
    connect(&drawing_, &QTimer::timeout, this, &PlotGroup::draw_next);
    since_draw_.start();
}

void PlotGroup::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit_options();
}

/// Of a narrow plot the names of the curves keep their room: what its menu has, too, gives way, then words.
void PlotGroup::fit_options() {
    const bool narrow = width() < narrow_group;
    logarithm_button_->setVisible(!narrow);
    smooth_button_->setText(narrow && smoothing_ > 0 ? screen_locale().toString(smoothing_)
                                                     : smoothing_words(smoothing_));
}

void PlotGroup::connect_plot(LivePlot* plot) {
    connect(plot, &LivePlot::range_requested, this, &PlotGroup::show_range);
    connect(plot, &LivePlot::fit_requested, this, &PlotGroup::follow);
    connect(plot, &LivePlot::crosshair_moved, this, [this](std::optional<double> position) {
        for (LivePlot* other : plots_)
            other->set_crosshair(position);
    });
    connect(plot, &LivePlot::action_requested, this, &PlotGroup::action_requested);
    connect(plot, &LivePlot::export_requested, this, [this, plot](bool all) {
        emit export_requested(all ? std::vector<LivePlot*>(plots_.begin(), plots_.end()) : std::vector{plot});
    });
}

void PlotGroup::set_clock(const StepClock* clock) {
    step_ = last_step_ = follow_end_ = 0;
    change_clock(clock);
    follow();
}

void PlotGroup::change_clock(const StepClock* clock) {
    clock_ = clock;
    for (LivePlot* plot : plots_)
        plot->set_clock(clock);
    emit range_changed();
}

void PlotGroup::set_markers(const std::vector<PlotMarker>& markers) {
    for (LivePlot* plot : plots_)
        plot->set_markers(markers);
}

void PlotGroup::set_progress(double step, double last_step) {
    step_ = step;
    last_step_ = last_step;
    if (!following_)
        return;
    // leaps of a third: the axis stands still between them, and ends where the run does
    const double before = follow_end_;
    if (step >= follow_end_ * 0.98 || follow_end_ <= 0)
        follow_end_ = round_up(std::max(step * 1.35, 40.0), Measure::count);
    if (last_step > 0 && (follow_end_ >= last_step * 0.75 || follow_end_ < step))
        follow_end_ = std::max(last_step, step);
    if (follow_end_ != before || kind_ != AxisKind::step)
        apply_range();
}

void PlotGroup::set_axis(AxisKind kind) {
    if (kind == kind_)
        return;
    const double low = clock_ ? clock_->to_step(kind_, low_) : low_;
    const double high = clock_ ? clock_->to_step(kind_, high_) : high_;
    const double end_before = end();
    kind_ = kind;
    axis_button_->setText(kind == AxisKind::step ? tr("step") : kind == AxisKind::epoch ? tr("epoch") : tr("time"));
    for (LivePlot* plot : plots_) {
        plot->set_axis(kind);
        plot->set_crosshair(std::nullopt);
    }
    if (clock_) { // the same stretch of the run, in the other unit
        low_ = clock_->to_axis(kind, low);
        high_ = clock_->to_axis(kind, high);
    } else if (end_before > 0) {
        low_ *= end() / end_before;
        high_ *= end() / end_before;
    }
    apply_range();
    refresh(true);
}

void PlotGroup::set_ends(const std::array<double, 3>& ends) {
    if (ends == ends_)
        return;
    ends_ = ends;
    if (following_)
        apply_range();
}

double PlotGroup::end() const {
    const double step = std::max(follow_end_, step_);
    const double found = clock_ ? clock_->to_axis(kind_, step) : ends_[static_cast<std::size_t>(kind_)];
    return found > 0 ? found : 1;
}

void PlotGroup::follow() {
    following_ = true;
    follow_button_->setChecked(true);
    follow_end_ = 0;
    set_progress(step_, last_step_);
    apply_range();
    refresh(true);
}

void PlotGroup::show_range(double low, double high) {
    const double least = kind_ == AxisKind::epoch ? 0.01 : 4.0;
    const double width = std::clamp(high - low, least, std::max(end() * 1.1, 2 * least));
    // never so far aside that nothing of the run is left to see
    low = std::clamp(low, -width * 0.2, std::max(0.0, end() - width * 0.2));
    following_ = false;
    follow_button_->setChecked(false);
    low_ = low;
    high_ = low + width;
    apply_range();
    refresh(true);
}

void PlotGroup::apply_range() {
    if (following_) {
        low_ = 0;
        high_ = end();
    }
    for (LivePlot* plot : plots_)
        plot->set_range(low_, high_, following_);
    emit range_changed();
}

void PlotGroup::refresh(bool at_once) {
    if (!isVisible() || (!at_once && (drawing_.isActive() || since_draw_.elapsed() < rest_ms_)))
        return;
    waiting_ = plots_.size();
    if (!drawing_.isActive()) {
        cost_ns_ = 0;
        drawing_.start();
    }
}

/// A timer rather than a posted event: those that a handler posts are handled in the same turn.
void PlotGroup::draw_next() {
    QElapsedTimer cost;
    cost.start();
    plots_[next_]->refresh();
    cost_ns_ += cost.nsecsElapsed();
    next_ = (next_ + 1) % plots_.size();
    if (--waiting_ > 0)
        return;
    drawing_.stop();
    rest_ms_ = std::min(longest_rest_ms, cost_ns_ / 1'000'000 * 100 / draw_share);
    since_draw_.restart();
}

} // namespace espalier
