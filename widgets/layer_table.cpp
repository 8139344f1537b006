// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_table.h"

#include "format.h"

#include <QAbstractTableModel>
#include <QLocale>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace espalier {

namespace {

constexpr int first_number = LayerTable::milliseconds; ///< columns from here on are numbers
/// Words are not cut below theirs: all columns together fit a window of 1280 pixels.
constexpr std::array<int, LayerTable::column_count> layer_column_widths{150, 102, 136, 114, 64, 64, 84, 60, 70, 88, 62};
constexpr int cell_padding = 16, head_width = 80; ///< of a column's head, with the arrow of its order
constexpr std::size_t measured_words = 12;        ///< the longest ones of a column: a supernet has thousands

QString decimals(double value, int digits) { return screen_locale().toString(value, 'f', digits); }

} // namespace

class LayerTable::Model : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Returns whether they are the same layers with other numbers.
    bool set_rows(std::vector<LayerRow> rows) {
        const bool same = std::ranges::equal(rows, rows_, {}, &LayerRow::layer, &LayerRow::layer);
        if (!same)
            beginResetModel();
        rows_ = std::move(rows);
        total_ = 0;
        for (const LayerRow& row : rows_)
            total_ += std::isfinite(row.milliseconds) ? row.milliseconds : 0;
        if (!same)
            endResetModel();
        else if (!rows_.empty())
            emit dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, column_count - 1));
        return same;
    }
    /// Of the words of a column.
    [[nodiscard]] int widest(int column, const QFontMetrics& metrics) const {
        std::vector<QString> words;
        for (const LayerRow& row : rows_)
            words.push_back(text_of(row, column));
        const auto measured = std::min(words.size(), measured_words);
        std::ranges::partial_sort(words, words.begin() + static_cast<std::ptrdiff_t>(measured), std::greater(),
                                  &QString::size);
        int width = 0;
        for (std::size_t i = 0; i < measured; ++i)
            width = std::max(width, metrics.horizontalAdvance(words[i]));
        return width;
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex&) const override { return column_count; }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        const LayerRow& row = rows_[static_cast<std::size_t>(index.row())];
        if (role == Qt::DisplayRole)
            return shown(row, index.column());
        if (role == Qt::ToolTipRole)
            return index.column() == milliseconds && std::isfinite(row.forward_milliseconds)
                       ? LayerTable::tr("forward %1 ms, backward %2 ms")
                             .arg(decimals(row.forward_milliseconds, 3),
                                  decimals(row.milliseconds - row.forward_milliseconds, 3))
                       : shown(row, index.column());
        if (role == plain_role)
            return plain(row, index.column());
        if (role == sort_role)
            return index.column() < first_number ? QVariant(text_of(row, index.column()))
                                                 : QVariant(number_of(row, index.column()));
        return role == Qt::TextAlignmentRole ? alignment(index.column()) : QVariant();
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal)
            return {};
        if (role == Qt::DisplayRole)
            return title(section);
        return role == Qt::TextAlignmentRole ? alignment(section) : QVariant();
    }

private:
    [[nodiscard]] static QString title(int column) {
        static const std::array<QString, column_count> names{
            LayerTable::tr("Layer"),  LayerTable::tr("Kind"),       LayerTable::tr("Output"), LayerTable::tr("Kernel"),
            LayerTable::tr("ms"),     LayerTable::tr("Share"),      LayerTable::tr("GFLOPS"), LayerTable::tr("GB/s"),
            LayerTable::tr("Memory"), LayerTable::tr("Parameters"), LayerTable::tr("FLOPs")};
        return names[static_cast<std::size_t>(column)];
    }
    [[nodiscard]] QString plain(const LayerRow& row, int column) const {
        if (column < first_number)
            return text_of(row, column);
        const double value = number_of(row, column);
        return value < 0 ? QString() : QLocale::c().toString(value, 'g', 6);
    }
    [[nodiscard]] static QVariant alignment(int column) {
        return QVariant(Qt::AlignVCenter | (column >= first_number ? Qt::AlignRight : Qt::AlignLeft));
    }
    [[nodiscard]] static QString text_of(const LayerRow& row, int column) {
        return column == layer ? row.layer : column == kind ? row.kind : column == shape ? row.shape : row.kernel;
    }
    /// Below 0 where it is not known, so that it is sorted behind what is.
    [[nodiscard]] double number_of(const LayerRow& row, int column) const {
        const double value = column == milliseconds ? row.milliseconds
                             : column == share      ? row.milliseconds / total_
                             : column == gflops     ? row.gflops
                             : column == gbps       ? row.gbps
                             : column == memory     ? row.memory
                             : column == parameters ? row.parameters
                                                    : row.flops;
        return std::isfinite(value) ? value : -1;
    }
    [[nodiscard]] QString shown(const LayerRow& row, int column) const {
        if (column < first_number)
            return text_of(row, column);
        const double value = number_of(row, column);
        if (value < 0)
            return QStringLiteral("–");
        switch (column) {
        case milliseconds:
            return decimals(value, 3);
        case share:
            return format_percent(value);
        case gflops:
            return decimals(value, value < 100 ? 1 : 0);
        case gbps:
            return decimals(value, value < 100 ? 1 : 0);
        case memory:
            return format_bytes(value);
        case parameters:
            return format_count(value);
        default:
            return format_short(value);
        }
    }

    std::vector<LayerRow> rows_;
    double total_ = 0; ///< milliseconds
};

LayerTable::LayerTable(QWidget* parent)
    : SortedTable(new Model, layer_column_widths, Qt::DescendingOrder, parent),
      model_(static_cast<Model*>(order()->sourceModel())) {
    setAccessibleName(tr("Layers"));
}

void LayerTable::set_rows(std::vector<LayerRow> rows) {
    if (model_->set_rows(std::move(rows)))
        return;
    for (int column = 0; column < first_number; ++column)
        words_[static_cast<std::size_t>(column)] =
            std::max(head_width, model_->widest(column, fontMetrics()) + cell_padding);
    share_out(viewport()->width());
}

/// Words get what they need, if that is there: what is too much goes to the first column, too little cuts the kernels'
/// names first, for they are the longest. Numbers keep their columns.
void LayerTable::share_out(int room) {
    std::array<int, milliseconds> widths{};
    for (int column = 0; column < column_count; ++column) {
        const auto at = static_cast<std::size_t>(column);
        if (column < first_number)
            widths[at] = words_[at] > 0 ? words_[at] : layer_column_widths[at];
        room -= column < first_number ? widths[at] : columnWidth(column);
    }
    for (int column = first_number - 1; column >= 0; --column) {
        const auto at = static_cast<std::size_t>(column);
        const int taken = std::clamp(-room, 0, std::max(0, widths[at] - layer_column_widths[at]));
        widths[at] -= taken;
        room += taken;
    }
    widths[layer] += std::max(0, room);
    for (int column = 0; column < first_number; ++column)
        setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
}

} // namespace espalier
