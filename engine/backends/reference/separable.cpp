// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/separable.h"

#include "backends/reference/family.h"
#include "backends/reference/rounding.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier::reference {
namespace {

/// An input as an op reads that computes in a type: what is f32 beside halves is rounded to them.
class Rounded {
public:
    Rounded(const Graph& graph, const Op& op, std::size_t place, DType type)
        : place_(place), type_(graph.tensor(op.inputs[place]).type == DType::f32 ? type : DType::f32) {}

    struct Values {
        const double* data;
        DType type;
        [[nodiscard]] double operator[](std::int64_t i) const { return rounded(data[i], type); }
    };
    [[nodiscard]] Values in(const Arrays& arrays) const { return {arrays.in(place_), type_}; }

private:
    std::size_t place_;
    DType type_; ///< to round to; f32: not at all
};

/// A batch norm by its statistics, or none, and a ReLU, or none.
struct Input {
    const double* mean;
    const double* inv_std;
    const double* weight;
    const double* bias;
    bool relu;

    [[nodiscard]] double before_relu(double x, std::int64_t channel) const {
        if (!mean)
            return x;
        return (x - mean[channel]) * inv_std[channel] * (weight ? weight[channel] : 1.0) + (bias ? bias[channel] : 0.0);
    }
    [[nodiscard]] double operator()(double x, std::int64_t channel) const {
        const auto value = before_relu(x, channel);
        return relu ? std::max(value, 0.0) : value;
    }
};

/// Calls visit(place in the result, place in the input, place in the filter, channel) for every product of a depthwise
/// convolution that keeps the size.
template <class Visit>
void for_each_tap(const Image& image, std::int64_t kernel, Visit visit) {
    const auto padding = (kernel - 1) / 2;
    for (std::int64_t n = 0; n < image.n; ++n)
        for (std::int64_t c = 0; c < image.c; ++c)
            for (std::int64_t p = 0; p < image.h; ++p)
                for (std::int64_t q = 0; q < image.w; ++q)
                    for (std::int64_t r = 0; r < kernel; ++r)
                        for (std::int64_t s = 0; s < kernel; ++s)
                            if (image.inside(p + r - padding, q + s - padding))
                                visit(image.at(n, c, p, q), image.at(n, c, p + r - padding, q + s - padding),
                                      (c * kernel + r) * kernel + s, c);
}

/// Calls visit(n, channel, place) for every element.
template <class Visit>
void for_each_element(const Image& image, Visit visit) {
    for (std::int64_t n = 0; n < image.n; ++n)
        for (std::int64_t c = 0; c < image.c; ++c)
            for (std::int64_t h = 0; h < image.h; ++h)
                for (std::int64_t w = 0; w < image.w; ++w)
                    visit(n, c, image.at(n, c, h, w));
}

Compute separable_conv2d(const Graph& graph, const Op& op) {
    using Place = Separable;
    const auto separable = Separable::from(op.attributes);
    const Image x(input_shape(graph, op, Place::x)), z(output_shape(graph, op, Place::z));
    const auto kernel = input_shape(graph, op, Place::filter)[2];
    const auto type = graph.tensor(op.outputs[Place::d]).type;
    const Rounded images(graph, op, Place::x, type), taps(graph, op, Place::filter, type),
        products(graph, op, Place::matrix, type);
    return [=](const Arrays& arrays) {
        const Input input{arrays.in(Place::mean), arrays.in(Place::inv_std), arrays.in(Place::weight),
                          arrays.in(Place::bias), separable.input_relu};
        const auto from = images.in(arrays), filter = taps.in(arrays), matrix = products.in(arrays);
        auto *d = arrays.out(Place::d), *out = arrays.out(Place::z);
        std::fill_n(d, x.count(), 0.0);
        for_each_tap(x, kernel, [&](auto result, auto place, auto tap, auto channel) {
            d[result] += input(from[place], channel) * filter[tap];
        });
        const auto pixels = x.h * x.w;
        const auto count = static_cast<double>(z.n * pixels);
        std::fill_n(out, z.count(), 0.0);
        for_each_element(z, [&](auto n, auto k, auto place) {
            for (std::int64_t c = 0; c < x.c; ++c)
                out[place] += d[(n * x.c + c) * pixels + place % pixels] * matrix[k * x.c + c];
        });
        std::vector<double> mean(static_cast<std::size_t>(z.c)), variance(mean.size());
        for_each_element(z, [&](auto, auto k, auto at) { mean[static_cast<std::size_t>(k)] += out[at] / count; });
        for_each_element(z, [&](auto, auto k, auto at) {
            const auto channel = static_cast<std::size_t>(k);
            variance[channel] += (out[at] - mean[channel]) * (out[at] - mean[channel]) / count;
        });
        if (auto* y = arrays.out(Place::y)) {
            const auto *weight = arrays.in(Place::z_weight), *bias = arrays.in(Place::z_bias),
                       *residual = arrays.in(Place::residual);
            for_each_element(z, [&](auto, auto k, auto at) {
                const auto channel = static_cast<std::size_t>(k);
                const auto value = (out[at] - mean[channel]) / std::sqrt(variance[channel] + separable.eps) *
                                       (weight ? weight[k] : 1.0) +
                                   (bias ? bias[k] : 0.0) + (residual ? residual[at] : 0.0);
                y[at] = separable.relu ? std::max(value, 0.0) : value;
            });
        }
        for (std::size_t k = 0; k < mean.size(); ++k) {
            arrays.out(Place::z_mean)[k] = mean[k];
            arrays.out(Place::z_inv_std)[k] = 1.0 / std::sqrt(variance[k] + separable.eps);
            if (!separable.update_running)
                continue;
            const auto unbiased = variance[k] * count / (count - 1), momentum = separable.momentum;
            arrays.out(Place::z_inv_std + 1)[k] =
                (1 - momentum) * arrays.in(Place::running_mean)[k] + momentum * mean[k];
            arrays.out(Place::z_inv_std + 2)[k] =
                (1 - momentum) * arrays.in(Place::running_var)[k] + momentum * unbiased;
        }
    };
}

Compute pointwise_gradient(const Graph& graph, const Op& op) {
    using Place = SeparablePointwiseGradient;
    const Image z(input_shape(graph, op, Place::z)), d(input_shape(graph, op, Place::d));
    const Rounded products(graph, op, Place::matrix, graph.tensor(op.inputs[Place::d]).type);
    return [=](const Arrays& arrays) {
        const auto *gy = arrays.in(Place::gy), *normalised = arrays.in(Place::z), *mean = arrays.in(Place::mean),
                   *inv_std = arrays.in(Place::inv_std), *weight = arrays.in(Place::weight),
                   *gweight = arrays.in(Place::gweight), *gbias = arrays.in(Place::gbias), *from = arrays.in(Place::d);
        const auto matrix = products.in(arrays);
        auto *gd = arrays.out(Place::gd), *gmatrix = arrays.out(Place::gmatrix);
        const auto pixels = z.h * z.w;
        const auto count = static_cast<double>(z.n * pixels);
        std::fill_n(gd, d.count(), 0.0);
        if (gmatrix)
            std::fill_n(gmatrix, z.c * d.c, 0.0);
        for_each_element(z, [&](auto n, auto k, auto at) {
            const auto h = (normalised[at] - mean[k]) * inv_std[k];
            const auto gz =
                (weight ? weight[k] : 1.0) * inv_std[k] * (gy[at] - gbias[k] / count - h * gweight[k] / count);
            for (std::int64_t c = 0; c < d.c; ++c) {
                const auto place = (n * d.c + c) * pixels + at % pixels;
                gd[place] += gz * matrix[k * d.c + c];
                if (gmatrix)
                    gmatrix[k * d.c + c] += gz * from[place];
            }
        });
    };
}

Compute depthwise_gradient(const Graph& graph, const Op& op) {
    using Place = SeparableDepthwiseGradient;
    const auto relu = Separable::from(op.attributes).input_relu;
    const Image x(input_shape(graph, op, Place::x));
    const auto kernel = input_shape(graph, op, Place::filter)[2];
    const auto type = graph.tensor(op.inputs[Place::gd]).type;
    const Rounded images(graph, op, Place::x, type), taps(graph, op, Place::filter, type);
    return [=](const Arrays& arrays) {
        const Input input{arrays.in(Place::mean), arrays.in(Place::inv_std), arrays.in(Place::weight),
                          arrays.in(Place::bias), relu};
        const auto* gd = arrays.in(Place::gd);
        const auto from = images.in(arrays), filter = taps.in(arrays);
        auto *gx = arrays.out(Place::gx), *gweight = arrays.out(Place::gweight), *gbias = arrays.out(Place::gbias);
        std::fill_n(gx, x.count(), 0.0);
        for_each_tap(x, kernel,
                     [&](auto result, auto place, auto tap, auto) { gx[place] += gd[result] * filter[tap]; });
        for (auto* sum : {gweight, gbias})
            if (sum)
                std::fill_n(sum, x.c, 0.0);
        for_each_element(x, [&](auto, auto c, auto at) {
            if (relu && !(input.before_relu(from[at], c) > 0))
                gx[at] = 0;
            if (gweight && input.mean)
                gweight[c] += gx[at] * (from[at] - input.mean[c]) * input.inv_std[c];
            if (gbias)
                gbias[c] += gx[at];
        });
    };
}

Compute filter_gradient(const Graph& graph, const Op& op) {
    using Place = SeparableFilterGradient;
    const auto relu = Separable::from(op.attributes).input_relu;
    const Image x(input_shape(graph, op, Place::x));
    const auto kernel = output_shape(graph, op, Place::gfilter)[2];
    const Rounded images(graph, op, Place::x, graph.tensor(op.inputs[Place::gd]).type);
    return [=](const Arrays& arrays) {
        const Input input{arrays.in(Place::mean), arrays.in(Place::inv_std), arrays.in(Place::weight),
                          arrays.in(Place::bias), relu};
        const auto* gd = arrays.in(Place::gd);
        const auto from = images.in(arrays);
        auto* gfilter = arrays.out(Place::gfilter);
        std::fill_n(gfilter, x.c * kernel * kernel, 0.0);
        for_each_tap(x, kernel, [&](auto result, auto place, auto tap, auto channel) {
            gfilter[tap] += gd[result] * input(from[place], channel);
        });
    };
}

} // namespace

void add_separable(Kinds& kinds) {
    kinds["separable_conv2d"] = separable_conv2d;
    kinds["separable_pointwise_gradient"] = pointwise_gradient;
    kinds["separable_depthwise_gradient"] = depthwise_gradient;
    kinds["separable_filter_gradient"] = filter_gradient;
}

} // namespace espalier::reference
