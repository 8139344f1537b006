// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "compared_runs.h"
#include "live_plot.h"

#include <QWidget>

class QAbstractButton;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QTableWidget;

namespace espalier {

class PlotExports;
class PlotGroup;

/// The centre of the window while several runs are compared: their curves over one axis, each with a colour and a
/// number, and a table of their results and of the settings in which they differ.
class ComparePage : public QWidget {
    Q_OBJECT

public:
    static constexpr int most_runs = 8; ///< as many as can be told apart

    ComparePage(Machine* machine, RunStore* store, QWidget* parent = nullptr);

    void compare(const QStringList& paths); ///< the first `most_runs` of them
    void leave();                           ///< it is not looked at: nothing comes for it any more
    void refresh();                         ///< takes what is new into view. Called by the window's timer
    [[nodiscard]] PlotGroup* plots() const { return plots_; }
    [[nodiscard]] PlotExports* exports() const { return exports_; }
    [[nodiscard]] const ComparedRuns& runs() const { return *runs_; }

signals:
    void closed();

private:
    enum class Part { both, training, validation };
    void build_header();
    void show_legend();
    void show_curves();
    void hide_curves();
    void show_ends();
    void show_results();
    void show_differences();
    void set_cell(int row, int column, const QString& text, bool strong = false);
    [[nodiscard]] bool is_shown(std::size_t index) const;

    ComparedRuns* runs_;
    QLabel* title_;
    QLabel* state_; ///< what is still on its way, or coarse
    QHBoxLayout* header_;
    QPushButton* part_button_;
    QWidget* legend_;
    std::vector<QAbstractButton*> chips_; ///< of the legend; checked: shown
    PlotGroup* plots_;
    PlotExports* exports_;
    QTableWidget* table_;
    Part part_ = Part::both;
};

} // namespace espalier
