// SPDX-License-Identifier: GPL-3.0-or-later
#include "sorted_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>
#include <vector>

namespace espalier {

namespace {

constexpr int row_height = 28;

} // namespace

SortedTable::SortedTable(QAbstractTableModel* model, std::span<const int> widths, Qt::SortOrder first, QWidget* parent)
    : QTableView(parent), order_(new QSortFilterProxyModel(this)), least_first_(widths.front()) {
    model->setParent(this);
    order_->setSourceModel(model);
    order_->setSortRole(sort_role);
    setModel(order_);
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(row_height);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, first);
    setSortingEnabled(true);
    order_->sort(-1);
    for (int column = 0; column < static_cast<int>(widths.size()); ++column)
        setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
}

QString SortedTable::text() const {
    std::vector<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::ranges::sort(rows);
    if (rows.empty())
        for (int row = 0; row < order_->rowCount(); ++row)
            rows.push_back(row);
    const int columns = order_->columnCount();
    QStringList names;
    for (int column = 0; column < columns; ++column)
        names.append(order_->headerData(column, Qt::Horizontal).toString());
    QStringList lines{names.join(QLatin1Char('\t'))};
    for (const int row : rows) {
        QStringList fields;
        for (int column = 0; column < columns; ++column)
            fields.append(order_->index(row, column).data(plain_role).toString());
        lines.append(fields.join(QLatin1Char('\t')));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

/// As clicks on its head: upwards, downwards, not at all.
void SortedTable::sort_by(int column) {
    QHeaderView* head = horizontalHeader();
    if (head->sortIndicatorSection() != column)
        head->setSortIndicator(column, Qt::AscendingOrder);
    else if (head->sortIndicatorOrder() == Qt::AscendingOrder)
        head->setSortIndicator(column, Qt::DescendingOrder);
    else
        head->setSortIndicator(-1, Qt::AscendingOrder);
}

void SortedTable::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        QGuiApplication::clipboard()->setText(text());
    else if (event->key() == Qt::Key_S && event->modifiers() == Qt::ControlModifier)
        sort_by(currentIndex().column());
    else
        QTableView::keyPressEvent(event);
}

void SortedTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    share_out(viewport()->width());
}

void SortedTable::share_out(int room) {
    for (int column = 1; column < order_->columnCount(); ++column)
        room -= columnWidth(column);
    setColumnWidth(0, std::max(least_first_, room));
}

} // namespace espalier
