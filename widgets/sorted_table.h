// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <span>

namespace espalier {

/// A table that a click on a column's head sorts (a third click brings the given order back), whose first column takes
/// the room that is left, and whose rows Ctrl+C copies for a spreadsheet; Ctrl+S sorts by the column of the cell where
/// the arrow keys are. Its model answers two roles of its own beside
/// the usual ones.
class SortedTable : public QTableView {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole; ///< what a column is sorted by
    static constexpr int plain_role =
        Qt::UserRole + 1; ///< as copied: numbers in the C locale, "" for what is not known

    /// Of all columns; the first one's is the least that it gets. `first`: the order of a column's first click.
    SortedTable(QAbstractTableModel* model, std::span<const int> widths, Qt::SortOrder first, QWidget* parent);

    /// The selected rows (all if none is) as they stand, with the columns' names: tabs between plain numbers.
    [[nodiscard]] QString text() const;

protected:
    /// The row of the model that a place of the view shows.
    [[nodiscard]] int source_row(const QModelIndex& index) const { return order_->mapToSource(index).row(); }
    [[nodiscard]] QSortFilterProxyModel* order() const { return order_; }
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    /// Gives the columns their widths, of which there are so many pixels in all.
    virtual void share_out(int room);

private:
    void sort_by(int column);

    QSortFilterProxyModel* order_;
    int least_first_;
};

} // namespace espalier
