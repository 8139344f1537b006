// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "graph/ops/normalization.h"
#include "passes/batch_norm_apply.h"
#include "passes/passes.h"

#include <algorithm>

namespace espalier {
namespace {

class Recomputation {
public:
    explicit Recomputation(Graph graph)
        : graph_(std::move(graph)), stored_(graph_.tensors().size(), 0), again_(graph_.tensors().size(), no_tensor) {
        choose_stored();
    }

    Graph run() {
        const std::vector<Op> ops(graph_.ops().begin(), graph_.ops().end());
        for (Op op : ops) {
            if (op.stage != Stage::forward)
                for (auto& input : op.inputs)
                    input = available(input, ops);
            ops_.push_back(std::move(op));
        }
        graph_.set_ops(std::move(ops_));
        return std::move(graph_);
    }

private:
    static std::size_t index(TensorId tensor) { return static_cast<std::size_t>(tensor); }

    /// Whether the op can run a second time without changing more than its outputs.
    bool repeatable(const Op& op) const {
        return op.stage == Stage::forward && !op.segment.empty() && (op.kind == "batch_norm" || is_pure(graph_, op));
    }

    /// Stored are all tensors but the results of repeatable ops that stay within their segment.
    void choose_stored() {
        for (auto tensor : graph_.kept())
            stored_[index(tensor)] = 1;
        for (const auto& op : graph_.ops()) {
            for (auto input : op.inputs)
                if (input != no_tensor) {
                    const auto producer = graph_.producer(input);
                    if (producer && graph_.op(*producer).segment != op.segment)
                        stored_[index(input)] = 1;
                }
            const bool again = repeatable(op);
            for (std::size_t i = 0; i < op.outputs.size(); ++i)
                if (op.outputs[i] != no_tensor && (!again || (op.kind == "batch_norm" && i > BatchNorm::y)))
                    stored_[index(op.outputs[i])] = 1;
        }
    }

    /// The tensor that holds `tensor`'s value in the backward; repeats the ops that lead to it if it was not stored.
    TensorId available(TensorId tensor, const std::vector<Op>& ops) {
        if (tensor == no_tensor || stored_[index(tensor)])
            return tensor;
        const auto producer = graph_.producer(tensor);
        if (!producer)
            return tensor; // input, parameter or buffer
        if (again_[index(tensor)] == no_tensor)
            repeat(ops[static_cast<std::size_t>(*producer)], ops);
        return again_[index(tensor)];
    }

    void repeat(const Op& op, const std::vector<Op>& ops) {
        Op second = op.kind == "batch_norm" ? batch_norm_apply_of(op) : op;
        second.stage = Stage::backward;
        second.recomputed = true;
        for (auto& input : second.inputs)
            input = available(input, ops);
        for (auto& output : second.outputs) {
            if (output == no_tensor)
                continue;
            const auto original = output;
            const auto& tensor = graph_.tensor(original);
            output = graph_.add_tensor({.shape = tensor.shape, .type = tensor.type});
            again_[index(original)] = output;
        }
        ops_.push_back(std::move(second));
    }

    Graph graph_;
    std::vector<char> stored_;
    std::vector<TensorId> again_; ///< of each forward tensor: its second computation
    std::vector<Op> ops_;
};

} // namespace

Graph recompute(Graph graph) { return Recomputation(std::move(graph)).run(); }

} // namespace espalier
