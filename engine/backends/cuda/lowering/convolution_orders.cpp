// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/convolution_orders.h"

namespace espalier::cuda {
namespace {

/// Products a pixel and filter from which it pays to turn images that lie channels last: they are then read nine times
/// or more for the two times that turning them and turning the result back costs.
constexpr std::int64_t worth_turning = 512;

} // namespace

bool is_depthwise(const Settings& settings, const Op& op, const Shape& weights) {
    return !settings.options.reference_separable && weights[0] == Convolution::from(op.attributes).groups &&
           weights[1] == 1;
}

ConvolutionOrders channels_last_orders(const Op& op) {
    // Padding would tear groups apart, unless each is of whole blocks.
    if (Convolution::from(op.attributes).groups > 1)
        return {Order::channels_last_packed, Order::filter_packed, Order::channels_last_packed};
    return {};
}

bool wants_row_major(const Settings& settings, const Op& op, DType type, const Shape& weights, const Layout& image) {
    if (type != DType::f32 || settings.options.tf32 || Convolution::from(op.attributes).groups > 1)
        return false;
    if (!image.defined() || description(image).order == Order::plain)
        return true;
    return weights[1] * weights[2] * weights[3] >= worth_turning;
}

Order filter_order(const Settings& settings, const Op& op, const Shape& weights) {
    return is_depthwise(settings, op, weights) ? Order::depthwise_filter : channels_last_orders(op).w;
}

} // namespace espalier::cuda
