// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_layout.h"

#include "network_ranks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace espalier {

namespace {

constexpr double header = 30, padding = 14, gap_between_ranks = 40;

/// What an open block holds: vertices in the order in which they run (entries before, exits behind), and edges.
struct Level {
    enum class Kind { entry, item, exit };
    struct Vertex {
        Kind kind = Kind::item;
        int id = 0; ///< item, or the node whose tensor goes through the block's edge
    };
    std::vector<Vertex> vertices;
    std::map<std::pair<Kind, int>, int> places;
    std::vector<std::tuple<int, int, int>> edges; ///< from, to (vertices), source (node)

    int place(Kind kind, int id) {
        const auto [found, is_new] = places.emplace(std::pair{kind, id}, static_cast<int>(vertices.size()));
        if (is_new)
            vertices.push_back({kind, id});
        return found->second;
    }
};

class Layouter {
public:
    Layouter(const NetworkTree& tree, const QSet<int>& open) : tree_(tree), open_(open) {
        for (int item : open)
            levels_[item];
        levels_[0];
        for (auto& [item, level] : levels_)
            for (int child : tree.item(item).children)
                level.place(Level::Kind::item, child);
        for (std::size_t node = 0; node < tree.nodes().size(); ++node)
            for (int input : tree.nodes()[node].inputs)
                route(input, static_cast<int>(node));
    }

    NetworkLayout run() {
        const Part whole = block(0);
        whole_.bounds = QRectF({0, 0}, whole.size);
        put(whole, {0, 0});
        return std::move(whole_);
    }

private:
    /// An open block laid out by itself, at the origin.
    struct Part {
        QSizeF size;
        std::vector<NetworkLayout::Box> boxes;
        std::vector<NetworkLayout::Edge> edges;
        std::vector<NetworkLayout::Label> labels;
        std::vector<std::pair<int, Part>> open; ///< which box, what is in it
        std::map<int, double> entries, exits;   ///< x of each node's tensor on the block's edges
    };

    [[nodiscard]] bool shows(int block) const { return levels_.contains(block); }

    /// Blocks from the network's whole down to the one that holds the node.
    [[nodiscard]] std::vector<int> way_to(int node) const {
        std::vector<int> way;
        for (int item = tree_.leaf(node); item >= 0; item = tree_.item(item).parent)
            way.push_back(item);
        std::ranges::reverse(way);
        return way;
    }

    /// Puts the edge into every open block that it touches.
    void route(int source, int target) {
        const auto from = way_to(source), to = way_to(target);
        std::size_t common = 0;
        while (common + 1 < from.size() && common + 1 < to.size() && from[common + 1] == to[common + 1])
            ++common;
        if (common + 1 >= from.size() || common + 1 >= to.size() || !reachable(from, common))
            return;
        if (shows(from[common])) {
            Level& level = levels_[from[common]];
            connect(level, level.place(Level::Kind::item, from[common + 1]),
                    level.place(Level::Kind::item, to[common + 1]), source);
        }
        for (std::size_t i = common + 1; i + 1 < from.size() && shows(from[i]); ++i) {
            Level& level = levels_[from[i]];
            connect(level, level.place(Level::Kind::item, from[i + 1]), level.place(Level::Kind::exit, source), source);
        }
        for (std::size_t i = common + 1; i + 1 < to.size() && shows(to[i]); ++i) {
            Level& level = levels_[to[i]];
            connect(level, level.place(Level::Kind::entry, source), level.place(Level::Kind::item, to[i + 1]), source);
        }
    }

    [[nodiscard]] bool reachable(const std::vector<int>& way, std::size_t until) const {
        for (std::size_t i = 0; i <= until; ++i)
            if (!shows(way[i]))
                return false;
        return true;
    }

    static void connect(Level& level, int from, int to, int source) { level.edges.emplace_back(from, to, source); }

    Part block(int item) {
        Level& level = levels_[item];
        std::ranges::sort(level.edges);
        level.edges.erase(std::ranges::unique(level.edges).begin(), level.edges.end());

        Part part;
        std::map<int, Part> inner;
        RankedGraph graph;
        for (std::size_t i = 0; i < level.vertices.size(); ++i) {
            const auto& vertex = level.vertices[i];
            RankedGraph::Vertex made;
            made.pin = vertex.kind == Level::Kind::entry  ? RankedGraph::Pin::top
                       : vertex.kind == Level::Kind::exit ? RankedGraph::Pin::bottom
                                                          : RankedGraph::Pin::none;
            if (vertex.kind != Level::Kind::item) {
                made.size = {12, 0};
            } else if (shows(vertex.id)) {
                made.size = inner.emplace(static_cast<int>(i), block(vertex.id)).first->second.size;
            } else {
                made.size = {NetworkLayout::box_width, NetworkLayout::box_height};
            }
            graph.vertices.push_back(made);
        }
        for (const auto& [from, to, source] : level.edges)
            graph.edges.push_back(
                {from, to, source, port(inner, from, source, &Part::exits), port(inner, to, source, &Part::entries)});
        rank(graph, gap_between_ranks);
        take(level, graph, std::move(inner), item != 0, part);
        return part;
    }

    /// Where an edge meets a vertex, from the middle of it.
    static double port(const std::map<int, Part>& inner, int vertex, int source, std::map<int, double> Part::*ports) {
        const auto found = inner.find(vertex);
        if (found == inner.end())
            return 0;
        const auto at = (found->second.*ports).find(source);
        return at == (found->second.*ports).end() ? 0 : at->second - found->second.size.width() / 2;
    }

    void take(const Level& level, const RankedGraph& graph, std::map<int, Part> inner, bool framed, Part& part) {
        const QPointF shift(padding, framed ? header : padding);
        part.size = {std::max(graph.size.width(), framed ? NetworkLayout::box_width : 0.0) + 2 * padding,
                     graph.size.height() + shift.y() + padding};
        const QPointF centred = shift + QPointF((part.size.width() - 2 * padding - graph.size.width()) / 2, 0);
        for (std::size_t i = 0; i < level.vertices.size(); ++i) {
            const auto& vertex = level.vertices[i];
            const auto& laid = graph.vertices[i];
            const QRectF place(laid.at + centred - QPointF(laid.size.width() / 2, 0), laid.size);
            if (vertex.kind == Level::Kind::entry)
                part.entries[vertex.id] = place.center().x();
            else if (vertex.kind == Level::Kind::exit)
                part.exits[vertex.id] = place.center().x();
            else {
                const auto open = inner.find(static_cast<int>(i));
                part.boxes.push_back({vertex.id, place, open != inner.end()});
                if (open != inner.end())
                    part.open.emplace_back(static_cast<int>(part.boxes.size()) - 1, std::move(open->second));
            }
        }
        std::map<std::pair<int, int>, QPointF> labels;
        for (const auto& edge : graph.edges) {
            const auto& from = level.vertices[static_cast<std::size_t>(edge.from)];
            const auto& to = level.vertices[static_cast<std::size_t>(edge.to)];
            NetworkLayout::Edge made{edge.source,
                                     from.kind == Level::Kind::item ? from.id : -1,
                                     to.kind == Level::Kind::item ? to.id : -1,
                                     {}};
            for (const QPointF& point : edge.points)
                made.points.push_back(point + centred);
            if (made.from < 0) // from the frame's edge
                made.points.insert(made.points.begin(), {QPointF(made.points.front().x(), 0), made.points.front()});
            if (made.to < 0) {
                const QPointF end = made.points.back();
                made.points.insert(made.points.end(), {end, QPointF(end.x(), part.size.height())});
            }
            if (made.from >= 0 && made.to >= 0)
                labels.emplace(std::pair{edge.from, edge.source}, made.points.front());
            part.edges.push_back(std::move(made));
        }
        for (const auto& [key, at] : labels)
            part.labels.push_back({at + QPointF(6, 14), key.second});
    }

    void put(const Part& part, QPointF at) {
        for (const auto& edge : part.edges) {
            whole_.edges.push_back(edge);
            for (QPointF& point : whole_.edges.back().points)
                point += at;
        }
        for (const auto& label : part.labels)
            whole_.labels.push_back({label.at + at, label.source});
        std::size_t open = 0;
        for (std::size_t i = 0; i < part.boxes.size(); ++i) {
            auto box = part.boxes[i];
            box.place.translate(at);
            whole_.boxes.push_back(box);
            if (open < part.open.size() && part.open[open].first == static_cast<int>(i))
                put(part.open[open++].second, box.place.topLeft());
        }
    }

    const NetworkTree& tree_;
    const QSet<int>& open_;
    std::map<int, Level> levels_; ///< of the open blocks
    NetworkLayout whole_;
};

} // namespace

NetworkLayout lay_out(const NetworkTree& tree, const QSet<int>& open) {
    if (tree.nodes().empty())
        return {};
    return Layouter(tree, open).run();
}

} // namespace espalier
