// SPDX-License-Identifier: GPL-3.0-or-later
#include "setup_view.h"

#include "config_differences.h"
#include "device_summary.h"
#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "notes_panel.h"
#include "run_empty.h"
#include "run_fields.h"
#include "toggle_list.h"
#include "toggle_words.h"
#include "words.h"

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <array>
#include <cmath>
#include <map>

namespace espalier {

namespace {

constexpr int words_width = 176; // its values stand under those of the notes
constexpr int column_gap = 24;
constexpr int two_columns = 880; // pixels from which the toggles have room beside the settings

QString value_words(const Json& value) {
    if (value.is_boolean())
        return value.get<bool>() ? tr("on") : tr("off");
    return value.is_string() ? to_qstring(value.get<std::string>()) : QString();
}

/// What the planned memory is for; what needs none is left out.
QString memory_words(const RunModel::Plan& plan) {
    const std::array<QString, memory_parts> parts = {SetupView::tr("weights %1"), SetupView::tr("optimizer %1"),
                                                     SetupView::tr("activations %1"), SetupView::tr("workspace %1"),
                                                     SetupView::tr("data set %1")};
    QString words;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const QString part = parts[i].arg(format_bytes(plan.memory[i])); plan.memory[i] > 0)
            words = words.isEmpty() ? part : SetupView::tr("%1, %2", "a list").arg(words, part);
    return SetupView::tr("%1: %2").arg(format_bytes(plan.memory_total), words);
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

/// Lines of a name and its value, as the text of a label.
class Facts {
public:
    void add(const QString& name, const QString& value) {
        if (!value.isEmpty())
            lines_ += QStringLiteral("<tr><td style='color:%1;%2' width='%3'>%4</td><td style='%2'>%5</td></tr>")
                          .arg(faint_, QStringLiteral("padding: 4px 0px"), QString::number(words_width),
                               name.toHtmlEscaped(), value.toHtmlEscaped());
    }
    [[nodiscard]] QString html() const { return QStringLiteral("<table cellspacing='0'>%1</table>").arg(lines_); }

private:
    QString faint_ = Theme::instance().color(Role::secondary).name(), lines_;
};

/// Said by the plan as well, or below by the toggles.
bool is_said_elsewhere(const QString& field) {
    return field == u"epochs" || field == u"batch" || field == u"backend" || field.startsWith(u"toggles.");
}

/// What is switched off is not worth a line.
bool is_nothing(const Json& value) {
    return value.is_null() || value == Json(false) || value == Json("none") ||
           (value.is_number() && value.get<double>() == 0);
}

void prepare(QLabel& label) {
    label.setWordWrap(true);
    label.setTextFormat(Qt::RichText);
    label.setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
}

} // namespace

SetupView::SetupView(QWidget* parent)
    : QWidget(parent), notes_(new NotesPanel), settings_(new QLabel), facts_(new QLabel), toggles_(new ToggleList),
      empty_(new RunEmpty) {
    prepare(*settings_);
    settings_->setObjectName(QStringLiteral("settings"));
    settings_->setAccessibleName(tr("Settings of the run"));
    settings_->hide();
    prepare(*facts_);
    facts_->setObjectName(QStringLiteral("plan"));
    facts_->setAccessibleName(tr("Setup of the run"));
    auto* content = new QWidget;
    content->setProperty("clear", true);
    columns_ = new QBoxLayout(QBoxLayout::LeftToRight, content);
    columns_->setContentsMargins(0, 0, 8, 0);
    columns_->setSpacing(column_gap);
    auto* lines = new QVBoxLayout;
    lines->setSpacing(14);
    lines->addWidget(notes_);
    lines->addWidget(settings_);
    lines->addWidget(facts_);
    notes_->hide();
    lines->addWidget(empty_, 1);
    lines->addStretch(0);
    columns_->addLayout(lines, 1);
    columns_->addWidget(toggles_, 1, Qt::AlignTop);
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

void SetupView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool beside = width() >= two_columns;
    columns_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    columns_->setStretch(0, beside ? 1 : 0); // below each other, what room is left is below both
}

void SetupView::show_run(const RunModel& run) {
    if (path_ != run.path())
        show_config(nullptr);
    path_ = run.path();
    emit config_wanted(path_);
    const bool planned = run.plan().has_value();
    facts_->setVisible(planned);
    toggles_->setVisible(planned);
    empty_->setVisible(!planned);
    if (!planned)
        return empty_->show_unbuilt(&run, tr("What will be trained stands here once the network is built."));
    const RunModel::Plan& plan = *run.plan();
    Facts facts;
    facts.add(tr("Parameters"), format_count(plan.parameters));
    facts.add(tr("Arithmetic"), tr("%1FLOP a step, forward and backward").arg(format_short(plan.flops)));
    const QString steps = format_count(plan.steps_per_epoch);
    facts.add(tr("Epochs"), plan.steps_per_epoch == 1
                                ? tr("%1 of 1 step, batch %2").arg(plan.epochs).arg(plan.batch)
                                : tr("%1 of %2 steps, batch %3").arg(plan.epochs).arg(steps).arg(plan.batch));
    facts.add(tr("Device"), device_words(plan.device, plan.backend));
    facts.add(tr("Precision"), plan.precision);
    if (plan.peak_gflops > 0)
        facts.add(tr("Peak of the device"),
                  tr("%1 GFLOPS in %2").arg(format_count(std::round(plan.peak_gflops)), plan.precision));
    facts.add(tr("Planned memory"), memory_words(plan));
    if (plan.limit > 0)
        facts.add(tr("Memory it may take"), plan.device_memory > 0
                                                ? tr("%1 of the device's %2; the rest is in use or kept back")
                                                      .arg(format_bytes(plan.limit), format_bytes(plan.device_memory))
                                                : format_bytes(plan.limit));
    facts.add(tr("Operations after passes"), plan.passes.join(QStringLiteral(", ")));
    facts.add(tr("Notes"), plan.notes.join(QStringLiteral(" ")));
    facts.add(tr("Folder"), run.path());
    facts_->setText(facts.html());
    toggles_->set_items(toggle_items(run));
}

void SetupView::show_config(const Json& config) {
    Facts facts;
    bool any = false;
    for (const FormField& field : run_fields())
        if (const Json value = at_path(config, field.path); !is_said_elsewhere(field.path) && !is_nothing(value)) {
            facts.add(field.label, setting_words(field.path, value));
            any = true;
        }
    settings_->setText(any ? facts.html() : QString());
    settings_->setVisible(any);
}

} // namespace espalier
