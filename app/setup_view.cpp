// SPDX-License-Identifier: GPL-3.0-or-later
#include "setup_view.h"

#include "format.h"
#include "layer_table.h"

#include <QLabel>
#include <QVBoxLayout>

namespace espalier {

SetupView::SetupView(QWidget* parent) : QWidget(parent), facts_(new QLabel), layers_(new LayerTable) {
    facts_->setWordWrap(true);
    facts_->setTextFormat(Qt::RichText);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    facts_->setAccessibleName(tr("Setup of the run"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(facts_);
    column->addWidget(layers_, 1);
}

void SetupView::show_run(const RunModel& run) {
    const QString faint = Theme::instance().color(Role::secondary).name();
    layers_->setVisible(run.plan().has_value());
    if (!run.plan()) {
        facts_->setText(QStringLiteral("<p style='color:%1'>%2</p>")
                            .arg(faint, tr("What will be trained stands here once the network is built.")));
        layers_->set_rows({});
        return;
    }
    const RunModel::Plan& plan = *run.plan();
    QString html = QStringLiteral("<table cellpadding='3'>");
    const auto row = [&](const QString& name, const QString& value) {
        if (!value.isEmpty())
            html += QStringLiteral("<tr><td style='color:%1' width='170'>%2</td><td>%3</td></tr>")
                        .arg(faint, name.toHtmlEscaped(), value.toHtmlEscaped());
    };
    row(tr("Parameters"), format_count(plan.parameters));
    row(tr("Arithmetic"), tr("%1FLOP a step, forward and backward").arg(format_short(plan.flops)));
    row(tr("Epochs"),
        tr("%1 of %2 steps, batch %3").arg(plan.epochs).arg(format_count(plan.steps_per_epoch)).arg(plan.batch));
    row(tr("Device"), plan.device.isEmpty() ? plan.backend : QStringLiteral("%1 (%2)").arg(plan.device, plan.backend));
    row(tr("Precision"), plan.precision);
    row(tr("Planned memory"),
        tr("%1: weights %2, optimizer %3, activations %4, workspace %5")
            .arg(format_bytes(plan.memory_total), format_bytes(plan.memory[0]), format_bytes(plan.memory[1]),
                 format_bytes(plan.memory[2]), format_bytes(plan.memory[3])));
    row(tr("Operations after passes"), plan.passes.join(QStringLiteral(", ")));
    row(tr("Notes"), plan.notes.join(QStringLiteral(" ")));
    row(tr("Folder"), run.path());
    facts_->setText(html + QStringLiteral("</table>"));
    layers_->set_rows(plan.layers);
}

} // namespace espalier
