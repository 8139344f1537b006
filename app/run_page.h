// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

#include <QPointer>
#include <QWidget>

class QLabel;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace espalier {

class MetricTile;
class PlotGroup;
class ProgressHeader;
class SetupView;
class StateBand;

/// The centre of the window while a run is looked at: header, band, tiles and tabs over one RunModel. It asks for what
/// its buttons do and does none of it.
class RunPage : public QWidget {
    Q_OBJECT

public:
    explicit RunPage(QWidget* parent = nullptr);

    void show_run(RunModel* run);
    [[nodiscard]] RunModel* run() const { return run_; }
    /// Until the past of a run has been read: no curve is drawn that would be another one in a moment.
    void set_loading(bool loading);
    /// Takes what is new into view. Called by the window's timer.
    void refresh();
    void redraw_plots(); ///< at once, whatever the pace

    void show_tab(int index); ///< from 0; beyond the last: nothing happens
    [[nodiscard]] int tab_count() const;
    [[nodiscard]] PlotGroup* plots() const { return plots_; }

signals:
    void action_requested(
        const QString& command); ///< pause, resume, stop, checkpoint, resume_safe, report, more_epochs, folder

private:
    void fill();
    void fill_log();
    void fill_band();
    void fill_tiles();
    void fill_header();
    void fill_setup();

    QPointer<RunModel> run_;
    ProgressHeader* header_;
    StateBand* band_;
    QWidget* tile_row_;
    std::array<MetricTile*, 5> tiles_{};
    QTabBar* tabs_;
    QStackedWidget* pages_;
    PlotGroup* plots_;
    Timeline* timeline_;
    LogView* log_;
    SetupView* setup_;
    QPushButton* folder_;
    std::size_t log_shown_ = 0;
    std::size_t markers_shown_ = 0;
    bool loading_ = false;
    bool planned_ = false;
    std::optional<RunState> band_state_;
    QString band_reason_;
};

} // namespace espalier
