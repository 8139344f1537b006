// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"
#include "passes/batch_norm_apply.h"
#include "passes/passes.h"

#include <algorithm>
#include <optional>

namespace espalier {
namespace {

class Reapplication {
public:
    explicit Reapplication(Graph graph)
        : graph_(std::move(graph)), ops_(graph_.ops().begin(), graph_.ops().end()), stored_(graph_.tensors().size(), 0),
          dropped_(graph_.tensors().size(), 0), again_(graph_.tensors().size(), no_tensor),
          kept_(graph_.tensors().size(), 0) {
        for (auto tensor : graph_.kept())
            kept_[index(tensor)] = 1;
        for (const auto& op : ops_)
            if (reads_later(op))
                for (auto input : op.inputs)
                    if (input != no_tensor)
                        stored_[index(input)] = 1;
        for (const auto& op : ops_)
            if (cheap(op) && stored_[index(op.outputs[0])] && !kept_[index(op.outputs[0])] && inputs_restorable(op))
                dropped_[index(op.outputs[0])] = 1;
    }

    Graph run() {
        for (const auto& op : std::vector<Op>(ops_)) {
            Op reader = op;
            if (reads_later(op))
                for (auto& input : reader.inputs)
                    if (input != no_tensor && dropped_[index(input)])
                        input = restored(input);
            result_.push_back(std::move(reader));
        }
        graph_.set_ops(std::move(result_));
        return std::move(graph_);
    }

private:
    static std::size_t index(TensorId tensor) { return static_cast<std::size_t>(tensor); }

    /// Forward ops and their repetitions read what was just computed; the others read what was stored for them.
    static bool reads_later(const Op& op) { return op.stage != Stage::forward && !op.recomputed; }

    static bool cheap(const Op& op) {
        return !reads_later(op) && (op.kind == "batch_norm" || op.kind == "batch_norm_apply" || op.kind == "relu");
    }

    const Op* producer(TensorId tensor) const {
        const auto found = graph_.producer(tensor);
        return found ? &ops_[static_cast<std::size_t>(*found)] : nullptr;
    }

    /// Whether the op's large inputs are at hand in the backward without being stored for this.
    bool inputs_restorable(const Op& op) const {
        const auto repeated = op.kind == "batch_norm" ? batch_norm_apply_of(op) : op;
        return std::ranges::all_of(repeated.inputs, [&](TensorId input) {
            if (input == no_tensor || graph_.shape(input).rank() == 1) // statistics and parameters of channels
                return true;
            return restorable(input);
        });
    }

    bool restorable(TensorId tensor) const {
        if (dropped_[index(tensor)])
            return false; // chains of these would restore the network from its beginning
        if (stored_[index(tensor)] || kept_[index(tensor)] || graph_.tensor(tensor).role != Role::activation)
            return true;
        const Op* op = producer(tensor);
        return op && cheap(*op) && inputs_restorable(*op);
    }

    TensorId restored(TensorId tensor) {
        if (stored_[index(tensor)] && !dropped_[index(tensor)])
            return tensor;
        const Op* op = producer(tensor);
        if (!op || kept_[index(tensor)] || graph_.shape(tensor).rank() == 1)
            return tensor;
        if (again_[index(tensor)] != no_tensor)
            return again_[index(tensor)];
        Op second = op->kind == "batch_norm" ? batch_norm_apply_of(*op) : *op;
        second.stage = Stage::backward;
        second.recomputed = true;
        for (auto& input : second.inputs)
            if (input != no_tensor)
                input = restored(input);
        second.outputs[0] = graph_.add_tensor({.shape = graph_.shape(tensor), .type = graph_.tensor(tensor).type});
        again_[index(tensor)] = second.outputs[0];
        result_.push_back(std::move(second));
        return again_[index(tensor)];
    }

    Graph graph_;
    std::vector<Op> ops_;
    std::vector<char> stored_;  ///< read by an op of the backward
    std::vector<char> dropped_; ///< not stored after all: computed again
    std::vector<TensorId> again_;
    std::vector<char> kept_;
    std::vector<Op> result_;
};

} // namespace

Graph reapply(Graph graph) { return Reapplication(std::move(graph)).run(); }

} // namespace espalier
