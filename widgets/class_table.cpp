// SPDX-License-Identifier: GPL-3.0-or-later
#include "class_table.h"

#include "format.h"

#include <QAbstractTableModel>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSortFilterProxyModel>
#include <algorithm>
#include <array>
#include <cmath>

namespace espalier {

namespace {

constexpr int row_height = 28;
constexpr int sort_role = Qt::UserRole;
constexpr int least_name_width = 110;
constexpr std::array<int, ClassTable::column_count> widths{least_name_width, 74, 82, 74, 70};

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
        case sort_role:
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
    [[nodiscard]] QString plain(int row, int column) const {
        const ClassRow& one = rows_[static_cast<std::size_t>(row)];
        if (column == name)
            return one.name;
        if (column == ClassTable::images)
            return QString::number(one.images);
        const double value = number(one, column);
        return value < 0 ? QString() : QLocale::c().toString(value, 'g', 6);
    }
    [[nodiscard]] static QString title(int column) {
        static const std::array<QString, column_count> names{tr("Class"), tr("Images"), tr("Precision"), tr("Recall"),
                                                             tr("F1")};
        return names[static_cast<std::size_t>(column)];
    }

private:
    [[nodiscard]] static QString story(int column) {
        switch (column) {
        case ClassTable::precision:
            return tr("Of the images taken for the class, how many are of it");
        case ClassTable::recall:
            return tr("Of the images of the class, how many are told right");
        case ClassTable::f1:
            return tr("The harmonic mean of precision and recall");
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
    : QTableView(parent), model_(new Model(this)), order_(new QSortFilterProxyModel(this)) {
    order_->setSourceModel(model_);
    order_->setSortRole(sort_role);
    order_->setSortCaseSensitivity(Qt::CaseInsensitive);
    setModel(order_);
    setAccessibleName(tr("Classes"));
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(row_height);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
    order_->sort(-1);
    for (int column = 0; column < column_count; ++column)
        setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { emit class_chosen(order_->mapToSource(index).row()); });
}

void ClassTable::set_rows(std::vector<ClassRow> rows) { model_->set_rows(std::move(rows)); }

QString ClassTable::text() const {
    std::vector<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::ranges::sort(rows);
    if (rows.empty())
        for (int row = 0; row < order_->rowCount(); ++row)
            rows.push_back(row);
    QStringList names;
    for (int column = 0; column < column_count; ++column)
        names.append(Model::title(column));
    QStringList lines{names.join(QLatin1Char('\t'))};
    for (const int row : rows) {
        const int source = order_->mapToSource(order_->index(row, 0)).row();
        QStringList fields;
        for (int column = 0; column < column_count; ++column)
            fields.append(model_->plain(source, column));
        lines.append(fields.join(QLatin1Char('\t')));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void ClassTable::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        QGuiApplication::clipboard()->setText(text());
    else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid())
        emit class_chosen(order_->mapToSource(currentIndex()).row());
    else
        QTableView::keyPressEvent(event);
}

void ClassTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    int others = 0;
    for (int column = 1; column < column_count; ++column)
        others += columnWidth(column);
    setColumnWidth(0, std::max(least_name_width, viewport()->width() - others));
}

} // namespace espalier
