// SPDX-License-Identifier: GPL-3.0-or-later
#include "queue_list.h"

#include "refusal.h"
#include "run_title.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int queued_row_height = 28;
constexpr int most_rows = 5; ///< that are seen without scrolling

QToolButton* small_button(const QString& icon, const QString& words, const QString& name) {
    auto* button = new QToolButton;
    button->setProperty("kind", "small");
    button->setIcon(Theme::instance().icon(icon, Role::secondary));
    button->setIconSize({12, 12});
    button->setFixedSize(20, 20);
    button->setToolTip(words);
    button->setAccessibleName(words);
    button->setObjectName(name);
    return button;
}

bool same(const RunEntry& one, const RunEntry& other) { return one.id == other.id && one.name == other.name; }

} // namespace

QueueList::QueueList(QWidget* parent)
    : QWidget(parent), title_(new QLabel), content_(new QWidget), rows_(new QVBoxLayout(content_)) {
    title_->setProperty("section", true);
    title_->setContentsMargins(8, 0, 0, 0);
    title_->setObjectName(QStringLiteral("queueTitle"));
    content_->setProperty("clear", true);
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setSpacing(0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(content_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(title_);
    column->addWidget(scroll);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    hide();
    connect(&Theme::instance(), &Theme::changed, this, &QueueList::fill);
}

void QueueList::set_runs(std::vector<RunEntry> runs) {
    std::ranges::stable_sort(runs, {}, &RunEntry::place);
    if (std::ranges::equal(runs, runs_, same))
        return;
    runs_ = std::move(runs);
    fill();
}

void QueueList::set_current(const QString& id) {
    if (id == current_)
        return;
    current_ = id;
    fill();
}

void QueueList::move(const QString& id, int by) {
    const auto run = std::ranges::find(runs_, id, &RunEntry::id);
    if (run == runs_.end())
        return;
    const auto to = run - runs_.begin() + by;
    if (to < 0 || to >= std::ssize(runs_))
        return;
    std::swap(*run, runs_[static_cast<std::size_t>(to)]); // seen at once; the machine's answer says the same
    QStringList ids;
    for (const RunEntry& entry : runs_)
        ids.append(entry.id);
    fill();
    emit order_wanted(ids);
}

void QueueList::fill() {
    const auto* focused = content_->focusWidget();
    const QString had_focus = focused && focused->hasFocus() ? focused->objectName() : QString();
    while (QLayoutItem* item = rows_->takeAt(0)) {
        item->widget()->hide();
        item->widget()->setObjectName({}); // the new rows have these names
        for (auto* child : item->widget()->findChildren<QWidget*>())
            child->setObjectName({});
        item->widget()->deleteLater(); // it may be the sender of what brought us here
        delete item;
    }
    for (std::size_t i = 0; i < runs_.size(); ++i)
        rows_->addWidget(make_row(i));
    title_->setText(tr("QUEUE (%1)").arg(runs_.size()));
    setVisible(!runs_.empty());
    const int shown = std::min(static_cast<int>(runs_.size()), most_rows);
    setFixedHeight(title_->sizeHint().height() + 4 + shown * queued_row_height);
    if (auto* again = had_focus.isEmpty() ? nullptr : content_->findChild<QWidget*>(had_focus))
        again->setFocus();
}

QWidget* QueueList::make_row(std::size_t index) {
    const RunEntry& run = runs_[index];
    auto* row = new QWidget;
    row->setProperty("row", run.id == current_ ? "current" : "plain");
    row->setAttribute(Qt::WA_StyledBackground);
    row->setFixedHeight(queued_row_height);
    row->setContextMenuPolicy(Qt::CustomContextMenu);
    auto* name = new QPushButton;
    name->setProperty("kind", "row");
    name->setObjectName(QStringLiteral("queue-name-%1").arg(run.name));
    name->setToolTip(run.id);
    name->setAccessibleName(tr("%1, place %2 in the queue").arg(run.name).arg(index + 1));
    name->setText(name->fontMetrics().elidedText(
        QStringLiteral("%1  %2").arg(index + 1).arg(run_title(run.name).in_one_line()), Qt::ElideRight, 116));
    auto* up = small_button(QStringLiteral("chevron-up"), tr("%1: earlier").arg(run.name),
                            QStringLiteral("queue-up-%1").arg(run.name));
    auto* down = small_button(QStringLiteral("chevron-down"), tr("%1: later").arg(run.name),
                              QStringLiteral("queue-down-%1").arg(run.name));
    auto* remove = small_button(QStringLiteral("close"), tr("%1: out of the queue").arg(run.name),
                                QStringLiteral("queue-remove-%1").arg(run.name));
    if (index == 0)
        set_refusal(up, tr("%1 is the next one already.").arg(run.name));
    if (index + 1 == runs_.size())
        set_refusal(down, tr("%1 is the last one already.").arg(run.name));
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(4, 0, 4, 0);
    line->setSpacing(0);
    line->addWidget(name, 1);
    for (QWidget* button : {up, down, remove})
        line->addWidget(button);
    connect(name, &QPushButton::clicked, this, [this, id = run.id] { emit run_chosen(id); });
    connect(up, &QToolButton::clicked, this, [this, id = run.id] { move(id, -1); });
    connect(down, &QToolButton::clicked, this, [this, id = run.id] { move(id, 1); });
    connect(remove, &QToolButton::clicked, this, [this, id = run.id] { emit remove_requested(id); });
    connect(row, &QWidget::customContextMenuRequested, this,
            [this, row, id = run.id](const QPoint& at) { emit menu_requested(id, row->mapToGlobal(at)); });
    return row;
}

} // namespace espalier
