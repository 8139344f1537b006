// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "graph/ops/normalization.h"
#include "passes/passes.h"

#include <algorithm>
#include <unordered_map>

namespace espalier {
namespace {

bool is_kept(const Graph& graph, TensorId tensor) {
    return std::ranges::find(graph.kept(), tensor) != graph.kept().end();
}

class Sharing {
public:
    explicit Sharing(Graph graph)
        : graph_(std::move(graph)), stands_for_(graph_.tensors().size()), writes_(graph_.tensors().size(), 0) {
        for (std::size_t i = 0; i < stands_for_.size(); ++i)
            stands_for_[i] = static_cast<TensorId>(i);
    }

    Graph run() {
        std::vector<Op> ops;
        for (Op op : graph_.ops()) {
            for (auto& input : op.inputs)
                if (input != no_tensor)
                    input = stands_for_[index(input)];
            if (const Op* first = equal_op(op, ops)) {
                replace(op, *first);
                continue;
            }
            for (auto output : op.outputs)
                if (output != no_tensor)
                    ++writes_[index(output)];
            ops.push_back(std::move(op));
        }
        graph_.set_ops(std::move(ops));
        return std::move(graph_);
    }

private:
    static std::size_t index(TensorId tensor) { return static_cast<std::size_t>(tensor); }

    /// The earlier op that computes the same, or null; notes the op as the first of its kind in that case.
    const Op* equal_op(const Op& op, const std::vector<Op>& ops) {
        if (op.kind != "batch_norm" && !is_pure(graph_, op))
            return nullptr;
        if (std::ranges::any_of(op.outputs, [&](TensorId output) { return is_kept(graph_, output); }))
            return nullptr;
        auto text = key(op);
        if (const auto found = first_.find(text); found != first_.end() && same_start(op, ops[found->second]))
            return &ops[found->second];
        first_.emplace(std::move(text), ops.size());
        return nullptr;
    }

    /// Everything that decides an op's outputs. A parameter or buffer counts with the number of times it was written
    /// before.
    std::string key(const Op& op) const {
        auto text = op.kind + '{' + op.attributes.text() + '}';
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const auto input = op.inputs[i];
            text += ',';
            if (input == no_tensor || is_running_buffer(op, i))
                continue;
            text += std::to_string(input);
            if (graph_.tensor(input).role != Role::activation)
                text += '@' + std::to_string(writes_[index(input)]);
        }
        // Absent outputs are absent in the shared op as well.
        for (auto output : op.outputs)
            text += output == no_tensor ? '-' : '+';
        return text;
    }

    /// Training batch norm writes its running statistics but does not read them for what it computes.
    static bool is_running_buffer(const Op& op, std::size_t input) {
        return op.kind == "batch_norm" && (input == BatchNorm::running_mean || input == BatchNorm::running_var);
    }

    /// Running buffers may stand for each other only if they begin equal.
    bool same_start(const Op& op, const Op& first) const {
        if (op.kind != "batch_norm")
            return true;
        for (std::size_t i : {BatchNorm::running_mean, BatchNorm::running_var}) {
            const auto& a = graph_.tensor(op.inputs[i]).initializer;
            const auto& b = graph_.tensor(first.inputs[i]).initializer;
            if (a.kind != b.kind || a.value != b.value || a.kind != Initializer::Kind::constant)
                return false;
        }
        return true;
    }

    void replace(const Op& op, const Op& first) {
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            const auto output = op.outputs[i];
            if (output == no_tensor || output == first.outputs[i])
                continue;
            if (graph_.tensor(output).role == Role::activation)
                stands_for_[index(output)] = first.outputs[i];
            else
                graph_.add_alias(output, first.outputs[i]);
        }
    }

    Graph graph_;
    std::vector<TensorId> stands_for_;
    std::vector<int> writes_;
    std::unordered_map<std::string, std::size_t> first_; ///< position of the first op with a key
};

} // namespace

Graph share(Graph graph) { return Sharing(std::move(graph)).run(); }

} // namespace espalier
