// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include "base/error.h"

#include <algorithm>
#include <sstream>

namespace espalier {
namespace {

constexpr OpId not_produced = -1;

} // namespace

TensorId Graph::add_tensor(Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    producers_.push_back(not_produced);
    return static_cast<TensorId>(tensors_.size() - 1);
}

OpId Graph::add_op(Op op) {
    const auto id = static_cast<OpId>(ops_.size());
    const auto known = [this](TensorId tensor) {
        return tensor >= 0 && tensor < static_cast<TensorId>(tensors_.size());
    };
    for (auto input : op.inputs) {
        if (input == no_tensor)
            continue;
        if (!known(input) ||
            (tensor(input).role == Role::activation && producers_[static_cast<std::size_t>(input)] == not_produced))
            throw ConfigError("Op " + op.kind + " of layer '" + op.layer +
                              "' reads a tensor that nothing has computed.");
    }
    for (auto output : op.outputs) {
        if (output == no_tensor)
            continue;
        if (!known(output) || tensor(output).role == Role::input)
            throw ConfigError("Op " + op.kind + " of layer '" + op.layer + "' writes a tensor that cannot be written.");
        auto& producer = producers_[static_cast<std::size_t>(output)];
        if (tensor(output).role == Role::activation && producer != not_produced)
            throw ConfigError("Op " + op.kind + " of layer '" + op.layer + "' computes an activation a second time.");
        producer = id;
    }
    ops_.push_back(std::move(op));
    return id;
}

std::optional<TensorId> Graph::find(const std::string& name) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
        if (tensors_[i].role != Role::activation && tensors_[i].name == name)
            return static_cast<TensorId>(i);
    return std::nullopt;
}

std::optional<OpId> Graph::producer(TensorId id) const {
    const auto producer = producers_.at(static_cast<std::size_t>(id));
    if (producer == not_produced || tensor(id).role != Role::activation)
        return std::nullopt;
    return producer;
}

std::vector<std::vector<OpId>> Graph::readers() const {
    std::vector<std::vector<OpId>> readers(tensors_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i)
        for (auto input : ops_[i].inputs)
            if (input != no_tensor) {
                auto& list = readers[static_cast<std::size_t>(input)];
                if (list.empty() || list.back() != static_cast<OpId>(i))
                    list.push_back(static_cast<OpId>(i));
            }
    return readers;
}

void Graph::set_ops(std::vector<Op> ops) {
    ops_.clear();
    std::ranges::fill(producers_, not_produced);
    for (auto& op : ops)
        add_op(std::move(op));
}

void Graph::keep(TensorId id) {
    if (std::ranges::find(kept_, id) == kept_.end())
        kept_.push_back(id);
}

void Graph::replace_kept(TensorId from, TensorId to) { std::ranges::replace(kept_, from, to); }

std::string Graph::text() const {
    std::ostringstream out;
    const auto list = [&](std::span<const TensorId> ids) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            out << (i ? ", " : "");
            if (ids[i] == no_tensor) {
                out << '-';
                continue;
            }
            const auto& t = tensor(ids[i]);
            out << '%' << ids[i] << (t.name.empty() ? "" : ":" + t.name) << ' ' << t.shape.text();
        }
    };
    for (const auto& op : ops_) {
        list(op.outputs);
        out << " = " << op.kind << '(';
        list(op.inputs);
        out << ") {" << op.attributes.text() << "} @" << op.layer << '\n';
    }
    return out.str();
}

} // namespace espalier
