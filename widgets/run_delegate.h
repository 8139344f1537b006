// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_entry.h"

#include <QStyledItemDelegate>

namespace espalier {

/// Draws a run of the rail: a dot for its state, name (of one that nobody chose: what it trains, and when it began),
/// detail, and its tags as chips; its name is edited in place.
class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    enum DataRole { id_role = Qt::UserRole, detail_role, state_role_id, tags_role, search_role };

    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                        const QModelIndex& index) const override;
    void setEditorData(QWidget* editor, const QModelIndex& index) const override;
    void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;

protected:
    /// Another window in front, or a menu that closes, ends no editing.
    bool eventFilter(QObject* editor, QEvent* event) override;

signals:
    void renamed(const QString& id, const QString& name) const;
};

} // namespace espalier
