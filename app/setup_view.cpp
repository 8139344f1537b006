// SPDX-License-Identifier: GPL-3.0-or-later
#include "setup_view.h"

#include "device_summary.h"
#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "notes_panel.h"
#include "run_empty.h"
#include "toggle_list.h"
#include "toggle_words.h"
#include "words.h"

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <cmath>
#include <map>

namespace espalier {

namespace {

constexpr int words_width = 176; // its values stand under those of the notes, and over those of the toggles

QString value_words(const Json& value) {
    if (value.is_boolean())
        return value.get<bool>() ? tr("on") : tr("off");
    return value.is_string() ? to_qstring(value.get<std::string>()) : QString();
}

/// Every toggle as it is in force, and in front of them what else the engine has changed.
std::vector<ToggleList::Item> toggle_items(const RunModel& run) {
    std::vector<ToggleList::Item> items;
    const Json& values = run.plan()->toggles;
    std::map<QString, RunModel::Fallback> changes; // the newest reason, the first value
    for (const auto& change : run.changes()) {
        auto& kept = changes.try_emplace(change.rung, change).first->second;
        kept.to = change.to;
        kept.reason = change.reason;
    }
    const auto change_of = [&](ToggleList::Item& item, const RunModel::Fallback& change) {
        item.change = SetupView::tr("Changed by the engine: %1").arg(change.reason);
        item.can_be_undone = !change.undo.empty();
    };
    for (const Toggle& toggle : toggles()) {
        const auto value = values.find(toggle.name.toStdString());
        const auto change = changes.find(toggle.name);
        if (value == values.end() && change == changes.end())
            continue;
        ToggleList::Item item{toggle.name, toggle.title,
                              value != values.end() ? value_words(*value) : engine_words(change->second.to),
                              toggle.sentence};
        if (change != changes.end())
            change_of(item, change->second);
        items.push_back(std::move(item));
        changes.erase(toggle.name);
    }
    for (const auto& [rung, change] : changes) {
        ToggleList::Item item{rung, toggle_title(rung), engine_words(change.to)};
        change_of(item, change);
        items.insert(items.begin(), std::move(item));
    }
    return items;
}

} // namespace

SetupView::SetupView(QWidget* parent)
    : QWidget(parent), notes_(new NotesPanel), facts_(new QLabel), toggles_(new ToggleList), empty_(new RunEmpty) {
    facts_->setWordWrap(true);
    facts_->setTextFormat(Qt::RichText);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    facts_->setAccessibleName(tr("Setup of the run"));
    auto* content = new QWidget;
    content->setProperty("clear", true);
    auto* lines = new QVBoxLayout(content);
    lines->setContentsMargins(0, 0, 8, 0);
    lines->setSpacing(14);
    lines->addWidget(notes_);
    lines->addWidget(facts_);
    notes_->hide();
    lines->addWidget(toggles_);
    lines->addWidget(empty_, 1);
    lines->addStretch(0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setObjectName(QStringLiteral("setupScroll"));
    scroll->setAccessibleName(tr("Setup of the run"));
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(content);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
    connect(toggles_, &ToggleList::take_back_requested, this,
            [this](const QString& rung) { emit action_requested(QStringLiteral("take_back:") + rung); });
    connect(empty_, &RunEmpty::action_requested, this, &SetupView::action_requested);
}

void SetupView::show_run(const RunModel& run) {
    const QString faint = Theme::instance().color(Role::secondary).name();
    const bool planned = run.plan().has_value();
    facts_->setVisible(planned);
    toggles_->setVisible(planned);
    empty_->setVisible(!planned);
    if (!planned)
        return empty_->show_unbuilt(&run, tr("What will be trained stands here once the network is built."));
    const RunModel::Plan& plan = *run.plan();
    QString html = QStringLiteral("<table cellspacing='0'>");
    const auto row = [&](const QString& name, const QString& value) {
        if (!value.isEmpty())
            html += QStringLiteral("<tr><td style='color:%1;%2' width='%3'>%4</td><td style='%2'>%5</td></tr>")
                        .arg(faint, QStringLiteral("padding: 4px 0px"), QString::number(words_width),
                             name.toHtmlEscaped(), value.toHtmlEscaped());
    };
    row(tr("Parameters"), format_count(plan.parameters));
    row(tr("Arithmetic"), tr("%1FLOP a step, forward and backward").arg(format_short(plan.flops)));
    row(tr("Epochs"),
        plan.steps_per_epoch == 1
            ? tr("%1 of 1 step, batch %2").arg(plan.epochs).arg(plan.batch)
            : tr("%1 of %2 steps, batch %3").arg(plan.epochs).arg(format_count(plan.steps_per_epoch)).arg(plan.batch));
    row(tr("Device"), device_words(plan.device, plan.backend));
    row(tr("Precision"), plan.precision);
    if (plan.peak_gflops > 0)
        row(tr("Peak of the device"),
            tr("%1 GFLOPS in %2").arg(format_count(std::round(plan.peak_gflops)), plan.precision));
    row(tr("Planned memory"),
        tr("%1: weights %2, optimizer %3, activations %4, workspace %5, data set %6")
            .arg(format_bytes(plan.memory_total), format_bytes(plan.memory[0]), format_bytes(plan.memory[1]),
                 format_bytes(plan.memory[2]), format_bytes(plan.memory[3]), format_bytes(plan.memory[4])));
    if (plan.limit > 0)
        row(tr("Memory it may take"), plan.device_memory > 0
                                          ? tr("%1 of the device's %2; the rest is in use or kept back")
                                                .arg(format_bytes(plan.limit), format_bytes(plan.device_memory))
                                          : format_bytes(plan.limit));
    row(tr("Operations after passes"), plan.passes.join(QStringLiteral(", ")));
    row(tr("Notes"), plan.notes.join(QStringLiteral(" ")));
    row(tr("Folder"), run.path());
    facts_->setText(html + QStringLiteral("</table>"));
    toggles_->set_items(toggle_items(run));
}

} // namespace espalier
