// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/separable.h"

#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/separable_forward.h"
#include "backends/cuda/kernels/split_sum.h"
#include "backends/cuda/lowering/batch_statistics.h"
#include "graph/op_registry.h"

#include <algorithm>
#include <array>

/// Each op is a chain of short launches, each of which begins while the one before it ends: depthwise and pointwise
/// with the moments of its slices, in one where rows of the images are short, and what merges these.
namespace espalier::cuda {
namespace {

using Forward = espalier::Separable;

Layout filter_layout(const Tensor& tensor) { return make_layout(tensor.shape, tensor.type, Order::depthwise_filter); }
Layout matrix_layout(const Tensor& tensor) { return make_layout(tensor.shape, tensor.type, Order::filter); }

Depthwise depthwise_of(const Tensor& images, const Shape& filter) {
    const std::array<std::int64_t, 2> size{images.shape[2], images.shape[3]}, kernel{filter[2], filter[3]};
    return {.n = images.shape[0],
            .x = size,
            .y = size,
            .channels = padded(images.shape[1]),
            .kernel = kernel,
            .padding = {(kernel[0] - 1) / 2, (kernel[1] - 1) / 2},
            .type = images.type};
}

Pointwise pointwise_of(const Context& c, const Tensor& d, const Tensor& matrix) {
    return {.rows = d.shape[0] * d.shape[2] * d.shape[3],
            .channels = padded(d.shape[1]),
            .products = padded(matrix.shape[0]),
            .real_products = matrix.shape[0],
            .type = d.type,
            .tf32 = c.settings.options.tf32,
            .multiprocessors = c.settings.device.multiprocessors};
}

ChannelTiles cut_images(const Context& c, const Pointwise& p) {
    return cut_map_after_merge(p.rows, static_cast<int>(p.real_products), static_cast<int>(p.products),
                               c.settings.device.multiprocessors);
}

/// Of the blocks of a depthwise input gradient; their shares play no part in sums.
ChannelTiles slices_of_sums(const Depthwise& d, std::int64_t channels) {
    ChannelTiles t;
    t.rows = static_cast<int>(d.n * d.x[0] * d.x[1]);
    t.slices = static_cast<int>(depthwise_input_gradient_blocks(d));
    t.slice_rows = 1;
    t.channels = static_cast<int>(channels);
    t.pitch = static_cast<int>(d.channels);
    return t;
}

// Whether these kernels serve an op.

/// `type`: in which the op computes.
Support supports_types(const Context& c, DType type) {
    if (c.settings.options.reference_separable)
        return Support::no("depthwise convolutions are the library's here");
    if (type != DType::f32 && type != DType::f16 && type != DType::bf16)
        return Support::no("images must be f32, f16 or bf16");
    const auto fit = [&](const std::vector<TensorId>& tensors, const std::vector<std::size_t>& wide) {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (tensors[i] == no_tensor || c.graph.shape(tensors[i]).rank() != 4)
                continue;
            const auto found = c.graph.tensor(tensors[i]).type;
            if (found != type && (found != DType::f32 || std::ranges::find(wide, i) == wide.end()))
                return false;
        }
        return true;
    };
    const auto& definition = OpRegistry::instance().find(c.op.kind);
    if (!fit(c.op.inputs, definition.wide_inputs) || !fit(c.op.outputs, definition.wide_outputs))
        return Support::no("images and filters must be of one type, apart from those that may be f32");
    return {};
}
bool is_wide(const Context& c, std::size_t input, DType type) { return c.input(input).type != type; }
Weights weights(const Arguments& a, std::size_t input, bool wide) { return {a.in(input), wide}; }
Support supports_depthwise(const Tensor& images, const Shape& filter) {
    const auto shape = depthwise_of(images, filter);
    if (shape.n * shape.x[0] * shape.x[1] > most_rows)
        return Support::no("the images are too large to be fused");
    return reads_through(shape) ? Support{} : Support::no("the window is not one of those that are fused");
}
Support supports_pointwise(const Context& c, const Tensor& d, const Tensor& matrix) {
    auto reason = refusal(pointwise_of(c, d, matrix));
    return reason.empty() ? Support{} : Support::no(std::move(reason));
}

/// Of f32 beside halves in a gradient, of x or of anything; `norm`: the place of the mean.
Support supports_wide(const Context& c, bool x, bool anything, std::size_t norm) {
    if (x && c.has_input(norm))
        return Support::no("an f32 image beside halves must not go through a batch norm");
    if (anything && !c.has_input(norm) && !Forward::from(c.op.attributes).input_relu)
        return Support::no("f32 beside halves is read through a ReLU or a batch norm alone");
    return {};
}

Support supports_forward(const Context& c) {
    const auto& d = c.output(Forward::d);
    const auto& filter = c.input(Forward::filter).shape;
    const auto& matrix = c.input(Forward::matrix);
    if (auto types = supports_types(c, d.type); !types)
        return types;
    if (auto depthwise = supports_depthwise(d, filter); !depthwise)
        return depthwise;
    if (auto pointwise = supports_pointwise(c, d, matrix); !pointwise)
        return pointwise;
    const bool wide_x = is_wide(c, Forward::x, d.type);
    if (auto form = supports_wide(c, wide_x, false, Forward::mean); !form)
        return form;
    if ((wide_x || is_wide(c, Forward::filter, d.type) || is_wide(c, Forward::matrix, d.type)) &&
        !separable_tiles(depthwise_of(d, filter), pointwise_of(c, d, matrix)))
        return Support::no("the rows are too long to read f32 beside halves");
    return {};
}
Support supports_pointwise_gradient(const Context& c) {
    using Place = SeparablePointwiseGradient;
    auto types = supports_types(c, c.input(Place::d).type);
    return types ? supports_pointwise(c, c.input(Place::d), c.input(Place::matrix)) : types;
}
Support supports_depthwise_gradient(const Context& c) {
    using Place = SeparableDepthwiseGradient;
    const auto& gd = c.input(Place::gd);
    if (auto types = supports_types(c, gd.type); !types)
        return types;
    if (c.output(Place::gx).type != c.input(Place::x).type)
        return Support::no("an image and its gradient must be of one type");
    const bool wide_x = is_wide(c, Place::x, gd.type);
    if (auto form = supports_wide(c, wide_x, wide_x || is_wide(c, Place::filter, gd.type), Place::mean); !form)
        return form;
    return supports_depthwise(gd, c.input(Place::filter).shape);
}
Support supports_filter_gradient(const Context& c) {
    using Place = SeparableFilterGradient;
    const auto& gd = c.input(Place::gd);
    if (auto types = supports_types(c, gd.type); !types)
        return types;
    const bool wide_x = is_wide(c, Place::x, gd.type);
    if (auto form = supports_wide(c, wide_x, wide_x, Place::mean); !form)
        return form;
    return supports_depthwise(gd, c.output(Place::gfilter).shape);
}

/// The input of a depthwise convolution: x, and mean, inv_std, weight and bias from place `norm` on.
DepthwiseInput input_of(const Arguments& a, std::size_t x, std::size_t norm, bool relu, bool wide) {
    return {a.in(x), a.in_f32(norm), a.in_f32(norm + 1), a.in_f32(norm + 2), a.in_f32(norm + 3), relu, wide};
}

Lowered lower_forward(const Context& c) {
    const auto attributes = Forward::from(c.op.attributes);
    const auto depthwise = depthwise_of(c.output(Forward::d), c.input(Forward::filter).shape);
    const auto pointwise = pointwise_of(c, c.output(Forward::d), c.input(Forward::matrix));
    const auto wide = [&](std::size_t input) { return is_wide(c, input, depthwise.type); };
    const auto joined = separable_tiles(depthwise, pointwise);
    const auto slices = joined ? separable_slices(depthwise, pointwise, *joined) : pointwise_slices(pointwise);
    const auto tiles = cut_images(c, pointwise);
    Lowered result = c.natural();
    result.inputs[Forward::filter] = filter_layout(c.input(Forward::filter));
    result.inputs[Forward::matrix] = matrix_layout(c.input(Forward::matrix));
    result.workspace = partial_floats(slices) * sizeof(float);
    const bool wide_x = wide(Forward::x), wide_filter = wide(Forward::filter), wide_matrix = wide(Forward::matrix);
    result.kernel = launch_kernel(c, "separable forward", [=](const Arguments& a) {
        const auto input = input_of(a, Forward::x, Forward::mean, attributes.input_relu, wide_x);
        if (joined) {
            const SeparableTensors tensors{input,
                                           weights(a, Forward::filter, wide_filter),
                                           weights(a, Forward::matrix, wide_matrix),
                                           a.out(Forward::d),
                                           a.out(Forward::z),
                                           a.scratch<float>()};
            launch_separable_forward(depthwise, pointwise, *joined, tensors, a.stream);
        } else {
            launch_depthwise(depthwise, input, a.in(Forward::filter), a.out(Forward::d), a.stream);
            launch_pointwise(pointwise, a.out(Forward::d), a.in(Forward::matrix), a.out(Forward::z), a.scratch<float>(),
                             a.stream.behind());
        }
        const NormalizeRows rows{
            a.out(Forward::z),         a.in(Forward::residual), a.out(Forward::y), a.in_f32(Forward::z_weight),
            a.in_f32(Forward::z_bias), attributes.relu,         pointwise.type};
        const auto statistics = batch_statistics(a, attributes, Forward::running_mean, Forward::z_mean);
        launch_batch_norm_end(rows, statistics, tiles, slices, a.scratch<float>(), a.stream.behind());
    });
    return result;
}

Lowered lower_pointwise_gradient(const Context& c) {
    using Place = SeparablePointwiseGradient;
    const auto shape = pointwise_of(c, c.input(Place::d), c.input(Place::matrix));
    Lowered result = c.natural();
    result.inputs[Place::matrix] = matrix_layout(c.input(Place::matrix));
    if (c.has_output(Place::gmatrix)) {
        result.outputs[Place::gmatrix] = matrix_layout(c.output(Place::gmatrix));
        const std::int64_t splits = pointwise_gradient_parts(shape), count = shape.products * shape.channels;
        result.finish = Finish{launch_kernel(c, "sum of parts",
                                             [splits, count, type = c.output(Place::gmatrix).type](const Arguments& a) {
                                                 launch_split_sum(a.in_f32(0), splits, count, a.out(0), type, a.stream);
                                             }),
                               {Place::gmatrix},
                               static_cast<std::size_t>(splits * count) * sizeof(float)};
    }
    result.kernel = launch_kernel(
        c, "separable pointwise gradient",
        [shape, parts = c.op.outputs.size(), wide = is_wide(c, Place::matrix, shape.type)](const Arguments& a) {
            PointwiseGradient gradient;
            gradient.gy = a.in(Place::gy);
            gradient.z = a.in(Place::z);
            gradient.mean = a.in_f32(Place::mean);
            gradient.inv_std = a.in_f32(Place::inv_std);
            gradient.weight = a.in_f32(Place::weight);
            gradient.gweight = a.in_f32(Place::gweight);
            gradient.gbias = a.in_f32(Place::gbias);
            gradient.d = a.in(Place::d);
            gradient.matrix = weights(a, Place::matrix, wide);
            gradient.gd = a.out(Place::gd);
            gradient.gmatrix_parts = a.out_f32(parts);
            launch_pointwise_gradient(shape, gradient, a.stream);
        });
    return result;
}

Lowered lower_depthwise_gradient(const Context& c) {
    using Place = SeparableDepthwiseGradient;
    const auto relu = Forward::from(c.op.attributes).input_relu;
    const auto shape = depthwise_of(c.input(Place::gd), c.input(Place::filter).shape);
    const bool wide_x = is_wide(c, Place::x, shape.type), wide_filter = is_wide(c, Place::filter, shape.type);
    const auto slices = slices_of_sums(shape, c.input(Place::x).shape[1]);
    Lowered result = c.natural();
    result.inputs[Place::filter] = filter_layout(c.input(Place::filter));
    if (c.has_input(Place::mean))
        result.workspace = partial_floats(slices) * sizeof(float);
    result.kernel = launch_kernel(c, "separable depthwise gradient", [=](const Arguments& a) {
        const auto input = input_of(a, Place::x, Place::mean, relu, wide_x);
        launch_depthwise_input_gradient(shape, a.in(Place::gd), input, weights(a, Place::filter, wide_filter),
                                        a.out(Place::gx), a.scratch<float>(), a.stream);
        if (input.mean == nullptr)
            return;
        NormalizeGradient sums;
        sums.mean = input.mean;
        sums.inv_std = input.inv_std;
        sums.gweight = a.out_f32(Place::gweight);
        sums.gbias = a.out_f32(Place::gbias);
        launch_batch_norm_sums_end(sums, slices, a.scratch<float>(), a.stream.behind());
    });
    return result;
}

Lowered lower_filter_gradient(const Context& c) {
    using Place = SeparableFilterGradient;
    const auto relu = Forward::from(c.op.attributes).input_relu;
    const auto shape = depthwise_of(c.input(Place::gd), c.output(Place::gfilter).shape);
    Lowered result = c.natural();
    result.outputs[Place::gfilter] = filter_layout(c.output(Place::gfilter));
    result.workspace = depthwise_weight_gradient_workspace(shape);
    result.kernel = launch_kernel(c, "separable filter gradient",
                                  [shape, relu, wide = is_wide(c, Place::x, shape.type),
                                   type = c.output(Place::gfilter).type](const Arguments& a) {
                                      launch_depthwise_weight_gradient(
                                          shape, input_of(a, Place::x, Place::mean, relu, wide), a.in(Place::gd),
                                          a.scratch<float>(), a.out(Place::gfilter), type, a.stream);
                                  });
    return result;
}

} // namespace

void add_separable(LoweringTable& table) {
    table["separable_conv2d"] = {lower_forward, supports_forward};
    table["separable_pointwise_gradient"] = {lower_pointwise_gradient, supports_pointwise_gradient};
    table["separable_depthwise_gradient"] = {lower_depthwise_gradient, supports_depthwise_gradient};
    table["separable_filter_gradient"] = {lower_filter_gradient, supports_filter_gradient};
}

} // namespace espalier::cuda
