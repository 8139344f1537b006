// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"

#include "backends/cuda/cudnn/planner.h"
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/direct_convolution.h"
#include "backends/cuda/kernels/expansion.h"
#include "backends/cuda/kernels/first_convolution.h"
#include "backends/cuda/kernels/pointwise_weight_gradient.h"
#include "backends/cuda/kernels/split_sum.h"
#include "backends/cuda/lowering/convolution_orders.h"
#include "backends/cuda/lowering/depthwise.h"
#include "backends/cuda/lowering/library_convolution.h"
#include "backends/cuda/lowering/lowering.h"
#include "base/error.h"

namespace espalier::cuda {
namespace {

using cudnn::Problem;
using Direction = Problem::Direction;

/// Extents as the library sees them: padding channels are channels.
std::array<std::int64_t, 4> extents_of(const Layout& layout) {
    const auto& d = description(layout);
    const auto& s = d.shape;
    switch (d.order) {
    case Order::channels_last:
        return {s[0], padded(s[1]), s[2], s[3]};
    case Order::filter:
        return {padded(s[0]), padded(s[1]), s[2], s[3]};
    default:
        return {s[0], s[1], s[2], s[3]};
    }
}

/// Products that are summed for one result.
std::int64_t summands(const Problem& p) {
    switch (p.direction) {
    case Direction::forward:
        return p.w[1] * p.w[2] * p.w[3];
    case Direction::input_gradient:
        return p.w[0] / p.groups * p.w[2] * p.w[3];
    default:
        return p.y[0] * p.y[2] * p.y[3];
    }
}
/// The rounding of fast algorithms grows with the sums: 1.3e-6 of the result with 64 channels, 3.2e-6 with 512. What
/// BackendOptions::winograd promises ends at 3e-6.
constexpr std::int64_t most_winograd_summands = 9 * 256;

Problem problem_of(const Context& c, const Convolution& shape, Direction direction, const Layout& x, const Layout& w,
                   const Layout& y) {
    Problem problem;
    problem.direction = direction;
    problem.type = description(x).type;
    problem.tf32 = c.settings.options.tf32;
    problem.channels_first = description(x).order == Order::plain;
    problem.x = extents_of(x);
    problem.w = extents_of(w);
    problem.y = extents_of(y);
    problem.stride = shape.stride;
    problem.padding = shape.padding;
    problem.dilation = shape.dilation;
    problem.groups = shape.groups;
    problem.deterministic = c.settings.options.deterministic;
    problem.winograd = c.settings.options.winograd && summands(problem) <= most_winograd_summands;
    return problem;
}

/// The library's plan; null if it has none, or does not take the problem at all.
std::shared_ptr<const cudnn::Plan> library_plan(const Context& c, const Problem& problem) {
    if (!c.settings.options.library)
        return nullptr;
    try {
        return c.settings.planner->plan(problem);
    } catch (const DeviceError&) {
        return nullptr;
    }
}

/// By the kernel of our own, which knows every case.
void lower_direct(const Context& c, Lowered& lowered, const Problem& problem, ConvolutionPlaces places,
                  std::optional<Epilogue> epilogue) {
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

std::optional<Epilogue> epilogue_of(const Context& c, const Layout& y, bool relu) {
    if (!c.has_input(2) && !relu)
        return std::nullopt;
    const auto& d = description(y);
    const bool channels_first = d.order == Order::plain;
    return Epilogue{d.elements, channels_first ? d.shape[2] * d.shape[3] : 1, extents_of(y)[1], d.shape[1], relu,
                    d.type};
}

/// A convolution in one of its directions, its three tensors wherever the op has them.
class ConvolutionLowering {
public:
    ConvolutionLowering(const Context& c, Direction direction, ConvolutionPlaces places)
        : c_(c), direction_(direction), places_(places), shape_(Convolution::from(c.op.attributes)) {}

    Lowered lower() const {
        const auto& weights = tensor(places_.w).shape;
        const int leading = direction_ == Direction::weight_gradient ? places_.y : 0;
        const bool row_major =
            c_.settings.options.library && wants_row_major(c_.settings, c_.op, tensor(places_.x).type, weights,
                                                           c_.given(static_cast<std::size_t>(leading)));
        if (row_major) {
            constexpr ConvolutionOrders plain{Order::plain, Order::plain, Order::plain};
            if (auto lowered = as_pointwise_weight_gradient(plain))
                return std::move(*lowered);
            if (auto lowered = by_library(plain))
                return std::move(*lowered);
        }
        const auto orders = channels_last_orders(c_.op);
        if (auto lowered = as_first())
            return std::move(*lowered);
        if (auto lowered = as_expansion())
            return std::move(*lowered);
        if (auto lowered = by_library(orders))
            return std::move(*lowered);
        auto lowered = laid_out(orders);
        const auto problem = problem_in(lowered);
        lower_direct(c_, lowered, problem, places_, epilogue_of(c_, lowered.outputs[0], shape_.relu));
        return lowered;
    }

private:
    [[nodiscard]] const Tensor& tensor(int place) const {
        return place < 0 ? c_.output(0) : c_.input(static_cast<std::size_t>(place));
    }
    static Layout& layout(Lowered& lowered, int place) {
        return place < 0 ? lowered.outputs[0] : lowered.inputs[static_cast<std::size_t>(place)];
    }

    [[nodiscard]] Lowered laid_out(const ConvolutionOrders& orders) const {
        Lowered result = c_.plain();
        for (const auto& [place, order] :
             {std::pair{places_.x, orders.x}, std::pair{places_.w, orders.w}, std::pair{places_.y, orders.y}})
            layout(result, place) = make_layout(tensor(place).shape, tensor(place).type, order);
        return result;
    }

    Problem problem_in(Lowered& lowered) const {
        return problem_of(c_, shape_, direction_, layout(lowered, places_.x), layout(lowered, places_.w),
                          layout(lowered, places_.y));
    }

    [[nodiscard]] std::optional<Lowered> by_library(const ConvolutionOrders& orders) const {
        auto result = laid_out(orders);
        if (auto sliced = by_library_sliced(result))
            return sliced;
        auto plan = library_plan(c_, problem_in(result));
        if (!plan)
            return std::nullopt;
        run_by_library(c_, std::move(plan), places_, epilogue_of(c_, result.outputs[0], shape_.relu), result);
        return result;
    }

    /// Whether each pixel of y is of one pixel of x alone.
    [[nodiscard]] bool is_pointwise(const Problem& problem) const {
        return problem.w[2] == 1 && problem.w[3] == 1 && shape_.padding == Pair{0, 0} && shape_.groups == 1;
    }
    /// The pixels of x that a pointwise convolution meets.
    [[nodiscard]] ShiftedSlice met_pixels(const Problem& problem) const {
        const auto &x = problem.x, &y = problem.y;
        const auto element = static_cast<std::int64_t>(size_of(problem.type));
        return {.n = problem.channels_first ? x[0] * x[1] : x[0],
                .h = x[2],
                .w = x[3],
                .p = y[2],
                .q = y[3],
                .offset = {0, 0},
                .stride = {shape_.stride[0], shape_.stride[1]},
                .pixel = problem.channels_first ? element : x[1] * element};
    }

    [[nodiscard]] std::optional<Lowered> by_library_sliced(Lowered& laid_out) const {
        auto problem = problem_in(laid_out);
        // The bias of a transposed convolution is added to all pixels of its result.
        if (direction_ == Direction::forward || !is_pointwise(problem) || shape_.stride == Pair{1, 1} ||
            epilogue_of(c_, laid_out.outputs[0], shape_.relu))
            return std::nullopt;
        const auto met = met_pixels(problem);
        problem.x = {problem.x[0], problem.x[1], problem.y[2], problem.y[3]};
        problem.stride = {1, 1};
        auto plan = library_plan(c_, problem);
        if (!plan)
            return std::nullopt;
        run_by_library_sliced(c_, std::move(plan), places_, direction_ == Direction::input_gradient, met, laid_out);
        return std::move(laid_out);
    }

    /// By our kernel, row-major.
    [[nodiscard]] std::optional<Lowered> as_pointwise_weight_gradient(const ConvolutionOrders& plain) const {
        auto result = laid_out(plain);
        const auto problem = problem_in(result);
        if (direction_ != Direction::weight_gradient || !is_pointwise(problem))
            return std::nullopt;
        const PointwiseWeightGradient shape{.images = problem.x[0],
                                            .pixels = problem.y[2] * problem.y[3],
                                            .channels = problem.x[1],
                                            .filters = problem.y[1],
                                            .multiprocessors = c_.settings.device.multiprocessors};
        if (!is_worthwhile(shape))
            return std::nullopt;
        const auto parts = shape.parts(), count = shape.filters * shape.channels;
        const bool strides = shape_.stride != Pair{1, 1};
        const auto met = met_pixels(problem);
        // Pixels are read as vectors, and begin behind the sums.
        const auto sums_bytes =
            static_cast<std::size_t>(ceil_divide(parts * count, channel_block) * channel_block) * sizeof(float);
        result.workspace = sums_bytes + (strides ? static_cast<std::size_t>(met.n * met.p * met.q * met.pixel) : 0);
        const auto places = places_;
        result.kernel = launch_kernel(c_, "pointwise gradient", [=](const Arguments& a) {
            const auto* x = a.in_f32(static_cast<std::size_t>(places.x));
            if (strides) {
                auto* sliced = a.scratch<float>(sums_bytes);
                launch_shifted_slice(x, sliced, met, a.stream);
                x = sliced;
            }
            launch_pointwise_weight_gradient(shape, x, a.in_f32(static_cast<std::size_t>(places.y)), a.scratch<float>(),
                                             strides ? a.stream.behind() : a.stream);
            launch_split_sum(a.scratch<float>(), parts, count, a.out(0), DType::f32, a.stream.behind());
        });
        return result;
    }

    /// By our kernel for images of few channels, on tensor cores.
    [[nodiscard]] std::optional<Lowered> as_first() const {
        constexpr std::int64_t most_channels = 4;
        if (direction_ != Direction::forward || tensor(places_.w).shape[1] > most_channels || shape_.groups > 1 ||
            shape_.stride[1] != 2 || shape_.dilation != Pair{1, 1} ||
            (tensor(places_.x).type == DType::f32 && !c_.settings.options.tf32))
            return std::nullopt;
        auto result = laid_out({});
        const auto problem = problem_in(result);
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
                               .stride_h = number(shape_.stride[0]),
                               .padding_h = number(shape_.padding[0]),
                               .padding_w = number(shape_.padding[1])};
        if (!first.prepare(c_.settings.device.architecture))
            return std::nullopt;
        const auto epilogue = epilogue_of(c_, result.outputs[0], shape_.relu);
        result.kernel = launch_kernel(c_, "first convolution", [first, epilogue](const Arguments& a) {
            launch_first_convolution(first, a.in(0), a.in(1), a.out(0), a.stream);
            if (epilogue)
                launch_epilogue(a.out(0), a.in_f32(2), *epilogue, a.stream);
        });
        return result;
    }

    /// By our kernel for few channels that become many, on tensor cores.
    [[nodiscard]] std::optional<Lowered> as_expansion() const {
        auto result = laid_out({});
        const auto problem = problem_in(result);
        if (direction_ != Direction::forward || problem.w[2] != 1 || problem.w[3] != 1 || shape_.stride != Pair{1, 1} ||
            shape_.padding != Pair{0, 0} || shape_.groups > 1)
            return std::nullopt;
        const Expansion shape{.type = problem.type,
                              .rows = problem.x[0] * problem.x[2] * problem.x[3],
                              .channels = static_cast<int>(problem.x[1]),
                              .filters = static_cast<int>(problem.y[1]),
                              .real_filters = static_cast<int>(tensor(places_.w).shape[0]),
                              .relu = shape_.relu,
                              .multiprocessors = c_.settings.device.multiprocessors};
        if (!is_expansion(shape, c_.settings.device.architecture))
            return std::nullopt;
        const bool biased = c_.has_input(2);
        result.kernel = launch_kernel(c_, "expansion", [shape, biased](const Arguments& a) {
            launch_expansion(shape, a.in(0), a.in(1), biased ? a.in_f32(2) : nullptr, a.out(0), a.stream);
        });
        return result;
    }

    const Context& c_;
    Direction direction_;
    ConvolutionPlaces places_;
    Convolution shape_;
};

Lowered lower(const Context& c, Direction direction, ConvolutionPlaces places) {
    return ConvolutionLowering(c, direction, places).lower();
}

Lowered lower_conv2d(const Context& c) {
    return is_depthwise(c) ? lower_depthwise(c) : lower(c, Direction::forward, {0, 1, -1});
}

Lowered lower_conv2d_input_gradient(const Context& c) { // gy, w -> gx
    return is_depthwise(c) ? lower_depthwise_input_gradient(c) : lower(c, Direction::input_gradient, {-1, 1, 0});
}

Lowered lower_conv2d_weight_gradient(const Context& c) { // x, gy -> gw
    return is_depthwise(c) ? lower_depthwise_weight_gradient(c) : lower(c, Direction::weight_gradient, {0, -1, 1});
}

/// The input gradient of the convolution that goes the other way: x stands for gy, y for gx.
Lowered lower_conv_transpose2d(const Context& c) {
    return is_depthwise(c) ? lower_depthwise_transposed(c) : lower(c, Direction::input_gradient, {-1, 1, 0});
}

} // namespace

void add_convolution(LoweringTable& table) {
    table["conv2d"] = {lower_conv2d, {}};
    table["conv2d_input_gradient"] = {lower_conv2d_input_gradient, {}};
    table["conv2d_weight_gradient"] = {lower_conv2d_weight_gradient, {}};
    table["conv_transpose2d"] = {lower_conv_transpose2d, {}};
}

} // namespace espalier::cuda
