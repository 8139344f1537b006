// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "network_tree.h"

#include <QPointF>
#include <QRectF>
#include <QSet>
#include <vector>

namespace espalier {

/// Where everything of a network stands, in logical pixels: from the top downwards in ranks (Sugiyama et al. 1981),
/// each open block laid out by itself and put into its block's as one box.
struct NetworkLayout {
    struct Box {
        int item = 0;
        QRectF place;
        bool open = false; ///< a block that shows what is in it; boxes of what is in it follow
    };
    /// A tensor on its way from one box to others of the same block. Blocks are entered and left through their edges.
    struct Edge {
        int source = 0;              ///< node that gives the tensor
        int from = -1;               ///< item, -1: the upper edge of the block
        int to = -1;                 ///< item, -1: the lower edge of the block
        std::vector<QPointF> points; ///< pairs: straight through a rank, curved between two
    };
    struct Label {
        QPointF at; ///< left end of the base line
        int source = 0;
    };

    std::vector<Box> boxes;
    std::vector<Edge> edges;
    std::vector<Label> labels; ///< shapes of tensors, below the boxes that give them
    QRectF bounds;

    static constexpr double box_width = 216, box_height = 46;
};

/// Lays out a tree whose blocks in `open` (items) show what is in them. Takes some 10 ms for a thousand boxes.
[[nodiscard]] NetworkLayout lay_out(const NetworkTree& tree, const QSet<int>& open);

} // namespace espalier
