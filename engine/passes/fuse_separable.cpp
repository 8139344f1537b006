// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"
#include "passes/passes.h"
#include "passes/separable_half.h"
#include "passes/separable_ops.h"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

class SeparableFusion {
public:
    SeparableFusion(Graph graph, const Supports& supports)
        : graph_(std::move(graph)), supports_(supports), halves_(find_separable_halves(graph_)),
          joined_(graph_, halves_), ops_(graph_.ops().begin(), graph_.ops().end()), gone_(ops_.size(), 0),
          placed_(ops_.size()) {}

    Graph run() {
        while (leave_one_out()) {
        }
        for (auto& half : halves_)
            if (half.used)
                name_sums(half);
        for (const auto& half : halves_)
            if (half.used)
                replace(half);
        std::vector<Op> left;
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            if (!gone_[i])
                left.push_back(std::move(ops_[i]));
            for (auto& op : placed_[i])
                left.push_back(std::move(op));
        }
        graph_.set_ops(std::move(left));
        return std::move(graph_);
    }

private:
    [[nodiscard]] const Op& at(OpId op) const { return ops_[static_cast<std::size_t>(op)]; }

    /// Finds a half that cannot be joined after all. A batch norm whose gradient is masked needs the half behind it.
    bool leave_one_out() {
        for (auto& half : halves_) {
            const bool masked = !at(half.norm_gradient).attributes.text("activation").empty();
            if (!half.used || ((half.after || !masked) && is_supported(half)))
                continue;
            half.used = false;
            if (half.before)
                halves_[*half.before].after.reset();
            if (half.after)
                halves_[*half.after].before.reset();
            return true;
        }
        return false;
    }
    [[nodiscard]] bool is_supported(const SeparableHalf& half) const {
        const auto sums = at(half.norm).outputs[BatchNorm::mean]; // like those that are still to be made
        return supports_(graph_, joined_.forward(half)) &&
               supports_(graph_, joined_.pointwise_gradient(half, sums, sums)) &&
               supports_(graph_, joined_.depthwise_gradient(half)) &&
               (half.depthwise_weight == no_op || supports_(graph_, joined_.filter_gradient(half)));
    }

    /// The sums over the batch that the gradient of the batch norm needs.
    void name_sums(SeparableHalf& half) {
        const auto& outputs = at(half.norm_gradient).outputs;
        const auto or_new = [&](TensorId tensor) {
            if (tensor != no_tensor)
                return tensor;
            return graph_.add_tensor({.shape = graph_.shape(at(half.norm).outputs[BatchNorm::mean])});
        };
        half.gweight = or_new(outputs[BatchNormGradient::gweight]);
        half.gbias = or_new(outputs[BatchNormGradient::gbias]);
    }

    void put(OpId place, Op op) { placed_[static_cast<std::size_t>(place)].push_back(std::move(op)); }
    static OpId first_of(OpId one, OpId other) { return other == no_op ? one : std::min(one, other); }

    void replace(const SeparableHalf& half) {
        put(half.norm, joined_.forward(half)); // where the residual is there too
        if (!half.after) {
            Op sums = at(half.norm_gradient);
            sums.outputs = {no_tensor, half.gweight, half.gbias, no_tensor};
            put(half.norm_gradient, std::move(sums));
        }
        if (half.cast != no_op) {
            Op cast = at(half.cast), back = at(half.cast_back);
            cast.inputs = at(half.relu).inputs;
            back.outputs = at(half.relu_gradient).outputs;
            put(half.cast, std::move(cast));
            put(half.cast_back, std::move(back));
        }
        put(first_of(half.pointwise_input, half.pointwise_weight),
            joined_.pointwise_gradient(half, half.gweight, half.gbias));
        // The filter's gradient comes behind what others wait for, so that this follows its input without a gap.
        put(half.depthwise_input, joined_.depthwise_gradient(half));
        if (half.depthwise_weight != no_op)
            put(std::max(half.depthwise_input, half.depthwise_weight), joined_.filter_gradient(half));
        for (const auto op : {half.depthwise, half.pointwise, half.norm, half.norm_gradient, half.pointwise_input,
                              half.pointwise_weight, half.depthwise_input, half.depthwise_weight, half.relu,
                              half.relu_gradient, half.cast, half.cast_back})
            if (op != no_op)
                gone_[static_cast<std::size_t>(op)] = 1;
    }

    Graph graph_;
    const Supports& supports_;
    std::vector<SeparableHalf> halves_;
    SeparableOps joined_;
    std::vector<Op> ops_;
    std::vector<char> gone_;
    std::vector<std::vector<Op>> placed_; ///< what comes in the place of an op
};

} // namespace

Graph fuse_separable(Graph graph, const Supports& supports) {
    return SeparableFusion(std::move(graph), supports).run();
}

} // namespace espalier
