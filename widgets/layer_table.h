// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sorted_table.h"

#include <array>
#include <limits>
#include <vector>

namespace espalier {

/// A layer as it is planned, and as it was last timed: numbers that are not known (yet) are NaN.
struct LayerRow {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    QString layer, kind, shape, kernel;
    double parameters = 0, flops = 0;
    double memory = unknown;       ///< bytes of its tensors
    double milliseconds = unknown; ///< of a step, forward and backward
    double forward_milliseconds = unknown;
    double gflops = unknown; ///< reached
    double gbps = unknown;   ///< GB/s of the memory's traffic reached

    bool operator==(const LayerRow&) const = default;
};

/// The layers of a network with what each one takes. Sorted by a click on a column's head, a third click brings the
/// network's own order back; Ctrl+C copies the selected rows. Only the rows in sight cost anything: a supernet has
/// thousands.
class LayerTable : public SortedTable {
    Q_OBJECT

public:
    enum Column {
        layer,
        kind,
        shape,
        kernel,
        milliseconds,
        share,
        gflops,
        gbps,
        memory,
        parameters,
        flops,
        column_count
    };

    explicit LayerTable(QWidget* parent = nullptr);
    /// The same layers with other numbers keep selection, scroll position and columns.
    void set_rows(std::vector<LayerRow> rows);

protected:
    void share_out(int room) override;

private:
    class Model;
    Model* model_;
    std::array<int, milliseconds> words_{}; ///< pixels that the columns of words need
};

} // namespace espalier
