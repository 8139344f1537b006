// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/own_convolution.h"

#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/direct_convolution.h"
#include "backends/cuda/kernels/expansion.h"
#include "backends/cuda/kernels/first_convolution.h"
#include "backends/cuda/kernels/pointwise_weight_gradient.h"
#include "backends/cuda/kernels/split_sum.h"

namespace espalier::cuda {

using cudnn::Problem;
using Direction = Problem::Direction;

namespace {

/// As the graph has them, without padding.
std::int64_t real_channels(const Lowered& lowered) { return description(lowered.inputs[0]).shape[1]; }
std::int64_t real_filters(const Lowered& lowered) { return description(lowered.outputs[0]).shape[1]; }

} // namespace

bool lower_first(const Context& c, const Problem& problem, bool relu, Lowered& lowered) {
    constexpr std::int64_t most_channels = 4;
    if (problem.direction != Direction::forward || real_channels(lowered) > most_channels || problem.groups > 1 ||
        problem.stride[1] != 2 || problem.dilation != Pair{1, 1} || problem.is_strict())
        return false;
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    FirstConvolution first{.type = problem.type,
                           .n = problem.x[0],
                           .h = number(problem.x[2]),
                           .w = number(problem.x[3]),
                           .p = number(problem.y[2]),
                           .q = number(problem.y[3]),
                           .filters = number(problem.y[1]),
                           .kernel_h = number(problem.w[2]),
                           .kernel_w = number(problem.w[3]),
                           .stride_h = number(problem.stride[0]),
                           .padding_h = number(problem.padding[0]),
                           .padding_w = number(problem.padding[1])};
    if (!first.prepare(c.settings.device.architecture))
        return false;
    const auto epilogue = epilogue_of(c, lowered.outputs[0], relu);
    lowered.kernel = launch_kernel(c, "first convolution", [first, epilogue](const Arguments& a) {
        launch_first_convolution(first, a.in(0), a.in(1), a.out(0), a.stream);
        if (epilogue)
            launch_epilogue(a.out(0), a.in_f32(2), *epilogue, a.stream);
    });
    return true;
}

bool lower_expansion(const Context& c, const Problem& problem, bool relu, Lowered& lowered) {
    if (problem.direction != Direction::forward || !is_pointwise(problem) || strides(problem))
        return false;
    const Expansion shape{.type = problem.type,
                          .rows = problem.x[0] * problem.x[2] * problem.x[3],
                          .channels = static_cast<int>(problem.x[1]),
                          .filters = static_cast<int>(problem.y[1]),
                          .real_filters = static_cast<int>(real_filters(lowered)),
                          .relu = relu,
                          .multiprocessors = c.settings.device.multiprocessors};
    if (!is_expansion(shape, c.settings.device.architecture))
        return false;
    lowered.kernel = launch_kernel(c, "expansion", [shape](const Arguments& a) {
        launch_expansion(shape, a.in(0), a.in(1), a.in_f32(2), a.out(0), a.stream);
    });
    return true;
}

bool lower_pointwise_weight_gradient(const Context& c, const Problem& problem, ConvolutionPlaces places,
                                     Lowered& lowered) {
    const PointwiseWeightGradient shape{.images = problem.x[0],
                                        .pixels = problem.y[2] * problem.y[3],
                                        .channels = problem.x[1],
                                        .filters = problem.y[1],
                                        .multiprocessors = c.settings.device.multiprocessors};
    if (problem.direction != Direction::weight_gradient || !is_pointwise(problem) || !is_worthwhile(shape))
        return false;
    const auto parts = shape.parts(), count = shape.filters * shape.channels;
    // Pixels that are met lie behind the sums, and are read as vectors.
    const auto sums_bytes =
        static_cast<std::size_t>(ceil_divide(parts * count, channel_block) * channel_block) * sizeof(float);
    const auto met = met_pixels(problem);
    const bool sliced = strides(problem);
    lowered.workspace = sums_bytes + (sliced ? static_cast<std::size_t>(met.n * met.p * met.q * met.pixel) : 0);
    lowered.kernel = launch_kernel(c, "pointwise gradient", [=](const Arguments& a) {
        const auto* x = a.in_f32(static_cast<std::size_t>(places.x));
        if (sliced) {
            auto* slice = a.scratch<float>(sums_bytes);
            launch_shifted_slice(x, slice, met, a.stream);
            x = slice;
        }
        launch_pointwise_weight_gradient(shape, x, a.in_f32(static_cast<std::size_t>(places.y)), a.scratch<float>(),
                                         sliced ? a.stream.behind() : a.stream);
        launch_split_sum(a.scratch<float>(), parts, count, a.out(0), DType::f32, a.stream.behind());
    });
    return true;
}

void lower_direct(const Context& c, const Problem& problem, ConvolutionPlaces places, bool relu, Lowered& lowered) {
    const auto epilogue = epilogue_of(c, lowered.outputs[0], relu);
    DirectConvolution direct{.type = problem.type,
                             .result_type = c.output(0).type,
                             .x = problem.x,
                             .w = problem.w,
                             .y = problem.y,
                             .stride = problem.stride,
                             .padding = problem.padding,
                             .dilation = problem.dilation,
                             .groups = problem.groups};
    direct.direction = problem.direction == Direction::forward          ? DirectConvolution::Direction::forward
                       : problem.direction == Direction::input_gradient ? DirectConvolution::Direction::input_gradient
                                                                        : DirectConvolution::Direction::weight_gradient;
    lowered.workspace = direct.workspace();
    lowered.kernel = launch_kernel(c, "direct", [direct, places, epilogue](const Arguments& a) {
        const auto at = [&a](int place) -> void* {
            return place < 0 ? a.outputs[0] : a.inputs[static_cast<std::size_t>(place)];
        };
        launch_direct_convolution(direct, at(places.x), at(places.w), at(places.y), a.scratch<float>(), a.stream);
        if (epilogue)
            launch_epilogue(a.out(0), a.in_f32(2), *epilogue, a.stream);
    });
}

} // namespace espalier::cuda
