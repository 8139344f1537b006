// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_table.h"

#include "theme.h"

#include <QAbstractTableModel>
#include <QHeaderView>

namespace espalier {

namespace {

constexpr int row_height = 28;
constexpr int first_number = 3; ///< columns from here on are numbers
constexpr std::array<int, 5> widths{320, 180, 200, 120, 120};

} // namespace

class LayerTable::Model : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    void set_rows(std::vector<LayerRow> rows) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex&) const override { return static_cast<int>(LayerRow().size()); }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        const auto column = static_cast<std::size_t>(index.column());
        if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
            return rows_[static_cast<std::size_t>(index.row())][column];
        return role == Qt::TextAlignmentRole ? alignment(index.column()) : QVariant();
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        static const LayerRow names{tr("Layer"), tr("Kind"), tr("Output"), tr("Parameters"), tr("FLOPs")};
        if (orientation == Qt::Horizontal && role == Qt::DisplayRole)
            return names[static_cast<std::size_t>(section)];
        return role == Qt::TextAlignmentRole ? alignment(section) : QVariant();
    }

private:
    [[nodiscard]] static QVariant alignment(int column) {
        return QVariant(Qt::AlignVCenter | (column >= first_number ? Qt::AlignRight : Qt::AlignLeft));
    }

    std::vector<LayerRow> rows_;
};

LayerTable::LayerTable(QWidget* parent) : QTableView(parent), model_(new Model(this)) {
    setModel(model_);
    setAccessibleName(tr("Layers"));
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    setSelectionBehavior(SelectRows);
    setVerticalScrollMode(ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(row_height);
    horizontalHeader()->setHighlightSections(false);
    for (int column = 0; column < static_cast<int>(widths.size()); ++column)
        setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
}

void LayerTable::set_rows(std::vector<LayerRow> rows) { model_->set_rows(std::move(rows)); }

} // namespace espalier
