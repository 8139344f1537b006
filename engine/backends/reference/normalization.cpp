// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"

#include "backends/reference/family.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier::reference {
namespace {

/// y = act((x - mean) * inv_std * weight + bias + residual), by channel.
struct Affine {
    const double* mean;
    const double* inv_std;
    const double* weight;
    const double* bias;
    const double* residual;
    bool relu;
};

void apply(const AxisView& shape, const double* x, const Affine& affine, double* y) {
    for (std::int64_t n = 0; n < shape.outer; ++n)
        for (std::int64_t c = 0; c < shape.length; ++c)
            for (std::int64_t i = 0; i < shape.inner; ++i) {
                const auto at = shape.at(n, c, i);
                auto value = (x[at] - affine.mean[c]) * affine.inv_std[c];
                value = value * (affine.weight ? affine.weight[c] : 1.0) + (affine.bias ? affine.bias[c] : 0.0);
                value += affine.residual ? affine.residual[at] : 0.0;
                y[at] = affine.relu ? std::max(value, 0.0) : value;
            }
}

/// Mean over the batch of f(element's place), by channel.
template <class F>
std::vector<double> channel_means(const AxisView& shape, F f) {
    std::vector<double> means(static_cast<std::size_t>(shape.length));
    for (std::int64_t n = 0; n < shape.outer; ++n)
        for (std::int64_t c = 0; c < shape.length; ++c)
            for (std::int64_t i = 0; i < shape.inner; ++i)
                means[static_cast<std::size_t>(c)] += f(c, shape.at(n, c, i));
    for (auto& mean : means)
        mean /= static_cast<double>(shape.outer * shape.inner);
    return means;
}

Compute batch_norm(const Graph& graph, const Op& op) {
    const auto norm = BatchNorm::from(op.attributes);
    const AxisView shape(input_shape(graph, op, BatchNorm::x), 1);
    return [=](const Arrays& arrays) {
        const auto* x = arrays.in(BatchNorm::x);
        const auto mean = channel_means(shape, [&](auto, auto at) { return x[at]; });
        const auto variance = channel_means(shape, [&](auto c, auto at) {
            const auto centred = x[at] - mean[static_cast<std::size_t>(c)];
            return centred * centred;
        });
        std::vector<double> inv_std;
        for (auto value : variance)
            inv_std.push_back(1.0 / std::sqrt(value + norm.eps));

        apply(shape, x,
              {mean.data(), inv_std.data(), arrays.in(BatchNorm::weight), arrays.in(BatchNorm::bias),
               arrays.in(BatchNorm::residual), norm.relu},
              arrays.out(BatchNorm::y));
        if (auto* out = arrays.out(BatchNorm::mean))
            std::ranges::copy(mean, out);
        if (auto* out = arrays.out(BatchNorm::inv_std))
            std::ranges::copy(inv_std, out);
        if (!norm.update_running)
            return;
        const auto count = static_cast<double>(shape.outer * shape.inner);
        const auto unbiased = count > 1 ? count / (count - 1) : 1.0;
        const auto *old_mean = arrays.in(BatchNorm::running_mean), *old_var = arrays.in(BatchNorm::running_var);
        for (std::size_t c = 0; c < mean.size(); ++c) {
            arrays.out(3)[c] = (1 - norm.momentum) * old_mean[c] + norm.momentum * mean[c];
            arrays.out(4)[c] = (1 - norm.momentum) * old_var[c] + norm.momentum * variance[c] * unbiased;
        }
    };
}

Compute batch_norm_apply(const Graph& graph, const Op& op) {
    const auto relu = BatchNorm::from(op.attributes).relu;
    const AxisView shape(input_shape(graph, op, 0), 1);
    return [=](const Arrays& arrays) {
        apply(shape, arrays.in(0), {arrays.in(1), arrays.in(2), arrays.in(3), arrays.in(4), arrays.in(5), relu},
              arrays.out(0));
    };
}

Compute batch_norm_inference(const Graph& graph, const Op& op) {
    const auto norm = BatchNorm::from(op.attributes);
    const AxisView shape(input_shape(graph, op, 0), 1);
    return [=](const Arrays& arrays) {
        std::vector<double> inv_std;
        for (std::int64_t c = 0; c < shape.length; ++c)
            inv_std.push_back(1.0 / std::sqrt(arrays.in(2)[c] + norm.eps));
        apply(shape, arrays.in(0), {arrays.in(1), inv_std.data(), arrays.in(3), arrays.in(4), arrays.in(5), norm.relu},
              arrays.out(0));
    };
}

/// With h = (x - mean) inv_std and M elements a channel: gbias = sum g, gweight = sum g h,
/// gx = weight inv_std (g - gbias / M - h gweight / M). Ioffe and Szegedy, "Batch Normalization" (2015), section 3.
Compute batch_norm_gradient(const Graph& graph, const Op& op) {
    const auto relu = BatchNorm::from(op.attributes).relu;
    const AxisView shape(input_shape(graph, op, 0), 1);
    return [=](const Arrays& arrays) {
        const auto *x = arrays.in(0), *gy = arrays.in(1), *mean = arrays.in(2), *inv_std = arrays.in(3);
        const auto *weight = arrays.in(4), *y = arrays.in(6);
        const auto g = [&](auto at) { return relu && !(y[at] > 0) ? 0.0 : gy[at]; };
        const auto h = [&](auto c, auto at) { return (x[at] - mean[c]) * inv_std[c]; };
        const auto mean_g = channel_means(shape, [&](auto, auto at) { return g(at); });
        const auto mean_gh = channel_means(shape, [&](auto c, auto at) { return g(at) * h(c, at); });

        for (std::int64_t n = 0; n < shape.outer; ++n)
            for (std::int64_t c = 0; c < shape.length; ++c)
                for (std::int64_t i = 0; i < shape.inner; ++i) {
                    const auto at = shape.at(n, c, i);
                    const auto channel = static_cast<std::size_t>(c);
                    if (auto* gx = arrays.out(0))
                        gx[at] = (weight ? weight[c] : 1.0) * inv_std[c] *
                                 (g(at) - mean_g[channel] - h(c, at) * mean_gh[channel]);
                    if (auto* gresidual = arrays.out(3))
                        gresidual[at] = g(at);
                }
        const auto count = static_cast<double>(shape.outer * shape.inner);
        for (std::size_t c = 0; c < mean_g.size(); ++c) {
            if (auto* gweight = arrays.out(1))
                gweight[c] = mean_gh[c] * count;
            if (auto* gbias = arrays.out(2))
                gbias[c] = mean_g[c] * count;
        }
    };
}

} // namespace

void add_normalization(Kinds& kinds) {
    kinds["batch_norm"] = batch_norm;
    kinds["batch_norm_apply"] = batch_norm_apply;
    kinds["batch_norm_inference"] = batch_norm_inference;
    kinds["batch_norm_gradient"] = batch_norm_gradient;
}

} // namespace espalier::reference
