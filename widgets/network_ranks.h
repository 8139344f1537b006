// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QSizeF>
#include <vector>

namespace espalier {

/// A directed graph to be drawn in ranks from the top downwards. Edges go from earlier vertices to later ones.
struct RankedGraph {
    enum class Pin { none, top, bottom }; ///< in the first or the last rank, whatever the edges say

    struct Vertex {
        QSizeF size;
        Pin pin = Pin::none;
        QPointF at; ///< middle of the upper side; found by rank()
    };
    struct Edge {
        int from = 0, to = 0;
        int source = 0;                        ///< edges from one vertex with one source share their way
        double from_offset = 0, to_offset = 0; ///< where it leaves and enters, from the middle
        std::vector<QPointF> points;           ///< in pairs, see NetworkLayout::Edge; found by rank()
    };

    std::vector<Vertex> vertices;
    std::vector<Edge> edges;
    QSizeF size; ///< found by rank()
};

/// Finds places: longest paths give the ranks, edges that cross ranks get a place in each of them, barycentres the
/// order within a rank, and least squares under the order the places across.
void rank(RankedGraph& graph, double gap_between_ranks);

} // namespace espalier
