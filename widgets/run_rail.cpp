// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_rail.h"

#include "queue_list.h"
#include "run_delegate.h"
#include "run_title.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int longest_tip = 500;

/// All that a search looks at.
QString searched(const RunEntry& run) {
    return (QStringList{run.name, run.preset, state_title(run.state), run.notes} + run.tags).join(QLatin1Char('\n'));
}

/// The whole name, where it is kept, and the notes.
QString tip(const RunEntry& run) {
    QStringList lines;
    if (run.id.section(QLatin1Char('/'), -1) != run.name)
        lines.append(run.name);
    lines.append(run.id);
    if (!run.notes.isEmpty())
        lines << QString() << run.notes.left(longest_tip);
    return lines.join(QLatin1Char('\n'));
}

void fill(QListWidgetItem* item, const RunEntry& run) {
    item->setText(run.name);
    item->setFlags(item->flags() | Qt::ItemIsEditable);
    item->setData(RunDelegate::id_role, run.id);
    item->setData(RunDelegate::detail_role, run.detail);
    item->setData(RunDelegate::state_role_id, static_cast<int>(run.state));
    item->setData(RunDelegate::tags_role, run.tags);
    item->setData(RunDelegate::search_role, searched(run));
    item->setToolTip(tip(run));
    const RunTitle title = run_title(run.name);
    QStringList spoken{title.text, title.begun(), state_title(run.state), run.detail};
    spoken.removeAll(QString());
    item->setData(Qt::AccessibleTextRole, (spoken + run.tags).join(QStringLiteral(", ")));
}

QListWidgetItem* find_item(const QListWidget* list, const QString& id) {
    for (int i = 0; i < list->count(); ++i)
        if (list->item(i)->data(RunDelegate::id_role) == id)
            return list->item(i);
    return nullptr;
}

} // namespace

RunRail::RunRail(QWidget* parent)
    : QWidget(parent), new_run_(new QPushButton(tr("New run"), this)), search_(new QLineEdit(this)),
      list_(new QListWidget(this)), queue_(new QueueList(this)), empty_(new QLabel(this)) {
    setObjectName(QStringLiteral("runRail"));
    setAttribute(Qt::WA_StyledBackground);
    setFixedWidth(216);
    new_run_->setObjectName(QStringLiteral("newRun"));
    new_run_->setProperty("kind", "primary");
    const auto paint = [this] {
        new_run_->setIcon(Theme::instance().button_icon(QStringLiteral("plus"), Role::on_accent));
    };
    paint();
    connect(&Theme::instance(), &Theme::changed, this, paint);
    search_->setProperty("search", true);
    search_->setPlaceholderText(tr("Search runs…"));
    search_->setAccessibleName(tr("Search runs"));
    search_->setObjectName(QStringLiteral("searchRuns"));
    search_->setToolTip(tr("By name, tag, preset, state or notes"));
    search_->setClearButtonEnabled(true);
    auto* title = new QLabel(tr("RUNS"), this);
    title->setProperty("section", true);
    title->setContentsMargins(8, 0, 0, 0);
    auto* delegate = new RunDelegate(list_);
    list_->setItemDelegate(delegate);
    list_->setEditTriggers(QAbstractItemView::EditKeyPressed);
    list_->setAccessibleName(tr("Runs"));
    list_->setObjectName(QStringLiteral("runList"));
    list_->setMouseTracking(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    empty_->setObjectName(QStringLiteral("noRuns"));
    empty_->setProperty("tone", "hint");
    empty_->setProperty("textSize", "small");
    empty_->setWordWrap(true);
    empty_->setContentsMargins(8, 0, 8, 0);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 12, 9, 8);
    column->setSpacing(8);
    column->addWidget(new_run_);
    column->addWidget(search_);
    column->addSpacing(8);
    column->addWidget(title);
    column->addWidget(empty_);
    column->addWidget(list_, 1);
    column->addStretch(0); // the queue stays at the bottom while there is no list
    column->addWidget(queue_);

    connect(new_run_, &QPushButton::clicked, this, &RunRail::new_run_requested);
    connect(search_, &QLineEdit::textChanged, this, &RunRail::filter);
    connect(delegate, &RunDelegate::renamed, this, &RunRail::rename_requested);
    connect(queue_, &QueueList::run_chosen, this, &RunRail::run_chosen);
    connect(queue_, &QueueList::order_wanted, this, &RunRail::queue_order_wanted);
    connect(queue_, &QueueList::remove_requested, this, &RunRail::queue_remove_requested);
    connect(queue_, &QueueList::menu_requested, this, &RunRail::menu_requested);
    auto* remove = new QShortcut(QKeySequence::Delete, list_, {}, {}, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, [this] {
        if (!current().isEmpty())
            emit delete_requested(current());
    });
    list_->installEventFilter(this);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    connect(list_, &QListWidget::itemSelectionChanged, this, [this] {
        const QStringList ids = selected();
        if (ids.size() == 1)
            emit run_chosen(ids.front());
        else if (ids.size() > 1)
            emit compare_chosen(ids);
    });
    connect(list_, &QListWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        if (const auto* item = list_->itemAt(at))
            emit menu_requested(item->data(RunDelegate::id_role).toString(), list_->viewport()->mapToGlobal(at));
    });
}

void RunRail::set_runs(const std::vector<RunEntry>& runs) {
    const QStringList several = selected();
    const QString chosen = several.size() > 1 ? current() : shown_;
    const QSignalBlocker quiet(list_);
    std::vector<RunEntry> waiting;
    int row = 0;
    for (const RunEntry& run : runs) {
        if (run.state == RunState::queued) {
            waiting.push_back(run);
            continue;
        }
        if (row >= list_->count())
            list_->addItem(new QListWidgetItem);
        fill(list_->item(row++), run);
    }
    while (list_->count() > row)
        delete list_->takeItem(list_->count() - 1);
    queue_->set_runs(std::move(waiting));
    list_->clearSelection();
    list_->setCurrentItem(find_item(list_, chosen));
    if (several.size() > 1)
        set_selected(several);
    filter();
}

QStringList RunRail::selected() const {
    QStringList ids;
    for (int i = 0; i < list_->count(); ++i)
        if (list_->item(i)->isSelected())
            ids.append(list_->item(i)->data(RunDelegate::id_role).toString());
    return ids;
}

void RunRail::set_selected(const QStringList& ids) {
    const QSignalBlocker quiet(list_);
    for (int i = 0; i < list_->count(); ++i)
        list_->item(i)->setSelected(ids.contains(list_->item(i)->data(RunDelegate::id_role).toString()));
}

void RunRail::set_run(const RunEntry& run) {
    QListWidgetItem* item = find_item(list_, run.id);
    if (!item) {
        item = new QListWidgetItem;
        const QSignalBlocker quiet(list_);
        list_->insertItem(0, item);
    }
    fill(item, run);
    filter();
}

void RunRail::rename(const QString& id) {
    if (QListWidgetItem* item = find_item(list_, id))
        list_->editItem(item);
}

void RunRail::set_current(const QString& id) {
    const QSignalBlocker quiet(list_);
    QListWidgetItem* item = id.isEmpty() ? nullptr : find_item(list_, id);
    list_->clearSelection();
    list_->setCurrentItem(item);
    shown_ = id;
    queue_->set_current(id);
    list_->viewport()->update();
}

QString RunRail::current() const {
    return list_->currentItem() ? list_->currentItem()->data(RunDelegate::id_role).toString() : QString();
}

int RunRail::count() const { return list_->count(); }

bool RunRail::list_has_focus() const {
    const QWidget* focused = QApplication::focusWidget();
    return focused && (focused == list_ || list_->isAncestorOf(focused));
}

bool RunRail::eventFilter(QObject* watched, QEvent* event) {
    if (watched != list_ || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() != Qt::Key_Space || key->modifiers() != Qt::NoModifier)
        return false;
    event->ignore(); // it goes on to the parents
    return true;
}

void RunRail::focus_search() { search_->setFocus(Qt::ShortcutFocusReason); }

void RunRail::filter() {
    const QStringList words = search_->text().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    int shown = 0;
    for (int i = 0; i < list_->count(); ++i) {
        const QString text = list_->item(i)->data(RunDelegate::search_role).toString();
        const bool found =
            std::ranges::all_of(words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
        list_->item(i)->setHidden(!found);
        shown += found;
    }
    empty_->setText(list_->count() == 0 ? tr("Runs that you start stay here, with their curves and checkpoints.")
                                        : tr("No run has this in its name, tags, preset, state or notes."));
    empty_->setVisible(shown == 0);
    list_->setVisible(shown > 0);
}

} // namespace espalier
