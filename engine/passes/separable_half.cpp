// SPDX-License-Identifier: Apache-2.0
#include "passes/separable_half.h"

#include "graph/ops/convolution.h"
#include "graph/ops/normalization.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

namespace espalier {
namespace {

class HalfFinder {
public:
    explicit HalfFinder(const Graph& graph) : graph_(graph), ops_(graph.ops()), readers_(graph.readers()) {}

    std::vector<SeparableHalf> run() {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (auto half = find_half(static_cast<OpId>(i)))
                halves_.push_back(*half);
        for (std::size_t i = 0; i < halves_.size(); ++i)
            find_input(i);
        return std::move(halves_);
    }

private:
    [[nodiscard]] const Op& at(OpId op) const { return ops_[static_cast<std::size_t>(op)]; }
    [[nodiscard]] const std::vector<OpId>& readers(TensorId tensor) const {
        return readers_[static_cast<std::size_t>(tensor)];
    }
    [[nodiscard]] bool is_kept(TensorId tensor) const {
        return std::ranges::find(graph_.kept(), tensor) != graph_.kept().end();
    }
    [[nodiscard]] bool activated(OpId op) const { return !at(op).attributes.text("activation").empty(); }

    /// The one reader of that kind which has the tensor as that input; no_op if there is none, or several.
    [[nodiscard]] OpId reader(TensorId tensor, const char* kind, std::size_t input) const {
        OpId found = no_op;
        for (const auto op : readers(tensor))
            if (at(op).kind == kind && at(op).inputs[input] == tensor) {
                if (found != no_op)
                    return no_op;
                found = op;
            }
        return found;
    }
    /// Whether nobody but these reads a tensor that is computed for them alone.
    [[nodiscard]] bool only_for(TensorId tensor, std::initializer_list<OpId> allowed) const {
        return !is_kept(tensor) && std::ranges::all_of(readers(tensor), [&](OpId op) {
            return std::ranges::find(allowed, op) != allowed.end();
        });
    }

    [[nodiscard]] bool is_depthwise(const Op& op) const {
        if (op.kind != "conv2d" || op.stage != Stage::forward || op.inputs[2] != no_tensor)
            return false;
        const auto convolution = Convolution::from(op.attributes);
        const auto& w = graph_.shape(op.inputs[1]);
        const auto padding = (w[2] - 1) / 2;
        return convolution.groups == w[0] && w[1] == 1 && w[2] == w[3] && w[2] % 2 == 1 && w[2] > 1 &&
               graph_.shape(op.inputs[0])[1] == w[0] && convolution.stride == Pair{1, 1} &&
               convolution.dilation == Pair{1, 1} && convolution.padding == Pair{padding, padding} && !convolution.relu;
    }
    [[nodiscard]] bool is_pointwise(const Op& op) const {
        const auto convolution = Convolution::from(op.attributes);
        const auto& w = graph_.shape(op.inputs[1]);
        return convolution.groups == 1 && w[2] == 1 && w[3] == 1 && convolution.stride == Pair{1, 1} &&
               convolution.padding == Pair{0, 0} && op.inputs[2] == no_tensor && !convolution.relu;
    }

    std::optional<SeparableHalf> find_half(OpId depthwise) const {
        if (!is_depthwise(at(depthwise)))
            return std::nullopt;
        SeparableHalf half{.depthwise = depthwise};
        const auto d = at(depthwise).outputs[0];
        half.pointwise = reader(d, "conv2d", 0);
        half.pointwise_weight = reader(d, "conv2d_weight_gradient", 0);
        if (half.pointwise == no_op || !is_pointwise(at(half.pointwise)) ||
            !only_for(d, {half.pointwise, half.pointwise_weight}))
            return std::nullopt;
        const auto z = at(half.pointwise).outputs[0];
        half.norm = reader(z, "batch_norm", BatchNorm::x);
        half.norm_gradient = reader(z, "batch_norm_gradient", BatchNormGradient::x);
        if (half.norm == no_op || half.norm_gradient == no_op || !only_for(z, {half.norm, half.norm_gradient}))
            return std::nullopt;
        const auto& norm_gradient = at(half.norm_gradient);
        const auto gz = norm_gradient.outputs[BatchNormGradient::gx];
        if (norm_gradient.inputs[BatchNormGradient::mean] != at(half.norm).outputs[BatchNorm::mean] ||
            norm_gradient.outputs[BatchNormGradient::gresidual] != no_tensor || gz == no_tensor)
            return std::nullopt;
        half.pointwise_input = reader(gz, "conv2d_input_gradient", 0);
        if (half.pointwise_input == no_op || !only_for(gz, {half.pointwise_input, half.pointwise_weight}))
            return std::nullopt;
        const auto gd = at(half.pointwise_input).outputs[0];
        half.depthwise_input = reader(gd, "conv2d_input_gradient", 0);
        half.depthwise_weight = reader(gd, "conv2d_weight_gradient", 1);
        if (half.depthwise_input == no_op || !only_for(gd, {half.depthwise_input, half.depthwise_weight}))
            return std::nullopt;
        return half;
    }

    /// Whether the input of a half is the batch norm and ReLU of another, or a ReLU, that nobody else reads.
    void find_input(std::size_t index) {
        auto& half = halves_[index];
        const auto x = at(half.depthwise).inputs[0], gx = at(half.depthwise_input).outputs[0];
        for (std::size_t i = 0; i < index; ++i) {
            auto& other = halves_[i];
            const auto& norm = at(other.norm);
            const auto& norm_gradient = at(other.norm_gradient);
            if (norm.outputs[BatchNorm::y] == x && activated(other.norm) && activated(other.norm_gradient) &&
                norm.inputs[BatchNorm::residual] == no_tensor && norm_gradient.inputs[BatchNormGradient::gy] == gx &&
                norm_gradient.inputs[BatchNormGradient::y] == x && only_for(gx, {other.norm_gradient}) &&
                only_for(x, {half.depthwise, half.depthwise_weight, other.norm_gradient})) {
                half.before = i;
                other.after = index;
                return;
            }
        }
        find_relu(half, x, gx);
    }

    /// relu(x), or with a cast behind it, which may as well come before.
    void find_relu(SeparableHalf& half, TensorId x, TensorId gx) const {
        if (!only_for(x, {half.depthwise, half.depthwise_weight, reader(x, "relu_gradient", 0)}))
            return;
        auto made = producer(x);
        OpId cast = no_op, cast_back = no_op;
        if (made != no_op && at(made).kind == "cast" && at(made).inputs.size() == 1) {
            cast = made;
            cast_back = reader(gx, "cast", 0);
            if (cast_back == no_op || at(cast_back).inputs.size() != 1 || !only_for(gx, {cast_back}))
                return;
            x = at(cast).inputs[0];
            gx = at(cast_back).outputs[0];
            made = producer(x);
        }
        const auto mask = reader(x, "relu_gradient", 0);
        if (made == no_op || at(made).kind != "relu" || mask == no_op || at(mask).inputs[1] != gx ||
            !only_for(gx, {mask}) || !only_for(x, {cast == no_op ? half.depthwise : cast, half.depthwise_weight, mask}))
            return;
        half.relu = made;
        half.relu_gradient = mask;
        half.cast = cast;
        half.cast_back = cast_back;
    }
    [[nodiscard]] OpId producer(TensorId tensor) const {
        return graph_.tensor(tensor).role == Role::activation ? graph_.producer(tensor).value_or(no_op) : no_op;
    }

    const Graph& graph_;
    std::span<const Op> ops_;
    std::vector<std::vector<OpId>> readers_;
    std::vector<SeparableHalf> halves_;
};

} // namespace

std::vector<SeparableHalf> find_separable_halves(const Graph& graph) {
    return HalfFinder(graph).run();
}

} // namespace espalier
