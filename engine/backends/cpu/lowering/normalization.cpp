// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

namespace espalier::cpu {

namespace {

/// The constants of a batch norm and the layout that it works in.
struct Norm {
    BatchNorm constants;
    Layout layout;
    std::size_t workspace;
};

Norm norm_of(const Context& c) {
    const Tensor& x = c.input(0);
    Norm result;
    result.layout = c.activation(x, c.given(0));
    if (x.shape.rank() == 4) {
        result.constants.shape = activation_shape(x.shape, result.layout);
    } else if (x.shape.rank() == 3) {
        result.constants.shape = {x.shape[0], x.shape[1], x.shape[2], 1, 1};
    } else { // row-major [N, C] is channels last with one pixel
        result.constants.shape = {x.shape[0], x.shape[1], 1, 1, x.shape[1]};
    }
    result.constants.eps = static_cast<float>(c.op.attributes.real("eps", 1e-5));
    result.constants.momentum = static_cast<float>(c.op.attributes.real("momentum", 0.1));
    result.constants.relu = c.op.attributes.text("activation") == "relu";
    result.constants.threads = c.threads;
    result.workspace = static_cast<std::size_t>(batch_norm_partials(result.constants.shape)) * sizeof(float);
    return result;
}

BatchNorm with(BatchNorm norm, const float* weight, const float* bias) {
    norm.weight = weight;
    norm.bias = bias;
    return norm;
}

Lowered lower_batch_norm(const Context& c) {
    const Norm norm = norm_of(c);
    Lowered result = c.plain();
    result.inputs[0] = norm.layout;
    if (c.has_input(5)) {
        result.inputs[5] = norm.layout;
        result.in_place.emplace_back(0, 5);
    }
    result.outputs[0] = norm.layout;
    result.workspace = norm.workspace;
    const bool update = c.op.attributes.flag("update_running", true) && c.has_output(3);
    // Statistics that nobody asked for are computed all the same; they go to the end of the workspace.
    const std::size_t spare = result.workspace;
    const std::size_t channels = static_cast<std::size_t>(norm.constants.shape.c) * sizeof(float);
    result.workspace += 2 * channels;
    result.kernel =
        loop_kernel(c, "batch norm", [&k = c.kernels, n = norm.constants, update, spare, channels](const Arguments& a) {
            float* mean = a.out(1) != nullptr ? a.out(1) : a.scratch<float>(spare);
            float* inv_std = a.out(2) != nullptr ? a.out(2) : a.scratch<float>(spare + channels);
            k.batch_norm_forward(with(n, a.in(1), a.in(2)), a.in(0), a.in(5), a.out(0), mean, inv_std,
                                 update ? a.out(3) : nullptr, update ? a.out(4) : nullptr, a.scratch<float>());
        });
    return result;
}

/// x, mean, statistic, weight?, bias?, residual? -> y
Lowered lower_apply(const Context& c, bool variance) {
    const Norm norm = norm_of(c);
    Lowered result = c.plain();
    result.inputs[0] = norm.layout;
    result.in_place.emplace_back(0, 0);
    if (c.has_input(5)) {
        result.inputs[5] = norm.layout;
        result.in_place.emplace_back(0, 5);
    }
    result.outputs[0] = norm.layout;
    result.workspace = norm.workspace;
    result.kernel =
        loop_kernel(c, "batch norm apply", [&k = c.kernels, n = norm.constants, variance](const Arguments& a) {
            k.batch_norm_apply(with(n, a.in(3), a.in(4)), a.in(0), a.in(1), a.in(2), variance, a.in(5), a.out(0),
                               a.scratch<float>());
        });
    return result;
}

Lowered lower_gradient(const Context& c) {
    Norm norm = norm_of(c);
    // x, gy and y should be in one layout already; gy's is the newest.
    Lowered result = c.plain();
    result.inputs[0] = norm.layout;
    result.inputs[1] = norm.layout;
    if (c.has_input(6)) {
        result.inputs[6] = norm.layout;
    }
    norm.constants.relu = norm.constants.relu && c.has_input(6);
    if (c.has_output(0)) {
        result.outputs[0] = norm.layout;
        result.in_place.emplace_back(0, 1);
        result.in_place.emplace_back(0, 0);
    }
    if (c.has_output(3)) {
        result.outputs[3] = norm.layout;
        result.in_place.emplace_back(3, 1);
        if (c.has_input(6)) {
            result.in_place.emplace_back(3, 6);
        }
    }
    result.workspace = norm.workspace;
    result.kernel = loop_kernel(c, "batch norm gradient", [&k = c.kernels, n = norm.constants](const Arguments& a) {
        k.batch_norm_gradient(with(n, a.in(4), nullptr), a.in(0), a.in(1), a.in(2), a.in(3), a.in(6), a.out(0),
                              a.out(1), a.out(2), a.out(3), a.scratch<float>());
    });
    return result;
}

} // namespace

void add_normalization(LoweringTable& table) {
    table["batch_norm"] = {lower_batch_norm, {}};
    table["batch_norm_apply"] = {[](const Context& c) { return lower_apply(c, false); }, {}};
    table["batch_norm_inference"] = {[](const Context& c) { return lower_apply(c, true); }, {}};
    table["batch_norm_gradient"] = {lower_gradient, {}};
}

} // namespace espalier::cpu
