// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

namespace espalier {

/// One operation of a network, in the order in which they run.
struct NetworkNode {
    QString layer; ///< path such as "blocks.0.conv1"; empty for the input
    QString kind, shape;
    std::vector<std::int32_t> inputs; ///< places of earlier nodes
    double parameters = 0;
    double flops = 0; ///< of the forward

    bool operator==(const NetworkNode&) const = default;
};

/// A network's nodes gathered into blocks by their paths: "blocks.0" holds "blocks.0.conv1" and whatever else runs in
/// it. A path that merely counts ("blocks", "cells") is no block, nor is one with a single node.
class NetworkTree {
public:
    struct Item {
        QString path;
        QString name; ///< as it is shown within its block
        int parent = -1;
        int node = -1;             ///< of a leaf; -1: a block
        std::vector<int> children; ///< items, in the order in which they first run
        int last = -1;             ///< the node of the block that runs last
        int count = 0;             ///< nodes in it
        double parameters = 0, flops = 0;
        int depth = 0;

        [[nodiscard]] bool is_block() const { return node < 0; }
    };

    NetworkTree() = default;
    explicit NetworkTree(std::vector<NetworkNode> nodes);

    /// The first is the whole network.
    [[nodiscard]] const std::vector<Item>& items() const { return items_; }
    [[nodiscard]] const Item& item(int index) const { return items_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] const std::vector<NetworkNode>& nodes() const { return nodes_; }
    [[nodiscard]] const NetworkNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
    /// The leaf of a node.
    [[nodiscard]] int leaf(int node) const { return leaves_[static_cast<std::size_t>(node)]; }
    /// What an item gives to those that read it: 16×32×32, without the batch.
    [[nodiscard]] QString shape_of(int node) const;

private:
    int add(int parent, QString path, int node);

    std::vector<NetworkNode> nodes_;
    std::vector<Item> items_;
    std::vector<int> leaves_;
};

} // namespace espalier
