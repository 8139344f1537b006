// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_view.h"

#include "format.h"
#include "network_canvas.h"
#include "run_empty.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

namespace espalier {

NetworkView::NetworkView(QWidget* parent)
    : QWidget(parent), caption_(new QLabel), open_(new QPushButton(tr("Open all"))),
      close_(new QPushButton(tr("Close all"))), fit_(new QPushButton(tr("Fit"))), canvas_(new NetworkCanvas),
      details_(new QLabel), empty_(new RunEmpty) {
    caption_->setProperty("tone", "secondary");
    caption_->setWordWrap(true);
    caption_->setObjectName(QStringLiteral("networkCaption"));
    details_->setProperty("tone", "secondary");
    details_->setWordWrap(true);
    details_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    details_->setObjectName(QStringLiteral("networkDetails"));
    // Two lines, so that nothing moves when a box is selected.
    details_->setMinimumHeight(2 * details_->fontMetrics().lineSpacing());
    details_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* top = new QHBoxLayout;
    top->addWidget(caption_, 1);
    for (const auto& [button, name, story] :
         {std::tuple{open_, "openBlocks", tr("Shows what is in every block")},
          {close_, "closeBlocks", tr("Shows blocks alone")},
          {fit_, "fitNetwork", tr("Brings the network's beginning into sight, as large as it goes (Home)")}}) {
        button->setProperty("kind", "quiet");
        button->setObjectName(QString::fromLatin1(name));
        button->setToolTip(story);
        top->addWidget(button, 0, Qt::AlignTop);
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addLayout(top);
    column->addWidget(canvas_, 1);
    column->addWidget(details_);
    column->addWidget(empty_, 1);
    connect(empty_, &RunEmpty::action_requested, this, &NetworkView::action_requested);
    connect(open_, &QPushButton::clicked, canvas_, &NetworkCanvas::open_all);
    connect(close_, &QPushButton::clicked, canvas_, &NetworkCanvas::close_all);
    connect(fit_, &QPushButton::clicked, canvas_, &NetworkCanvas::fit);
    connect(canvas_, &NetworkCanvas::selection_changed, this, &NetworkView::tell_selection);
}

void NetworkView::show_run(const RunModel* run) {
    run_ = run;
    shown_ = -1;
    refresh();
}

void NetworkView::refresh() {
    if (run_ && shown_ == run_->layers_version())
        return;
    const bool known = run_ && run_->plan() && !run_->plan()->nodes.empty();
    for (QWidget* part : std::initializer_list<QWidget*>{caption_, canvas_, open_, close_, fit_, details_})
        part->setVisible(known);
    empty_->setVisible(!known);
    if (!known) {
        canvas_->set_nodes({});
        if (run_ && run_->plan())
            return empty_->show_resumable(*run_, tr("This run was made by a version that does not tell the network's "
                                                    "graph. Resume it, and it is drawn here."));
        return empty_->show_unbuilt(run_, tr("The network is drawn here once it is built."));
    }
    shown_ = run_->layers_version();
    canvas_->set_nodes(run_->plan()->nodes);
    caption_->setText(summary());
    tell_selection();
}

QString NetworkView::summary() const {
    const auto& whole = canvas_->tree()->item(0);
    return tr("%1 operations, %2 parameters, %3 FLOPs forward for a batch of %4. A double click opens a block.")
        .arg(format_count(whole.count - 1), format_count(whole.parameters), format_short(whole.flops),
             format_count(static_cast<double>(run_->plan()->batch)));
}

/// What is known of the selected box; of a block, of all layers in it.
void NetworkView::tell_selection() {
    const int selected = canvas_->selected();
    if (selected < 0 || !canvas_->tree() || !run_ || !run_->plan()) {
        details_->setText(tr("Click a box to see what it takes. The arrow keys go from box to box."));
        return;
    }
    const auto& tree = *canvas_->tree();
    const auto& item = tree.item(selected);
    QStringList parts;
    if (!item.is_block())
        parts.append(tree.node(item.node).kind);
    else
        parts.append(tr("%1 operations").arg(format_count(item.count)));
    parts.append(tr("gives %1").arg(tree.shape_of(item.last)));
    if (item.parameters > 0)
        parts.append(tr("%1 parameters").arg(format_count(item.parameters)));
    if (item.flops > 0)
        parts.append(tr("%1 FLOPs forward").arg(format_short(item.flops)));
    double milliseconds = 0, memory = 0;
    QString kernel;
    for (const LayerRow& row : run_->plan()->layers) {
        if (row.layer != item.path && !(item.is_block() && row.layer.startsWith(item.path + QLatin1Char('.'))))
            continue;
        if (std::isfinite(row.milliseconds))
            milliseconds += row.milliseconds;
        if (std::isfinite(row.memory))
            memory += row.memory;
        kernel = row.kernel;
    }
    if (memory > 0)
        parts.append((item.is_block() ? tr("its layers: %1") : tr("its layer: %1")).arg(format_bytes(memory)));
    if (milliseconds > 0)
        parts.append(tr("%1 ms of a step, forward and backward")
                         .arg(screen_locale().toString(milliseconds, 'f', milliseconds < 10 ? 2 : 1)));
    if (!item.is_block() && !kernel.isEmpty())
        parts.append(kernel);
    const QString path = item.path.isEmpty() ? tr("images") : item.path;
    details_->setText(
        QStringLiteral("<b>%1</b> · %2").arg(path.toHtmlEscaped(), parts.join(QStringLiteral(" · ")).toHtmlEscaped()));
}

} // namespace espalier
