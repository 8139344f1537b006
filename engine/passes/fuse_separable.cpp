// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"
#include "graph/ops/normalization.h"
#include "graph/ops/separable.h"
#include "passes/passes.h"

#include <algorithm>
#include <optional>

namespace espalier {
namespace {

constexpr OpId no_op = -1;

/// Depthwise and pointwise convolution and batch norm, one behind the other, with their gradients.
struct Half {
    OpId depthwise = no_op, pointwise = no_op, norm = no_op;
    OpId norm_gradient = no_op, pointwise_input = no_op, depthwise_input = no_op;
    OpId pointwise_weight = no_op, depthwise_weight = no_op; ///< gradients that need not be there
    OpId relu = no_op, relu_gradient = no_op;                ///< before the depthwise convolution, for it alone
    OpId cast = no_op, cast_back = no_op;                    ///< of halves, between the two
    /// The half whose batch norm goes into this one's input, and the half into which this one's goes.
    std::optional<std::size_t> before, after;
    TensorId gweight = no_tensor, gbias = no_tensor; ///< of the batch norm
    bool used = true;
};

class SeparableFusion {
public:
    SeparableFusion(Graph graph, const Supports& supports)
        : graph_(std::move(graph)), supports_(supports), ops_(graph_.ops().begin(), graph_.ops().end()),
          readers_(graph_.readers()), gone_(ops_.size(), 0), placed_(ops_.size()) {}

    Graph run() {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (auto half = find_half(static_cast<OpId>(i)))
                halves_.push_back(*half);
        for (std::size_t i = 0; i < halves_.size(); ++i)
            find_input(i);
        while (leave_one_out()) {
        }
        for (auto& half : halves_)
            if (half.used)
                find_sums(half);
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
    [[nodiscard]] const std::vector<OpId>& readers(TensorId tensor) const {
        return readers_[static_cast<std::size_t>(tensor)];
    }
    [[nodiscard]] bool is_kept(TensorId tensor) const {
        return std::ranges::find(graph_.kept(), tensor) != graph_.kept().end();
    }
    [[nodiscard]] bool activated(OpId op) const { return !at(op).attributes.text("activation").empty(); }

    /// The one reader of that kind which has the tensor as that input; no_op if there is none or another reader too,
    /// apart from `others`.
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

    std::optional<Half> find_half(OpId depthwise) const {
        if (!is_depthwise(at(depthwise)))
            return std::nullopt;
        Half half{.depthwise = depthwise};
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
    void find_relu(Half& half, TensorId x, TensorId gx) const {
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

    /// Finds a half that cannot be joined after all. A batch norm whose gradient is masked needs the half behind it.
    bool leave_one_out() {
        for (auto& half : halves_) {
            if (!half.used || ((half.after || !activated(half.norm_gradient)) && is_supported(half)))
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
    [[nodiscard]] bool is_supported(const Half& half) const {
        const auto sums = at(half.norm).outputs[BatchNorm::mean]; // like those that are still to be made
        const auto gy = at(half.norm_gradient).inputs[BatchNormGradient::gy];
        return supports_(graph_, forward_of(half)) && supports_(graph_, pointwise_gradient_of(half, gy, sums, sums)) &&
               supports_(graph_, depthwise_gradient_of(half)) &&
               (half.depthwise_weight == no_op || supports_(graph_, filter_gradient_of(half)));
    }

    /// Names the sums over the batch that the gradient of the batch norm needs.
    void find_sums(Half& half) {
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

    void replace(const Half& half) {
        put(half.norm, forward_of(half)); // where the residual is there too
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
        const auto gy = at(half.norm_gradient).inputs[BatchNormGradient::gy];
        put(first_of(half.pointwise_input, half.pointwise_weight),
            pointwise_gradient_of(half, gy, half.gweight, half.gbias));
        // The filter's gradient comes behind what others wait for, so that this follows its input without a gap.
        put(half.depthwise_input, depthwise_gradient_of(half));
        if (half.depthwise_weight != no_op)
            put(std::max(half.depthwise_input, half.depthwise_weight), filter_gradient_of(half));
        for (const auto op : {half.depthwise, half.pointwise, half.norm, half.norm_gradient, half.pointwise_input,
                              half.pointwise_weight, half.depthwise_input, half.depthwise_weight, half.relu,
                              half.relu_gradient, half.cast, half.cast_back})
            if (op != no_op)
                gone_[static_cast<std::size_t>(op)] = 1;
    }

    Op like(OpId place, std::string kind) const {
        Op op;
        op.kind = std::move(kind);
        op.layer = at(place).layer;
        op.segment = at(place).segment;
        op.stage = at(place).stage;
        return op;
    }

    /// The batch norm that goes into a half's input: mean, inv_std, weight, bias; none of them without one.
    std::vector<TensorId> norm_of_input(const Half& half) const {
        if (!half.before)
            return std::vector<TensorId>(4, no_tensor);
        const auto& norm = at(halves_[*half.before].norm);
        return {norm.outputs[BatchNorm::mean], norm.outputs[BatchNorm::inv_std], norm.inputs[BatchNorm::weight],
                norm.inputs[BatchNorm::bias]};
    }
    TensorId input_of(const Half& half) const {
        if (half.before)
            return at(halves_[*half.before].pointwise).outputs[0];
        return half.relu != no_op && half.cast == no_op ? at(half.relu).inputs[0] : at(half.depthwise).inputs[0];
    }
    static TensorId output_of(const std::vector<Op>& ops, OpId op) {
        return op == no_op ? no_tensor : ops[static_cast<std::size_t>(op)].outputs[0];
    }

    Op forward_of(const Half& half) const {
        const auto& norm = at(half.norm);
        Op op = like(half.depthwise, "separable_conv2d");
        op.inputs = {input_of(half), at(half.depthwise).inputs[1], at(half.pointwise).inputs[1],
                     norm.inputs[BatchNorm::running_mean], norm.inputs[BatchNorm::running_var]};
        const auto input_norm = norm_of_input(half);
        op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
        op.inputs.resize(Separable::residual + 1, no_tensor);
        op.outputs = {at(half.depthwise).outputs[0], at(half.pointwise).outputs[0], no_tensor};
        if (!half.after) {
            op.inputs[Separable::z_weight] = norm.inputs[BatchNorm::weight];
            op.inputs[Separable::z_bias] = norm.inputs[BatchNorm::bias];
            op.inputs[Separable::residual] = norm.inputs[BatchNorm::residual];
            op.outputs[Separable::y] = norm.outputs[BatchNorm::y];
            if (activated(half.norm))
                op.attributes.set("activation", norm.attributes.text("activation"));
        }
        op.outputs.insert(op.outputs.end(), norm.outputs.begin() + BatchNorm::mean, norm.outputs.end());
        for (const char* name : {"eps", "momentum", "update_running"})
            if (norm.attributes.has(name))
                op.attributes.set(name, norm.attributes.values().at(name));
        set_activation(half, op);
        return op;
    }
    static void set_activation(const Half& half, Op& op) {
        if (half.before || half.relu != no_op)
            op.attributes.set("input_activation", std::string("relu"));
    }

    Op pointwise_gradient_of(const Half& half, TensorId gy, TensorId gweight, TensorId gbias) const {
        const auto& norm_gradient = at(half.norm_gradient);
        Op op = like(half.pointwise_input, "separable_pointwise_gradient");
        op.inputs = {gy,
                     at(half.pointwise).outputs[0],
                     norm_gradient.inputs[BatchNormGradient::mean],
                     norm_gradient.inputs[BatchNormGradient::inv_std],
                     gweight,
                     gbias,
                     at(half.depthwise).outputs[0],
                     at(half.pointwise).inputs[1],
                     norm_gradient.inputs[BatchNormGradient::weight]};
        op.outputs = {at(half.pointwise_input).outputs[0], output_of(ops_, half.pointwise_weight)};
        return op;
    }
    Op depthwise_gradient_of(const Half& half) const {
        Op op = like(half.depthwise_input, "separable_depthwise_gradient");
        op.inputs = {at(half.pointwise_input).outputs[0], input_of(half), at(half.depthwise).inputs[1]};
        const auto input_norm = norm_of_input(half);
        op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
        op.outputs = {half.relu != no_op && half.cast == no_op ? at(half.relu_gradient).outputs[0]
                                                               : at(half.depthwise_input).outputs[0],
                      no_tensor, no_tensor};
        if (half.before) {
            op.outputs[SeparableDepthwiseGradient::gweight] = halves_[*half.before].gweight;
            op.outputs[SeparableDepthwiseGradient::gbias] = halves_[*half.before].gbias;
        }
        set_activation(half, op);
        return op;
    }
    Op filter_gradient_of(const Half& half) const {
        Op op = like(half.depthwise_weight, "separable_filter_gradient");
        op.inputs = {at(half.pointwise_input).outputs[0], input_of(half)};
        const auto input_norm = norm_of_input(half);
        op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
        op.outputs = at(half.depthwise_weight).outputs;
        op.attributes.set("weight_shape", at(half.depthwise_weight).attributes.values().at("weight_shape"));
        set_activation(half, op);
        return op;
    }

    Graph graph_;
    const Supports& supports_;
    std::vector<Op> ops_;
    std::vector<std::vector<OpId>> readers_;
    std::vector<char> gone_;
    std::vector<std::vector<Op>> placed_; ///< what comes in the place of an op
    std::vector<Half> halves_;
};

} // namespace

Graph fuse_separable(Graph graph, const Supports& supports) {
    return SeparableFusion(std::move(graph), supports).run();
}

} // namespace espalier
