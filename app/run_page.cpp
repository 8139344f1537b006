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
#include "setup_view.h"
#include "state_band.h"

#include <QElapsedTimer>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace espalier {

namespace {

constexpr int log_budget_ms = 5; ///< of a tick
constexpr int page_smoothing_ms = 15;
constexpr int card_inset = 15; ///< 16 with the border

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
    connect(setup_, &SetupView::action_requested, this, &RunPage::request);
    connect(layers_, &LayersView::action_requested, this, &RunPage::request);
    connect(network_, &NetworkView::action_requested, this, &RunPage::request);
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
    empties_.append(findChildren<QPushButton*>(QStringLiteral("emptyPlot")));
    connect(plots_, &PlotGroup::action_requested, this, &RunPage::request);
}

void RunPage::set_why_not(WhyNot why_not) { why_not_ = std::move(why_not); }

void RunPage::show_run(RunModel* run) {
    exports_->stop();
    run_ = run;
    log_shown_ = 0;
    markers_shown_.reset();
    log_->clear_lines();
    planned_ = false;
    setup_state_.reset();
    emptiness_.reset();
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
    show_own_curves();
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
    if (run_)
        fill_empty_plots();
    if (loading || !run_)
        return;
    exports_->stop();
    if (overview_) { // the same curves, now with every step
        plots_->change_clock(&run_->clock);
        show_own_curves();
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
    fill_empty_plots();
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
    if (markers_shown_ != run_->markers_version()) {
        markers_shown_ = run_->markers_version();
        plots_->set_markers(run_->markers());
    }
    const bool over = !is_active(run_->state());
    const double end = static_cast<double>(
        over && run_->state() != RunState::interrupted ? std::max<std::int64_t>(run_->step(), 1) : run_->last_step());
    plots_->set_progress(static_cast<double>(run_->step()), end);
    timeline_->set_content(run_->phases(), run_->markers());
    timeline_->set_story(run_->story());
    QStringList best;
    if (run_->best_accuracy()) {
        const QString number = format_percent(*run_->best_accuracy());
        best = {tr("best %1 at epoch %2").arg(number).arg(run_->best_epoch()), tr("best %1").arg(number), number};
    }
    plots_->accuracy()->set_note(best);
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

void RunPage::fill_setup() {
    if (!run_)
        return;
    changes_shown_ = run_->changes().size();
    planned_ = run_->plan().has_value();
    setup_state_ = run_->state();
    if (planned_ && !overview_) // only now it is known whether a GPU trains
        show_own_curves();
    plots_->memory()->set_title(run_->on_gpu() ? tr("GPU memory") : tr("Memory"));
    const double limit = run_->plan() ? run_->plan()->limit : 0;
    plots_->memory()->set_limit(limit > 0 ? std::optional(limit) : std::nullopt,
                                tr("%1 usable").arg(format_bytes(limit)));
    setup_->show_run(*run_);
}

} // namespace espalier
