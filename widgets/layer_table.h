// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>
#include <array>
#include <vector>

namespace espalier {

/// A layer as it is shown: name, kind, shape of its output, parameters, FLOPs.
using LayerRow = std::array<QString, 5>;

/// The layers of a network. Only the rows in sight cost anything: a supernet has thousands.
class LayerTable : public QTableView {
    Q_OBJECT

public:
    explicit LayerTable(QWidget* parent = nullptr);
    void set_rows(std::vector<LayerRow> rows);

private:
    class Model;
    Model* model_;
};

} // namespace espalier
