// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sorted_table.h"

#include <vector>

namespace espalier {

/// How well a class is told: what cannot be worked out is NaN.
struct ClassRow {
    QString name;
    qint64 images = 0;
    double precision = 0, recall = 0, f1 = 0; ///< 0 to 1

    bool operator==(const ClassRow&) const = default;
};

/// Precision, recall and F1 of each class. Sorted by a click on a column's head, a third click brings the classes' own
/// order back; Ctrl+C copies the selected rows (all if none is).
class ClassTable : public SortedTable {
    Q_OBJECT

public:
    enum Column { name, images, precision, recall, f1, column_count };

    explicit ClassTable(QWidget* parent = nullptr);
    void set_rows(std::vector<ClassRow> rows);

signals:
    /// A row was clicked twice, or Return pressed on it: the class's place in set_rows().
    void class_chosen(int place);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void share_out(int room) override;

private:
    class Model;
    Model* model_;
};

} // namespace espalier
