// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_rail.h"

#include "tabular.h"

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace espalier {

namespace {

enum DataRole { id_role = Qt::UserRole, detail_role, state_role_id };

class RunDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {160, 53}; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const auto state = static_cast<RunState>(index.data(state_role_id).toInt());
        const QRect card = option.rect.adjusted(0, 2, 0, -2);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const bool chosen = option.state & QStyle::State_Selected;
        if (chosen || (option.state & QStyle::State_MouseOver)) {
            painter->setPen((option.state & QStyle::State_HasFocus) && chosen ? QPen(theme.color(Role::accent))
                                                                              : QPen(Qt::NoPen));
            painter->setBrush(theme.color(chosen ? Role::selection : Role::window));
            painter->drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
        }
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.color(state_role(state)));
        painter->drawEllipse(QPointF(card.left() + 12, card.center().y() + 0.5), 4, 4);
        const int left = card.left() + 24;
        const int width = card.right() - left - 6;
        painter->setPen(theme.color(Role::text));
        painter->setFont(theme.font(TextSize::normal, QFont::DemiBold));
        painter->drawText(QRect(left, card.top() + 7, width, 18), Qt::AlignLeft | Qt::AlignVCenter,
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, width));
        painter->setPen(theme.color(Role::secondary));
        painter->setFont(theme.font(TextSize::small));
        draw_tabular(*painter, QRect(left, card.top() + 26, width, 15), Qt::AlignLeft | Qt::AlignVCenter,
                     painter->fontMetrics().elidedText(index.data(detail_role).toString(), Qt::ElideRight, width));
        painter->restore();
    }
};

void fill(QListWidgetItem* item, const RunEntry& run) {
    item->setText(run.name);
    item->setData(id_role, run.id);
    item->setData(detail_role, run.detail);
    item->setData(state_role_id, static_cast<int>(run.state));
    item->setToolTip(run.id);
    item->setData(Qt::AccessibleTextRole,
                  QStringLiteral("%1, %2, %3").arg(run.name, state_title(run.state), run.detail));
}

QListWidgetItem* find_item(const QListWidget* list, const QString& id) {
    for (int i = 0; i < list->count(); ++i)
        if (list->item(i)->data(id_role) == id)
            return list->item(i);
    return nullptr;
}

} // namespace

RunRail::RunRail(QWidget* parent)
    : QWidget(parent), new_run_(new QPushButton(tr("New run"), this)), search_(new QLineEdit(this)),
      list_(new QListWidget(this)),
      empty_(new QLabel(tr("Runs that you start stay here, with their curves and checkpoints."), this)) {
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
    search_->setClearButtonEnabled(true);
    auto* title = new QLabel(tr("RUNS"), this);
    title->setProperty("section", true);
    title->setContentsMargins(8, 0, 0, 0);
    list_->setItemDelegate(new RunDelegate(list_));
    list_->setAccessibleName(tr("Runs"));
    list_->setObjectName(QStringLiteral("runList"));
    list_->setMouseTracking(true);
    list_->setUniformItemSizes(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
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

    connect(new_run_, &QPushButton::clicked, this, &RunRail::new_run_requested);
    connect(search_, &QLineEdit::textChanged, this, &RunRail::filter);
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
            emit menu_requested(item->data(id_role).toString(), list_->viewport()->mapToGlobal(at));
    });
}

void RunRail::set_runs(const std::vector<RunEntry>& runs) {
    const QString chosen = current();
    const QStringList several = selected();
    const QSignalBlocker quiet(list_);
    while (list_->count() > static_cast<int>(runs.size()))
        delete list_->takeItem(list_->count() - 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (static_cast<int>(i) >= list_->count())
            list_->addItem(new QListWidgetItem);
        fill(list_->item(static_cast<int>(i)), runs[i]);
    }
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
            ids.append(list_->item(i)->data(id_role).toString());
    return ids;
}

void RunRail::set_selected(const QStringList& ids) {
    const QSignalBlocker quiet(list_);
    for (int i = 0; i < list_->count(); ++i)
        list_->item(i)->setSelected(ids.contains(list_->item(i)->data(id_role).toString()));
}

void RunRail::set_run(const RunEntry& run) {
    QListWidgetItem* item = find_item(list_, run.id);
    if (!item) {
        item = new QListWidgetItem;
        const QSignalBlocker quiet(list_);
        list_->insertItem(0, item);
        fill(item, run);
        filter();
        return;
    }
    fill(item, run);
}

void RunRail::set_current(const QString& id) {
    const QSignalBlocker quiet(list_);
    QListWidgetItem* item = id.isEmpty() ? nullptr : find_item(list_, id);
    list_->clearSelection();
    list_->setCurrentItem(item);
    list_->viewport()->update();
}

QString RunRail::current() const {
    return list_->currentItem() ? list_->currentItem()->data(id_role).toString() : QString();
}

int RunRail::count() const { return list_->count(); }

void RunRail::focus_search() { search_->setFocus(Qt::ShortcutFocusReason); }

void RunRail::filter() {
    const QString text = search_->text().trimmed();
    for (int i = 0; i < list_->count(); ++i)
        list_->item(i)->setHidden(!text.isEmpty() && !list_->item(i)->text().contains(text, Qt::CaseInsensitive));
    empty_->setVisible(list_->count() == 0);
}

} // namespace espalier
