// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_delegate.h"

#include "run_title.h"
#include "tabular.h"

#include <QFocusEvent>
#include <QLineEdit>
#include <QPainter>

namespace espalier {

namespace {

constexpr int text_left = 24; ///< of a card: the dot stands before it
constexpr int height = 53, height_with_tags = 75;
constexpr int time_gap = 8; ///< between how it stands and when it began

QRect card_of(const QStyleOptionViewItem& option) { return option.rect.adjusted(0, 2, 0, -2); }

/// As many of the parts as there is room for, at least of the first one.
QString fitted(const QString& detail, const QFontMetrics& metrics, int room) {
    const QString whole = whole_parts(detail.split(QStringLiteral(" · ")), metrics, room);
    return whole.isEmpty() ? metrics.elidedText(detail, Qt::ElideRight, room) : whole;
}

/// As many chips as there is room for; what is left is counted.
void draw_chips(QPainter& painter, const QRect& rect, const QStringList& tags, Role ground) {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(TextSize::small));
    const QFontMetrics metrics = painter.fontMetrics();
    constexpr int padding = 6, gap = 4;
    int left = rect.left();
    for (qsizetype i = 0; i < tags.size(); ++i) {
        const qsizetype after = tags.size() - i - 1;
        const QString more = QStringLiteral("+%1").arg(tags.size() - i);
        const int kept = after > 0 ? metrics.horizontalAdvance(more) + gap : 0;
        const int room = rect.right() - left - kept - 2 * padding;
        const bool fits = metrics.horizontalAdvance(tags[i]) <= room;
        if (!fits && i > 0) {
            painter.setPen(theme.color(Role::secondary));
            painter.drawText(QRect(left, rect.top(), rect.right() - left, rect.height()), Qt::AlignVCenter, more);
            return;
        }
        const QString text = metrics.elidedText(tags[i], Qt::ElideRight, room);
        const QRect chip(left, rect.top(), metrics.horizontalAdvance(text) + 2 * padding, rect.height());
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(ground));
        painter.drawRoundedRect(QRectF(chip), 4, 4);
        painter.setPen(theme.color(Role::secondary));
        painter.drawText(chip, Qt::AlignCenter, text);
        left = chip.right() + 1 + gap;
    }
}

} // namespace

QSize RunDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    return {160, index.data(tags_role).toStringList().isEmpty() ? height : height_with_tags};
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const auto state = static_cast<RunState>(index.data(state_role_id).toInt());
    const QRect card = card_of(option);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool chosen = option.state & QStyle::State_Selected, focused = option.state & QStyle::State_HasFocus;
    if (chosen || focused || (option.state & QStyle::State_MouseOver)) {
        painter->setPen(focused ? QPen(theme.color(Role::accent)) : QPen(Qt::NoPen));
        painter->setBrush(theme.color(chosen ? Role::selection : Role::window));
        painter->drawRoundedRect(QRectF(card).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.color(state_role(state)));
    painter->drawEllipse(QPointF(card.left() + 12, card.top() + 24.5), 4, 4);
    const int left = card.left() + text_left;
    const int width = card.right() - left - 6;
    const RunTitle title = run_title(index.data().toString());
    painter->setPen(theme.color(Role::text));
    painter->setFont(theme.font(TextSize::normal, QFont::DemiBold));
    painter->drawText(QRect(left, card.top() + 7, width, 18), Qt::AlignLeft | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(title.text, Qt::ElideMiddle, width));
    painter->setPen(theme.color(Role::secondary));
    painter->setFont(theme.font(TextSize::small));
    const QRect second_line(left, card.top() + 26, width, 15);
    int room = width;
    if (const QString when = title.when(); !when.isEmpty()) {
        draw_tabular(*painter, second_line, Qt::AlignRight | Qt::AlignVCenter, when);
        room -= tabular_width(painter->fontMetrics(), when) + time_gap;
    }
    draw_tabular(*painter, second_line, Qt::AlignLeft | Qt::AlignVCenter,
                 fitted(index.data(detail_role).toString(), painter->fontMetrics(), room));
    if (const QStringList tags = index.data(tags_role).toStringList(); !tags.isEmpty())
        draw_chips(*painter, QRect(left, card.top() + 46, width, 17), tags,
                   chosen ? Role::panel : Role::inner_border); // which can hardly be told from the selection
    painter->restore();
}

QWidget* RunDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const {
    auto* edit = new QLineEdit(parent);
    edit->setObjectName(QStringLiteral("renameRun"));
    edit->setProperty("inPlace", true);
    edit->setAccessibleName(tr("Name of the run"));
    edit->setMaxLength(100);
    edit->setText(index.data().toString());
    edit->selectAll();
    edit->setProperty("run", index.data(id_role)); // rows move while it is edited
    return edit;
}

void RunDelegate::setEditorData(QWidget*, const QModelIndex&) const {
    // Set when it was made: what happens to the run meanwhile must not undo what was typed.
}

void RunDelegate::setModelData(QWidget* editor, QAbstractItemModel*, const QModelIndex&) const {
    const QString name = static_cast<QLineEdit*>(editor)->text().trimmed();
    if (!name.isEmpty())
        emit renamed(editor->property("run").toString(), name);
}

void RunDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const {
    const QRect card = card_of(option);
    editor->setGeometry(card.left() + text_left - 5, card.top() + 3, card.width() - text_left + 2, 26);
}

bool RunDelegate::eventFilter(QObject* editor, QEvent* event) {
    if (event->type() == QEvent::FocusOut) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason)
            return false;
    }
    return QStyledItemDelegate::eventFilter(editor, event);
}

} // namespace espalier
