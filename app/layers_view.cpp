// SPDX-License-Identifier: GPL-3.0-or-later
#include "layers_view.h"

#include "format.h"
#include "layer_table.h"
#include "run_empty.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// How many layers take half of the time.
std::size_t layers_of_half(const std::vector<LayerRow>& rows, double total) {
    std::vector<double> times;
    for (const LayerRow& row : rows)
        if (std::isfinite(row.milliseconds))
            times.push_back(row.milliseconds);
    std::ranges::sort(times, std::greater());
    double sum = 0;
    std::size_t count = 0;
    while (count < times.size() && sum < total / 2)
        sum += times[count++];
    return count;
}

} // namespace

LayersView::LayersView(QWidget* parent)
    : QWidget(parent), caption_(new QLabel), copy_(new QPushButton(tr("Copy table"))), table_(new LayerTable),
      empty_(new RunEmpty) {
    caption_->setProperty("tone", "secondary");
    caption_->setWordWrap(true);
    caption_->setObjectName(QStringLiteral("layersCaption"));
    copy_->setProperty("kind", "quiet");
    copy_->setObjectName(QStringLiteral("copyLayers"));
    copy_->setToolTip(tr("The selected rows, or all, for a spreadsheet"));
    table_->setObjectName(QStringLiteral("layers"));
    auto* top = new QHBoxLayout;
    top->addWidget(caption_, 1);
    top->addWidget(copy_, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addLayout(top);
    column->addWidget(table_, 1);
    column->addWidget(empty_, 1);
    connect(empty_, &RunEmpty::action_requested, this, &LayersView::action_requested);
    connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(table_->text()); });
}

void LayersView::show_run(const RunModel* run) {
    run_ = run;
    shown_ = -1;
    table_->clearSelection();
    refresh();
}

void LayersView::refresh() {
    if (run_ && shown_ == run_->layers_version())
        return;
    const bool planned = run_ && run_->plan();
    for (QWidget* part : std::initializer_list<QWidget*>{caption_, copy_, table_})
        part->setVisible(planned);
    empty_->setVisible(!planned);
    if (!planned)
        return empty_->show_unbuilt(run_, tr("The layers stand here once the network is built."));
    shown_ = run_->layers_version();
    const auto& rows = run_->plan()->layers;
    table_->set_rows(rows);
    const double total = run_->profiled_milliseconds();
    if (run_->profiled_step() == 0) {
        caption_->setText(is_active(run_->state())
                              ? tr("As planned; “–” is not known yet. The tenth step or one soon after it is timed "
                                   "layer by layer, then one every few seconds.")
                              : tr("As planned; “–” is not known: the run has ended before its tenth step, from which "
                                   "on steps are timed layer by layer."));
        return;
    }
    caption_->setText(tr("Step %1, one kernel after the other: %2 ms. Half of it is in the slowest %4 of %3 layers. "
                         "A click on a column's head sorts.")
                          .arg(format_count(static_cast<double>(run_->profiled_step())),
                               screen_locale().toString(total, 'f', total < 10 ? 2 : 1),
                               format_count(static_cast<double>(rows.size())),
                               format_count(static_cast<double>(layers_of_half(rows, total)))));
}

} // namespace espalier
