// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "refusal.h"
#include "run_model.h"
#include "run_overview.h"

#include <QHash>
#include <QPointer>
#include <QWidget>

class QLabel;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace espalier {

class MetricTile;
class NotesPanel;
class PlotExports;
class PlotGroup;
class ProgressHeader;
class LayersView;
class NetworkView;
class ResultsView;
class SetupView;
class StateBand;

/// The centre of the window while a run is looked at: header, band, tiles and tabs over one RunModel. It asks for what
/// its buttons do and does none of it.
class RunPage : public QWidget {
    Q_OBJECT

public:
    explicit RunPage(QWidget* parent = nullptr);

    void set_preset_titles(const QHash<QString, QString>& titles); ///< by their names, which runs keep
    void set_why_not(WhyNot why_not);                              ///< of the actions that its buttons ask for
    void show_run(RunModel* run);
    [[nodiscard]] RunModel* run() const { return run_; }
    /// Until the past of a run has been read: no curve is drawn that would be another one in a moment.
    void set_loading(bool loading);
    /// While loading: how much of a long past is ready to be sent, 0 to 1; and the past itself in a coarse form, which
    /// is drawn until all of it is there.
    void set_reading(double share);
    void show_overview(const RunOverview& overview);
    /// Takes what is new into view. Called by the window's timer.
    void refresh();
    void redraw_plots(); ///< at once, whatever the pace

    [[nodiscard]] static QStringList tab_titles();
    void show_tab(int index); ///< from 0; beyond the last: nothing happens
    [[nodiscard]] int tab_count() const;
    [[nodiscard]] PlotGroup* plots() const { return plots_; }
    [[nodiscard]] PlotExports* exports() const { return exports_; }
    [[nodiscard]] ResultsView* results() const { return results_; }
    [[nodiscard]] SetupView* setup() const { return setup_; }
    [[nodiscard]] NotesPanel* notes() const; ///< of the run, in Setup

    static constexpr int live_tab = 0, results_tab = 4, log_tab = 5;

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them

private:
    /// Memory, validation and GFLOPS of `source` (a RunModel or an overview), and these.
    template <typename Source>
    void show_curves(const Source& source, const MetricSeries& loss, const MetricSeries& smooth_loss,
                     const MetricSeries& accuracy, const MetricSeries& smooth_accuracy);
    void show_own_curves(); ///< of the run: every step
    void fill();
    void fill_log();
    void fill_band();
    void refuse_actions();
    [[nodiscard]] QString band_detail() const;
    void fill_change(const RunModel::Fallback& change);
    void keep_changes();
    void fill_tiles();
    void fill_header();
    void fill_setup();
    void fill_empty_plots();
    void request(const QString& command);

    QPointer<RunModel> run_;
    QHash<QString, QString> preset_titles_;
    ProgressHeader* header_;
    StateBand* band_;
    QWidget* tile_row_;
    std::array<MetricTile*, 5> tiles_{};
    QTabBar* tabs_;
    QStackedWidget* pages_;
    PlotGroup* plots_;
    PlotExports* exports_;
    Timeline* timeline_;
    WhyNot why_not_;
    QList<QPushButton*> empties_; ///< of the tabs and plots that are empty
    struct Emptiness {            ///< what an empty plot's words depend on
        RunState state;
        bool loading, saved, stepped;
        bool operator==(const Emptiness&) const = default;
    };
    std::optional<Emptiness> emptiness_; ///< that the plots speak of
    LogView* log_;
    SetupView* setup_;
    LayersView* layers_;
    NetworkView* network_;
    ResultsView* results_;
    QPushButton* folder_;
    std::size_t log_shown_ = 0;
    std::optional<int> markers_shown_; ///< their version
    bool loading_ = false;
    std::optional<RunOverview> overview_; ///< drawn in the place of the run's own series
    bool planned_ = false;
    std::optional<RunState> band_state_;
    std::optional<RunState> setup_state_; ///< that the setup speaks of
    std::size_t changes_seen_ = 0;        ///< fallbacks that somebody has read and keeps
    std::size_t changes_shown_ = 0;       ///< in the setup
    std::size_t band_changes_ = 0;        ///< that nobody has answered
    QString band_reason_;
};

} // namespace espalier
