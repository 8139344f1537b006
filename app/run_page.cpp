// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_page.h"

#include "format.h"
#include "layers_view.h"
#include "metric_tile.h"
#include "network_view.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "progress_header.h"
#include "results_view.h"
#include "run_title.h"
#include "setup_view.h"
#include "state_band.h"
#include "toggle_words.h"
#include "worker/protocol.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <cmath>

namespace espalier {

namespace {

constexpr int log_budget_ms = 5; ///< of a tick
constexpr int page_smoothing_ms = 15;
constexpr int card_inset = 15; ///< 16 with the border

/// Which way the mean of a series moved over the last tenth of the run; nothing if it hardly did.
int direction(const MetricSeries& series) {
    const std::size_t size = series.size();
    const std::size_t back = std::max<std::size_t>(10, size / 10);
    if (size < back + 5)
        return 0;
    const double now = series.value_at(size - 1), then = series.value_at(size - 1 - back);
    if (!std::isfinite(now) || !std::isfinite(then) ||
        std::abs(now - then) < 0.004 * std::max(std::abs(now), std::abs(then)))
        return 0;
    return now > then ? 1 : -1;
}

/// Memory by what it is for, and who else has some.
QString memory_story(const Json& sizes) {
    QStringList lines;
    for (const auto& [key, text] : {std::pair{"weights", RunPage::tr("Weights: %1")},
                                    {"optimizer", RunPage::tr("Optimizer: %1")},
                                    {"activations", RunPage::tr("Activations: %1")},
                                    {"workspace", RunPage::tr("Workspace: %1")},
                                    {"data", RunPage::tr("Data set: %1")},
                                    {"process", RunPage::tr("This process, with libraries: %1")},
                                    {"device", RunPage::tr("All programs on the device: %1")},
                                    {"device_total", RunPage::tr("The device has: %1")},
                                    {"host", RunPage::tr("Memory of the machine: %1")}})
        if (const double bytes = protocol::number_at(sizes, key, -1); bytes >= 0)
            lines.append(text.arg(format_bytes(bytes)));
    return lines.join(QLatin1Char('\n'));
}

double newest(const MetricSeries& series) { return series.empty() ? std::nan("") : series.value_at(series.size() - 1); }

} // namespace

RunPage::RunPage(QWidget* parent)
    : QWidget(parent), header_(new ProgressHeader), band_(new StateBand), tile_row_(new QWidget), tabs_(new QTabBar),
      pages_(new QStackedWidget), plots_(new PlotGroup), timeline_(new Timeline), log_(new LogView),
      setup_(new SetupView), layers_(new LayersView), network_(new NetworkView), results_(new ResultsView),
      folder_(new QPushButton(tr("Open folder"))) {
    folder_->setProperty("kind", "quiet");
    folder_->setObjectName(QStringLiteral("openFolder"));
    const auto paint = [this] {
        folder_->setIcon(Theme::instance().button_icon(QStringLiteral("folder"), Role::secondary));
    };
    paint();
    connect(&Theme::instance(), &Theme::changed, this, paint);
    connect(&Theme::instance(), &Theme::changed, this, [this] { // buttons with icons, and colours inside of texts
        band_state_.reset();
        fill_setup();
        fill_band();
    });
    connect(folder_, &QPushButton::clicked, this, [this] { emit action_requested(QStringLiteral("folder")); });
    header_->add_action(folder_);
    band_->setObjectName(QStringLiteral("band"));
    band_->hide();

    auto* tiles = new QHBoxLayout(tile_row_);
    tiles->setContentsMargins(0, 0, 0, 0);
    tiles->setSpacing(8);
    const std::array<QString, 5> names{tr("Loss"), tr("Validation accuracy"), tr("Memory"), tr("GFLOPS"), tr("Speed")};
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        tiles_[i] = new MetricTile(names[i]);
        tiles->addWidget(tiles_[i]);
    }

    tabs_->setExpanding(false);
    tabs_->setDrawBase(false);
    tabs_->setObjectName(QStringLiteral("tabs"));
    tabs_->setAccessibleName(tr("Views of the run"));
    for (const QString& name : tab_titles())
        tabs_->addTab(name);
    auto* rule = new QFrame;
    rule->setObjectName(QStringLiteral("tabRule"));
    rule->setFixedHeight(1);

    auto* live = new QWidget;
    auto* live_column = new QVBoxLayout(live);
    live_column->setContentsMargins(0, 0, 0, 0);
    live_column->setSpacing(8);
    live_column->addWidget(plots_, 1);
    live_column->addWidget(timeline_);
    const auto carded = [](QWidget* inner, int left = card_inset) {
        auto* card = new QFrame;
        card->setProperty("card", true);
        auto* column = new QVBoxLayout(card);
        column->setContentsMargins(left, 10, 6, 8);
        column->addWidget(inner);
        return card;
    };
    pages_->addWidget(live);
    pages_->addWidget(carded(setup_, card_inset - 1)); // which has a border, too
    pages_->addWidget(carded(layers_));
    pages_->addWidget(carded(network_));
    connect(setup_, &SetupView::action_requested, this, &RunPage::action_requested);
    connect(layers_, &LayersView::action_requested, this, &RunPage::action_requested);
    connect(network_, &NetworkView::action_requested, this, &RunPage::action_requested);
    pages_->addWidget(results_);
    connect(results_, &ResultsView::action_requested, this, &RunPage::action_requested);
    connect(results_, &ResultsView::curves_wanted, this, [this] { show_tab(live_tab); });
    pages_->addWidget(carded(log_));
    connect(tabs_, &QTabBar::currentChanged, pages_, &QStackedWidget::setCurrentIndex);
    connect(tabs_, &QTabBar::currentChanged, this, [this](int index) {
        if (index == 0)
            redraw_plots();
        else if (index == results_tab)
            results_->refresh();
    });

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 10, 16, 8);
    column->setSpacing(0);
    column->addWidget(header_);
    column->addSpacing(8);
    auto* top = new QVBoxLayout;
    top->setSpacing(8);
    top->addWidget(band_);
    top->addWidget(tile_row_);
    column->addLayout(top);
    column->addSpacing(6);
    column->addWidget(tabs_);
    column->addWidget(rule);
    column->addSpacing(8);
    column->addWidget(pages_, 1);

    connect(plots_, &PlotGroup::smoothing_changed, this, [this](double weight) {
        if (!run_)
            return;
        run_->set_smoothing(weight);
        redraw_plots();
    });
    connect(plots_, &PlotGroup::range_changed, this,
            [this] { timeline_->set_view(plots_->clock(), plots_->axis(), plots_->range()); });
    empties_ = findChildren<QPushButton*>(QStringLiteral("emptyResume"));
    empties_.append(findChild<QPushButton*>(QStringLiteral("resultsResume")));
    exports_ = new PlotExports(plots_, this);
    connect(plots_, &PlotGroup::action_requested, this, &RunPage::action_requested);
    plots_->loss()->set_empty_text(tr("The curve starts with the first step."));
    plots_->accuracy()->set_empty_text(tr("The curve starts with the first step."));
    plots_->memory()->set_empty_text(tr("Memory is measured once the network is built."));
    plots_->gflops()->set_empty_text(tr("Arithmetic is measured while it trains."));
}

void RunPage::set_why_not(WhyNot why_not) { why_not_ = std::move(why_not); }

void RunPage::show_run(RunModel* run) {
    exports_->stop();
    run_ = run;
    log_shown_ = markers_shown_ = 0;
    log_->clear_lines();
    planned_ = false;
    setup_state_.reset();
    changes_seen_ = changes_shown_ = 0;
    band_state_.reset();
    band_->hide();
    layers_->show_run(run);
    network_->show_run(run);
    results_->show_run(run);
    if (!run)
        return;
    exports_->set_name(run->name());
    run->set_smoothing(plots_->smoothing());
    show_curves(*run, run->loss.raw, run->loss.smooth, run->accuracy.raw, run->accuracy.smooth);
    overview_.reset();
    plots_->set_markers({});
    plots_->set_clock(&run->clock);
    connect(run, &RunModel::state_changed, this, [this, run] {
        if (run == run_)
            fill();
    });
    fill();
}

void RunPage::set_loading(bool loading) {
    if (loading == loading_)
        return;
    loading_ = loading;
    if (loading || !run_)
        return;
    exports_->stop();
    if (overview_) { // the same curves, now with every step
        plots_->change_clock(&run_->clock);
        show_curves(*run_, run_->loss.raw, run_->loss.smooth, run_->accuracy.raw, run_->accuracy.smooth);
        overview_.reset();
    }
    fill();
    if (plots_->is_following())
        plots_->follow();
    else
        redraw_plots(); // where somebody has zoomed in meanwhile
}

void RunPage::set_reading(double share) {
    if (loading_)
        header_->set_progress(tr("reading the past of the run"), share, {});
}

void RunPage::show_overview(const RunOverview& overview) {
    if (!loading_ || !run_)
        return;
    exports_->stop();
    const RunOverview& shown = overview_.emplace(overview);
    plots_->change_clock(&shown.clock);
    show_curves(shown, shown.loss, shown.loss_mean, shown.accuracy, shown.accuracy_mean);
    plots_->set_progress(static_cast<double>(shown.steps), static_cast<double>(std::max(shown.steps, shown.last_step)));
    plots_->follow();
}

namespace {
std::int64_t bucket_width(const RunModel&) { return 1; }
std::int64_t bucket_width(const RunOverview& overview) { return overview.width; }
/// Whose values that are not finite are marked at a smooth curve: the raw one behind it has them in itself.
using Marks = std::pair<const MetricSeries*, const MetricSeries*>;
Marks marks_of(const RunModel&) { return {}; }
Marks marks_of(const RunOverview& overview) { return {&overview.loss_not_finite, &overview.accuracy_not_finite}; }
} // namespace

template <typename Source>
void RunPage::show_curves(const Source& source, const MetricSeries& loss, const MetricSeries& smooth_loss,
                          const MetricSeries& accuracy, const MetricSeries& smooth_accuracy) {
    using Shape = Curve::Shape;
    const BucketWords words = bucket_words(bucket_width(source));
    const auto [loss_marks, accuracy_marks] = marks_of(source);
    const auto curve = [](const char* name, Role role, const MetricSeries& series, Shape shape, const QString& values,
                          const MetricSeries* marks = nullptr) {
        Curve made{name ? tr(name) : QString(), role, &series, shape};
        made.head = QLatin1String(name);
        made.values = values;
        made.marks = marks;
        return made;
    };
    plots_->loss()->set_curves(
        {curve(nullptr, Role::series1, loss, Shape::faint, words.range),
         curve(QT_TR_NOOP("train"), Role::series1, smooth_loss, Shape::line, words.mean, loss_marks),
         curve(QT_TR_NOOP("validation"), Role::series2, source.validation_loss, Shape::dash, words.mean)});
    plots_->accuracy()->set_curves(
        {curve(nullptr, Role::series1, accuracy, Shape::faint, words.range),
         curve(QT_TR_NOOP("train"), Role::series1, smooth_accuracy, Shape::line, words.mean, accuracy_marks),
         curve(QT_TR_NOOP("validation"), Role::series2, source.validation_accuracy, Shape::dash, words.mean)});
    std::vector<Curve> memory{
        curve(QT_TR_NOOP("workspace"), Role::series2, source.memory[3], Shape::area, words.greatest),
        curve(QT_TR_NOOP("activations"), Role::series3, source.memory[2], Shape::area, words.greatest),
        curve(QT_TR_NOOP("optimizer"), Role::series4, source.memory[1], Shape::area, words.greatest),
        curve(QT_TR_NOOP("weights"), Role::series1, source.memory[0], Shape::area, words.greatest),
        curve(QT_TR_NOOP("process"), Role::hint, source.process, Shape::dash, words.mean)};
    if (run_->on_gpu() && run_->plan()->memory[4] > 0) // the images are beside the network
        memory.insert(memory.begin(),
                      curve(QT_TR_NOOP("data"), Role::hint, source.memory[4], Shape::area, words.greatest));
    plots_->memory()->set_curves(std::move(memory));
    std::vector<Curve> arithmetic{curve(QT_TR_NOOP("step"), Role::series1, source.gflops, Shape::line, words.range)};
    if (run_->on_gpu()) {
        arithmetic.push_back(
            curve(QT_TR_NOOP("utilisation"), Role::series3, source.utilisation, Shape::dash, words.mean));
        arithmetic.back().of_whole = true;
    }
    plots_->gflops()->set_curves(std::move(arithmetic));
}

QStringList RunPage::tab_titles() {
    return {tr("Live"), tr("Setup"), tr("Layers"), tr("Network"), tr("Results"), tr("Log")};
}

void RunPage::show_tab(int index) {
    if (index < tabs_->count())
        tabs_->setCurrentIndex(index);
}

NotesPanel* RunPage::notes() const { return setup_->notes(); }

int RunPage::tab_count() const { return tabs_->count(); }

void RunPage::redraw_plots() {
    if (run_ && isVisible())
        plots_->refresh(true);
}

void RunPage::refresh() {
    if (!run_ || !isVisible())
        return;
    refuse_actions();
    if (loading_) {
        if (overview_)
            set_reading(static_cast<double>(run_->step()) / static_cast<double>(overview_->steps));
        return;
    }
    run_->set_smoothing(plots_->smoothing()); // a comparison may have set another
    run_->smooth_for(page_smoothing_ms);
    fill();
    plots_->refresh();
}

void RunPage::fill() {
    if (!run_)
        return;
    fill_header();
    fill_band();
    fill_tiles();
    const bool planned = run_->plan().has_value(); // or what is said instead depends on the state
    if (planned ? !planned_ || changes_shown_ != run_->changes().size() : setup_state_ != run_->state())
        fill_setup();
    if (layers_->isVisible())
        layers_->refresh();
    if (network_->isVisible())
        network_->refresh();
    if (results_->isVisible())
        results_->refresh();
    fill_log();
    if (markers_shown_ != run_->markers().size()) {
        markers_shown_ = run_->markers().size();
        plots_->set_markers(run_->markers());
    }
    const bool over = !is_active(run_->state());
    const double end = static_cast<double>(
        over && run_->state() != RunState::interrupted ? std::max<std::int64_t>(run_->step(), 1) : run_->last_step());
    plots_->set_progress(static_cast<double>(run_->step()), end);
    timeline_->set_content(run_->phases(), run_->markers());
    timeline_->set_story(run_->story());
    plots_->accuracy()->set_note(
        run_->best_accuracy()
            ? tr("best %1 at epoch %2").arg(format_percent(*run_->best_accuracy())).arg(run_->best_epoch())
            : QString());
}

/// A few milliseconds' worth of the lines that are new: a long past is written over several ticks.
void RunPage::fill_log() {
    const auto& lines = run_->log();
    if (log_shown_ > lines.size()) { // read anew
        log_->clear_lines();
        log_shown_ = 0;
    }
    if (lines.size() - log_shown_ > LogView::longest)
        log_shown_ = lines.size() - LogView::longest;
    QElapsedTimer clock;
    clock.start();
    while (log_shown_ < lines.size() && clock.elapsed() < log_budget_ms)
        log_->append_line(lines[log_shown_++]);
}

void RunPage::set_preset_titles(const QHash<QString, QString>& titles) {
    preset_titles_ = titles;
    if (run_)
        fill_header();
}

void RunPage::fill_header() {
    const RunTitle title = run_title(run_->name());
    QStringList beside{preset_titles_.value(run_->kind(), run_->kind()), title.begun()};
    beside.removeAll(QString());
    header_->set_name(title.text, beside.join(QStringLiteral(" · ")));
    header_->setToolTip(run_->name());
    const RunState state = run_->state();
    header_->set_state(state, run_->is_saving() ? tr("Saving") : run_->is_evaluating() ? tr("Evaluating") : QString());
    const auto& plan = run_->plan();
    if (!plan) {
        header_->set_progress(state == RunState::preparing ? tr("reading the data, building the network") : QString(),
                              -1, {});
        return;
    }
    const double share =
        run_->last_step() > 0 ? static_cast<double>(run_->step()) / static_cast<double>(run_->last_step()) : 0;
    if (state == RunState::finished) {
        const QString clock = format_clock(run_->seconds_trained());
        const double epochs = std::round(run_->epoch());
        header_->set_progress(epochs == 1 ? tr("1 epoch in %1").arg(clock)
                                          : tr("%1 epochs in %2").arg(format_count(epochs), clock),
                              -1, {});
        return;
    }
    const auto left = run_->seconds_left();
    header_->set_progress(tr("epoch %1 of %2").arg(run_->current_epoch()).arg(plan->epochs), share,
                          left ? tr("%1 left").arg(format_clock(*left)) : QString());
}

void RunPage::fill_tiles() {
    using Trend = MetricTile::Trend;
    const bool over = !is_active(run_->state()) && run_->best_accuracy().has_value();
    const double loss = newest(run_->loss.smooth);
    const int falls = direction(run_->loss.smooth);
    tiles_[0]->set_value(std::isfinite(loss)      ? format_loss(loss)
                         : run_->loss.raw.empty() ? QStringLiteral("–")
                                                  : format_loss(newest(run_->loss.raw)),
                         over || falls == 0 ? Trend::none
                         : falls < 0        ? Trend::falling_is_good
                                            : Trend::rising_is_bad);
    tiles_[0]->set_context(run_->best_loss() ? tr("best validation %1").arg(format_loss(*run_->best_loss()))
                                             : tr("of training"));

    const auto& validation = run_->validation_accuracy;
    const std::size_t evaluations = validation.size();
    if (over) {
        tiles_[1]->set_label(tr("Best accuracy"));
        tiles_[1]->set_value(format_percent(*run_->best_accuracy()));
        tiles_[1]->set_context(tr("at epoch %1").arg(run_->best_epoch()));
    } else {
        tiles_[1]->set_label(tr("Validation accuracy"));
        const int rises = evaluations < 2                                                               ? 0
                          : validation.value_at(evaluations - 1) > validation.value_at(evaluations - 2) ? 1
                                                                                                        : -1;
        tiles_[1]->set_value(evaluations ? format_percent(newest(validation)) : QStringLiteral("–"),
                             rises == 0  ? Trend::none
                             : rises > 0 ? Trend::rising_is_good
                                         : Trend::falling_is_bad);
        tiles_[1]->set_context(run_->best_accuracy() ? tr("best %1").arg(format_percent(*run_->best_accuracy()))
                               : run_->accuracy.smooth.empty()
                                   ? tr("after the first epoch")
                                   : tr("training %1").arg(format_percent(newest(run_->accuracy.smooth))));
    }

    const Json& resources = run_->resources();
    const auto memory = resources.find("memory");
    const Json sizes = memory != resources.end() ? *memory : Json::object();
    const double planned = run_->plan() ? run_->plan()->memory_total : 0;
    const double used = protocol::number_at(sizes, "total", newest(run_->memory.back()));
    tiles_[2]->set_value(std::isfinite(used) && used > 0 ? format_bytes(used)
                         : planned > 0                   ? format_bytes(planned)
                                                         : QStringLiteral("–"));
    tiles_[2]->set_label(run_->on_gpu() ? tr("GPU memory") : tr("Memory"));
    const double process = protocol::number_at(sizes, "process");
    const double device = protocol::number_at(sizes, "device");
    const double total = protocol::number_at(sizes, "device_total", run_->plan() ? run_->plan()->device_memory : 0);
    tiles_[2]->set_context(
        process > 0 && total > 0  ? tr("process %1 of %2").arg(format_bytes(process), format_bytes(total))
        : device > 0 && total > 0 ? tr("in all %1 of %2").arg(format_bytes(device), format_bytes(total))
        : process > 0             ? tr("%1 with the program").arg(format_bytes(process))
        : planned > 0             ? tr("as planned")
                                  : QString());
    tiles_[2]->setToolTip(memory_story(sizes));
    const double rate = newest(run_->gflops);
    tiles_[3]->set_value(std::isfinite(rate) ? format_count(rate) : QStringLiteral("–"));
    const double mfu = protocol::number_at(resources, "mfu", std::nan(""));
    tiles_[3]->set_context(std::isfinite(mfu) ? tr("MFU %1").arg(format_percent(mfu))
                           : run_->plan()     ? tr("%1FLOP a step").arg(format_short(run_->plan()->flops))
                                              : QString());
    tiles_[3]->setToolTip(std::isfinite(mfu) && run_->plan()
                              ? tr("Planned arithmetic by the time of a step. MFU: its share of the %1 GFLOPS that the "
                                   "device reaches at best in %2.")
                                    .arg(format_count(std::round(run_->plan()->peak_gflops)), run_->plan()->precision)
                              : tr("Planned arithmetic by the time of a step"));
    plots_->gflops()->set_note(std::isfinite(mfu) ? tr("MFU %1").arg(format_percent(mfu)) : QString());
    if (over && run_->state() == RunState::finished) {
        tiles_[4]->set_label(tr("Duration"));
        tiles_[4]->set_value(format_clock(run_->seconds_trained()));
        tiles_[4]->set_context(tr("%1 img/s").arg(format_count(std::round(run_->images_per_second()))));
        return;
    }
    tiles_[4]->set_label(tr("Speed"));
    double images = run_->images_per_second();
    if (run_->plan() && run_->step_seconds() > 0 && images <= 0)
        images = static_cast<double>(run_->plan()->batch) / run_->step_seconds();
    tiles_[4]->set_value(images > 0 ? tr("%1 img/s").arg(format_count(std::round(images))) : QStringLiteral("–"));
    tiles_[4]->set_context(run_->step_seconds() > 0
                               ? tr("step %1 ms").arg(screen_locale().toString(run_->step_seconds() * 1000, 'f', 1))
                               : QString());
}

void RunPage::fill_setup() {
    if (!run_)
        return;
    changes_shown_ = run_->changes().size();
    planned_ = run_->plan().has_value();
    setup_state_ = run_->state();
    if (planned_ && !overview_) // only now it is known whether a GPU trains
        show_curves(*run_, run_->loss.raw, run_->loss.smooth, run_->accuracy.raw, run_->accuracy.smooth);
    plots_->memory()->set_title(run_->on_gpu() ? tr("GPU memory") : tr("Memory"));
    const double limit = run_->plan() ? run_->plan()->limit : 0;
    plots_->memory()->set_limit(limit > 0 ? std::optional(limit) : std::nullopt,
                                tr("%1 usable").arg(format_bytes(limit)));
    setup_->show_run(*run_);
}

} // namespace espalier
