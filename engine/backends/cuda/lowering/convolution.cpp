// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/library.h"
#include "backends/cuda/cudnn/planner.h"
#include "backends/cuda/lowering/convolution_orders.h"
#include "backends/cuda/lowering/convolution_problem.h"
#include "backends/cuda/lowering/depthwise.h"
#include "backends/cuda/lowering/library_convolution.h"
#include "backends/cuda/lowering/own_convolution.h"
#include "base/error.h"

namespace espalier::cuda {
namespace {

using cudnn::Problem;
using Direction = Problem::Direction;

/// The library's plan; null if it has none, or does not take the problem at all.
std::shared_ptr<const cudnn::Plan> library_plan(const Context& c, const Problem& problem) {
    if (!c.settings.options.library)
        return nullptr;
    try {
        return c.settings.planner->plan(problem);
    } catch (const cudnn::Refusal&) {
        return nullptr;
    } catch (const DeviceError& error) {
        c.settings.planner->warn(problem, error.what());
        return nullptr;
    }
}

/// A convolution in one of its directions, its three tensors wherever the op has them.
class ConvolutionLowering {
public:
    ConvolutionLowering(const Context& c, Direction direction, ConvolutionPlaces places)
        : c_(c), direction_(direction), places_(places), shape_(Convolution::from(c.op.attributes)) {}

    Lowered lower() const {
        if (is_row_major()) {
            auto lowered = laid_out({Order::plain, Order::plain, Order::plain});
            const auto problem = problem_in(lowered);
            if (lower_pointwise_weight_gradient(c_, problem, places_, lowered) || by_library(problem, lowered))
                return lowered;
        }
        auto lowered = laid_out(channels_last_orders(c_.op));
        const auto problem = problem_in(lowered);
        if (!lower_first(c_, problem, shape_.relu, lowered) && !lower_expansion(c_, problem, shape_.relu, lowered) &&
            !by_library(problem, lowered))
            lower_direct(c_, problem, places_, shape_.relu, lowered);
        return lowered;
    }

private:
    [[nodiscard]] const Tensor& tensor(int place) const {
        return place < 0 ? c_.output(0) : c_.input(static_cast<std::size_t>(place));
    }
    static Layout& layout(Lowered& lowered, int place) {
        return place < 0 ? lowered.outputs[0] : lowered.inputs[static_cast<std::size_t>(place)];
    }

    [[nodiscard]] bool is_row_major() const {
        const int leading = direction_ == Direction::weight_gradient ? places_.y : 0;
        return c_.settings.options.library &&
               wants_row_major(c_.settings, c_.op, tensor(places_.x).type, tensor(places_.w).shape,
                               c_.given(static_cast<std::size_t>(leading)));
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

    [[nodiscard]] bool by_library(const Problem& problem, Lowered& lowered) const {
        const auto epilogue = epilogue_of(c_, lowered.outputs[0], shape_.relu);
        // The bias of a transposed convolution is added to all pixels of its result.
        if (direction_ != Direction::forward && is_pointwise(problem) && strides(problem) && !epilogue &&
            by_library_sliced(problem, lowered))
            return true;
        auto plan = library_plan(c_, problem);
        if (!plan)
            return false;
        run_by_library(c_, std::move(plan), places_, epilogue, lowered);
        return true;
    }

    [[nodiscard]] bool by_library_sliced(const Problem& problem, Lowered& lowered) const {
        auto of_slice = problem;
        of_slice.x = {problem.x[0], problem.x[1], problem.y[2], problem.y[3]};
        of_slice.stride = {1, 1};
        auto plan = library_plan(c_, of_slice);
        if (!plan)
            return false;
        run_by_library_sliced(c_, std::move(plan), places_, direction_ == Direction::input_gradient,
                              met_pixels(problem), lowered);
        return true;
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
