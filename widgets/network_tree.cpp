// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_tree.h"

#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QStringList>
#include <algorithm>

namespace espalier {

namespace {

struct Prefix {
    int count = 0;           ///< nodes below it and at it
    bool has_own = false;    ///< a node has this very path
    bool only_counts = true; ///< every further step of the paths below is a number
    QSet<QString> steps;     ///< the next steps of the paths below

    /// "blocks" of "blocks.0", "blocks.1" ...: there is nothing to it but what it counts.
    [[nodiscard]] bool is_mere_list() const { return !has_own && only_counts && count > steps.size(); }
};

bool is_number(QStringView text) {
    return !text.isEmpty() &&
           std::ranges::all_of(text, [](QChar c) { return c >= QLatin1Char('0') && c <= QLatin1Char('9'); });
}

/// "blocks", "blocks.0", "blocks.0.conv1" of the latter.
QStringList prefixes_of(const QString& path) {
    QStringList prefixes;
    for (qsizetype at = path.indexOf(QLatin1Char('.')); at >= 0; at = path.indexOf(QLatin1Char('.'), at + 1))
        prefixes.append(path.left(at));
    if (!path.isEmpty())
        prefixes.append(path);
    return prefixes;
}

QHash<QString, Prefix> count_prefixes(const std::vector<NetworkNode>& nodes) {
    QHash<QString, Prefix> counted;
    for (const NetworkNode& node : nodes) {
        const QStringList prefixes = prefixes_of(node.layer);
        for (qsizetype i = 0; i < prefixes.size(); ++i) {
            Prefix& prefix = counted[prefixes[i]];
            ++prefix.count;
            if (i + 1 == prefixes.size())
                prefix.has_own = true;
            else {
                const QString step = prefixes[i + 1].mid(prefixes[i].size() + 1);
                prefix.only_counts &= is_number(step);
                prefix.steps.insert(step);
            }
        }
    }
    return counted;
}

} // namespace

NetworkTree::NetworkTree(std::vector<NetworkNode> nodes) : nodes_(std::move(nodes)) {
    const QHash<QString, Prefix> prefixes = count_prefixes(nodes_);
    QHash<QString, int> blocks;
    items_.emplace_back();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const int node = static_cast<int>(i);
        int parent = 0;
        for (const QString& path : prefixes_of(nodes_[i].layer)) {
            const Prefix& prefix = prefixes.constFind(path).value();
            const bool holds_the_same = parent != 0 && item(parent).path != nodes_[i].layer &&
                                        prefixes.constFind(item(parent).path).value().count == prefix.count;
            if (prefix.count < 2 || prefix.is_mere_list() || holds_the_same)
                continue;
            auto found = blocks.constFind(path);
            if (found == blocks.constEnd())
                found = blocks.insert(path, add(parent, path, -1));
            parent = found.value();
        }
        leaves_.push_back(add(parent, nodes_[i].layer, node));
        for (int above = parent; above >= 0; above = item(above).parent) {
            Item& block = items_[static_cast<std::size_t>(above)];
            block.last = node;
            ++block.count;
            block.parameters += nodes_[i].parameters;
            block.flops += nodes_[i].flops;
        }
    }
}

int NetworkTree::add(int parent, QString path, int node) {
    const int index = static_cast<int>(items_.size());
    Item made;
    made.parent = parent;
    made.node = node;
    made.depth = item(parent).depth + 1;
    const QString& above = item(parent).path;
    made.name = !above.isEmpty() && path.startsWith(above) ? path.mid(above.size() + 1) : path;
    made.path = std::move(path);
    if (node >= 0) {
        const NetworkNode& of = this->node(node);
        made.last = node;
        made.count = 1;
        made.parameters = of.parameters;
        made.flops = of.flops;
    }
    items_.push_back(std::move(made));
    items_[static_cast<std::size_t>(parent)].children.push_back(index);
    return index;
}

QString NetworkTree::shape_of(int node) const {
    QStringList extents = this->node(node).shape.split(QRegularExpression(QStringLiteral("[x×]")));
    if (extents.size() > 1)
        extents.removeFirst();
    return extents.join(QStringLiteral("×"));
}

} // namespace espalier
