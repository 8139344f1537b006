// SPDX-License-Identifier: GPL-3.0-or-later
#include "class_table.h"

#include "format.h"

#include <QAbstractTableModel>
#include <QKeyEvent>
#include <QLocale>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace espalier {

namespace {

constexpr std::array<int, ClassTable::column_count> class_column_widths{110, 74, 82, 74, 70},
    least_class_column_widths{56, 62, 70, 62, 62}; ///< a head and "100.0 %" stand in them

} // namespace

class ClassTable::Model : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    void set_rows(std::vector<ClassRow> rows) {
        if (rows == rows_)
            return;
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex&) const override { return column_count; }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        const ClassRow& row = rows_[static_cast<std::size_t>(index.row())];
        switch (role) {
        case Qt::DisplayRole:
            return shown(row, index.column());
        case Qt::ToolTipRole:
            return index.column() == name ? QVariant(row.name) : QVariant();
        case Qt::TextAlignmentRole:
            return alignment(index.column());
        case SortedTable::plain_role:
            return plain(row, index.column());
        case SortedTable::sort_role:
            if (index.column() == name)
                return row.name;
            return index.column() == ClassTable::images ? QVariant(row.images) : QVariant(number(row, index.column()));
        default:
            return {};
        }
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal)
            return {};
        if (role == Qt::DisplayRole)
            return title(section);
        if (role == Qt::ToolTipRole)
            return story(section);
        return role == Qt::TextAlignmentRole ? alignment(section) : QVariant();
    }

private:
    [[nodiscard]] static QString title(int column) {
        static const std::array<QString, column_count> names{ClassTable::tr("Class"), ClassTable::tr("Images"),
                                                             ClassTable::tr("Precision"), ClassTable::tr("Recall"),
                                                             ClassTable::tr("F1")};
        return names[static_cast<std::size_t>(column)];
    }
    [[nodiscard]] static QString plain(const ClassRow& row, int column) {
        if (column == name)
            return row.name;
        if (column == ClassTable::images)
            return QString::number(row.images);
        const double value = number(row, column);
        return value < 0 ? QString() : QLocale::c().toString(value, 'g', 6);
    }
    [[nodiscard]] static QString story(int column) {
        switch (column) {
        case ClassTable::precision:
            return ClassTable::tr("Of the images taken for the class, how many are of it");
        case ClassTable::recall:
            return ClassTable::tr("Of the images of the class, how many are told right");
        case ClassTable::f1:
            return ClassTable::tr("The harmonic mean of precision and recall");
        default:
            return {};
        }
    }
    [[nodiscard]] static QVariant alignment(int column) {
        return QVariant(Qt::AlignVCenter | (column == name ? Qt::AlignLeft : Qt::AlignRight));
    }
    /// Below 0 where it is not known, so that it is sorted behind what is.
    [[nodiscard]] static double number(const ClassRow& row, int column) {
        const double value = column == ClassTable::precision ? row.precision
                             : column == ClassTable::recall  ? row.recall
                                                             : row.f1;
        return std::isfinite(value) ? value : -1;
    }
    [[nodiscard]] static QString shown(const ClassRow& row, int column) {
        if (column == name)
            return row.name;
        if (column == ClassTable::images)
            return format_count(static_cast<double>(row.images));
        const double value = number(row, column);
        return value < 0 ? QStringLiteral("–") : format_percent(value);
    }

    std::vector<ClassRow> rows_;
};

ClassTable::ClassTable(QWidget* parent)
    : SortedTable(new Model, class_column_widths, Qt::AscendingOrder, parent),
      model_(static_cast<Model*>(order()->sourceModel())) {
    setAccessibleName(tr("Classes"));
    order()->setSortCaseSensitivity(Qt::CaseInsensitive);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { emit class_chosen(source_row(index)); });
}

void ClassTable::set_rows(std::vector<ClassRow> rows) { model_->set_rows(std::move(rows)); }

/// Where there is little room, what is free beside the numbers gives way first, then the names of the classes.
void ClassTable::share_out(int room) {
    std::array<int, column_count> widths = class_column_widths;
    room -= std::accumulate(widths.begin(), widths.end(), 0);
    for (std::size_t i = 1; i <= widths.size() && room < 0; ++i) {
        const std::size_t column = i % widths.size(); // the names come last
        const int taken = std::min(-room, widths[column] - least_class_column_widths[column]);
        widths[column] -= taken;
        room += taken;
    }
    widths[name] += std::max(0, room);
    for (int column = 0; column < column_count; ++column)
        setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
}

void ClassTable::keyPressEvent(QKeyEvent* event) {
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid())
        emit class_chosen(source_row(currentIndex()));
    else
        SortedTable::keyPressEvent(event);
}

} // namespace espalier
