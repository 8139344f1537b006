// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_ranks.h"

#include <algorithm>
#include <limits>
#include <map>

namespace espalier {

namespace {

constexpr double gap = 20;  ///< between neighbours of a rank
constexpr double lane = 10; ///< width of an edge that passes
constexpr int sweeps = 6;

/// A vertex, or the place of an edge in a rank that it crosses.
struct Place {
    int rank = 0;
    double width = 0, height = 0;
    double x = 0;                                     ///< middle
    std::vector<std::pair<int, double>> above, below; ///< neighbours: place, where the edge meets it from its middle
    std::vector<double> above_own, below_own;         ///< where the edge meets this one
};

class Ranker {
public:
    Ranker(RankedGraph& graph, double rank_gap) : graph_(graph), rank_gap_(rank_gap) {}

    void run() {
        find_ranks();
        connect();
        order();
        for (int i = 0; i < sweeps; ++i)
            spread(i % 2 == 0);
        spread_both();
        write();
    }

private:
    [[nodiscard]] Place& place(int index) { return places_[static_cast<std::size_t>(index)]; }

    void find_ranks() {
        const auto count = graph_.vertices.size();
        std::vector<int> rank(count, 0);
        std::vector<std::vector<int>> readers(count);
        std::vector<int> order(count);
        for (std::size_t i = 0; i < count; ++i)
            order[i] = static_cast<int>(i);
        std::vector<int> open(count, 0);
        for (const auto& edge : graph_.edges)
            if (edge.from != edge.to) {
                readers[static_cast<std::size_t>(edge.from)].push_back(edge.to);
                ++open[static_cast<std::size_t>(edge.to)];
            }
        const bool has_top =
            std::ranges::any_of(graph_.vertices, [](const auto& v) { return v.pin == RankedGraph::Pin::top; });
        std::vector<int> ready;
        for (int vertex : order)
            if (open[static_cast<std::size_t>(vertex)] == 0)
                ready.push_back(vertex);
        for (std::size_t i = 0; i < ready.size(); ++i) {
            const auto from = static_cast<std::size_t>(ready[i]);
            if (graph_.vertices[from].pin != RankedGraph::Pin::top)
                rank[from] = std::max(rank[from], has_top ? 1 : 0);
            for (int to : readers[from]) {
                auto& deeper = rank[static_cast<std::size_t>(to)];
                deeper = std::max(deeper, rank[from] + 1);
                if (--open[static_cast<std::size_t>(to)] == 0)
                    ready.push_back(to);
            }
        }
        int last = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (graph_.vertices[i].pin != RankedGraph::Pin::bottom)
                last = std::max(last, rank[i]);
        const bool has_bottom =
            std::ranges::any_of(graph_.vertices, [](const auto& v) { return v.pin == RankedGraph::Pin::bottom; });
        for (std::size_t i = 0; i < count; ++i) {
            if (graph_.vertices[i].pin == RankedGraph::Pin::bottom)
                rank[i] = last + 1;
            places_.push_back({.rank = rank[i],
                               .width = graph_.vertices[i].size.width(),
                               .height = graph_.vertices[i].size.height()});
        }
        ranks_.resize(static_cast<std::size_t>(last + (has_bottom ? 2 : 1)));
        for (std::size_t i = 0; i < count; ++i)
            ranks_[static_cast<std::size_t>(rank[i])].push_back(static_cast<int>(i));
    }

    void join(int upper, double upper_offset, int lower, double lower_offset) {
        place(upper).below.emplace_back(lower, lower_offset);
        place(upper).below_own.push_back(upper_offset);
        place(lower).above.emplace_back(upper, upper_offset);
        place(lower).above_own.push_back(lower_offset);
    }

    void connect() {
        std::map<std::pair<int, int>, std::vector<int>>
            chains; ///< places on the way of (from, source), rank after rank
        for (const auto& edge : graph_.edges) {
            const int first = place(edge.from).rank, last = place(edge.to).rank;
            std::vector<int> way{edge.from};
            auto& chain = chains[{edge.from, edge.source}];
            for (int rank = first + 1; rank < last; ++rank) {
                const auto step = static_cast<std::size_t>(rank - first - 1);
                if (step == chain.size()) {
                    const int made = static_cast<int>(places_.size());
                    places_.push_back({.rank = rank, .width = lane});
                    ranks_[static_cast<std::size_t>(rank)].push_back(made);
                    join(way.back(), step == 0 ? edge.from_offset : 0, made, 0);
                    chain.push_back(made);
                }
                way.push_back(chain[step]);
            }
            if (last > first)
                join(way.back(), way.size() == 1 ? edge.from_offset : 0, edge.to, edge.to_offset);
            way.push_back(edge.to);
            ways_.push_back(std::move(way));
        }
    }

    /// By the mean place of the neighbours above, then below, and so on.
    void order() {
        std::vector<double> index(places_.size());
        const auto number = [&](const std::vector<int>& rank) {
            for (std::size_t i = 0; i < rank.size(); ++i)
                index[static_cast<std::size_t>(rank[i])] =
                    static_cast<double>(i) - static_cast<double>(rank.size()) / 2;
        };
        for (const auto& rank : ranks_)
            number(rank);
        std::vector<double> wanted(places_.size());
        const auto arrange = [&](std::vector<int>& rank, bool by_above) {
            for (int vertex : rank) {
                const auto& neighbours = by_above ? place(vertex).above : place(vertex).below;
                double sum = 0;
                for (const auto& [neighbour, offset] : neighbours)
                    sum += index[static_cast<std::size_t>(neighbour)] + offset / 1e4;
                wanted[static_cast<std::size_t>(vertex)] = neighbours.empty()
                                                               ? index[static_cast<std::size_t>(vertex)]
                                                               : sum / static_cast<double>(neighbours.size());
            }
            std::ranges::stable_sort(rank, {}, [&](int vertex) { return wanted[static_cast<std::size_t>(vertex)]; });
            number(rank);
        };
        for (int i = 0; i < sweeps; ++i)
            if (i % 2 == 0)
                for (auto& rank : ranks_)
                    arrange(rank, true);
            else
                for (auto rank = ranks_.rbegin(); rank != ranks_.rend(); ++rank)
                    arrange(*rank, false);
    }

    [[nodiscard]] double distance(int left, int right) { return (place(left).width + place(right).width) / 2 + gap; }

    /// Moves the places of a rank as near to what they want as their order allows: isotonic regression by pooling
    /// neighbours that stand in each other's way.
    void settle(const std::vector<int>& rank, const std::vector<double>& wanted) {
        struct Pool {
            double sum = 0;
            int count = 0;
            [[nodiscard]] double mean() const { return sum / count; }
        };
        std::vector<Pool> pools;
        std::vector<double> offsets(rank.size(), 0);
        for (std::size_t i = 0; i < rank.size(); ++i) {
            if (i > 0)
                offsets[i] = offsets[i - 1] + distance(rank[i - 1], rank[i]);
            pools.push_back({wanted[i] - offsets[i], 1});
            while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
                pools[pools.size() - 2].sum += pools.back().sum;
                pools[pools.size() - 2].count += pools.back().count;
                pools.pop_back();
            }
        }
        std::size_t i = 0;
        for (const Pool& pool : pools)
            for (int k = 0; k < pool.count; ++k, ++i)
                place(rank[i]).x = pool.mean() + offsets[i];
    }

    [[nodiscard]] double wish(int vertex, bool above, bool below) {
        const Place& own = place(vertex);
        double sum = 0, count = 0;
        const auto add = [&](const auto& neighbours, const auto& offsets) {
            for (std::size_t i = 0; i < neighbours.size(); ++i, ++count)
                sum += place(neighbours[i].first).x + neighbours[i].second - offsets[i];
        };
        if (above)
            add(own.above, own.above_own);
        if (below)
            add(own.below, own.below_own);
        return count > 0 ? sum / count : own.x;
    }

    void spread_rank(const std::vector<int>& rank, bool above, bool below) {
        std::vector<double> wanted;
        for (int vertex : rank)
            wanted.push_back(wish(vertex, above, below));
        settle(rank, wanted);
    }

    void spread(bool downwards) {
        if (downwards)
            for (const auto& rank : ranks_)
                spread_rank(rank, true, false);
        else
            for (auto rank = ranks_.rbegin(); rank != ranks_.rend(); ++rank)
                spread_rank(*rank, false, true);
    }

    void spread_both() {
        for (const auto& rank : ranks_)
            spread_rank(rank, true, true);
    }

    void write() {
        double left = std::numeric_limits<double>::infinity(), right = -left;
        for (const Place& one : places_) {
            left = std::min(left, one.x - one.width / 2);
            right = std::max(right, one.x + one.width / 2);
        }
        std::vector<double> tops, heights;
        double y = 0;
        for (const auto& rank : ranks_) {
            double height = 0;
            for (int vertex : rank)
                height = std::max(height, place(vertex).height);
            tops.push_back(y);
            heights.push_back(height);
            // Only a thin rank (the block's edge) may do with less.
            y += height + (height > 0 ? rank_gap_ : rank_gap_ / 2);
        }
        graph_.size = {places_.empty() ? 0 : right - left, tops.empty() ? 0 : tops.back() + heights.back()};
        const auto at = [&](int vertex) {
            const Place& one = place(vertex);
            const auto rank = static_cast<std::size_t>(one.rank);
            return QPointF(one.x - left, tops[rank] + (one.height > 0 ? (heights[rank] - one.height) / 2 : 0));
        };
        for (std::size_t i = 0; i < graph_.vertices.size(); ++i)
            graph_.vertices[i].at = at(static_cast<int>(i));
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
            auto& edge = graph_.edges[i];
            const auto& way = ways_[i];
            const auto& from = graph_.vertices[static_cast<std::size_t>(edge.from)];
            edge.points.push_back(from.at + QPointF(edge.from_offset, from.size.height()));
            for (std::size_t step = 1; step + 1 < way.size(); ++step) {
                const QPointF top = at(way[step]);
                const auto rank = static_cast<std::size_t>(place(way[step]).rank);
                edge.points.push_back(top);
                edge.points.emplace_back(top.x(), top.y() + heights[rank]);
            }
            edge.points.push_back(graph_.vertices[static_cast<std::size_t>(edge.to)].at + QPointF(edge.to_offset, 0));
        }
    }

    RankedGraph& graph_;
    double rank_gap_;
    std::vector<Place> places_;
    std::vector<std::vector<int>> ranks_; ///< places, from left to right
    std::vector<std::vector<int>> ways_;  ///< of each edge, places from rank to rank
};

} // namespace

void rank(RankedGraph& graph, double gap_between_ranks) {
    if (!graph.vertices.empty())
        Ranker(graph, gap_between_ranks).run();
}

} // namespace espalier
