// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/depthwise.h"

#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/lowering/convolution_orders.h"
#include "graph/ops/convolution.h"

namespace espalier::cuda {
namespace {

Layout images(const Tensor& tensor) { return make_layout(tensor.shape, tensor.type, Order::channels_last); }
Layout filter(const Tensor& tensor) { return make_layout(tensor.shape, tensor.type, Order::depthwise_filter); }

/// x, w and y of the convolution, in whichever direction.
Depthwise depthwise_of(const Context& c, const Tensor& x, const Tensor& w, const Tensor& y) {
    const auto convolution = Convolution::from(c.op.attributes);
    return {.n = x.shape[0],
            .x = {x.shape[2], x.shape[3]},
            .y = {y.shape[2], y.shape[3]},
            .channels = padded(x.shape[1]),
            .kernel = {w.shape[2], w.shape[3]},
            .stride = convolution.stride,
            .padding = convolution.padding,
            .dilation = convolution.dilation,
            .type = x.type};
}

} // namespace

bool is_depthwise(const Context& c) {
    // Of a weight gradient [C,1,R,S] is the output.
    const auto& weights = c.op.kind == "conv2d_weight_gradient" ? c.output(0) : c.input(1);
    return is_depthwise(c.settings, c.op, weights.shape);
}

Lowered lower_depthwise(const Context& c) {
    const auto shape = depthwise_of(c, c.input(0), c.input(1), c.output(0));
    Lowered result = c.plain();
    result.inputs[0] = images(c.input(0));
    result.inputs[1] = filter(c.input(1));
    result.outputs[0] = images(c.output(0));
    result.kernel = launch_kernel(c, "depthwise " + window_text(shape),
                                  [shape, relu = Convolution::from(c.op.attributes).relu](const Arguments& a) {
                                      launch_depthwise(shape, a.in(0), a.in(1), a.in_f32(2), relu, a.out(0), a.stream);
                                  });
    return result;
}

Lowered lower_depthwise_input_gradient(const Context& c) { // gy, w -> gx
    const auto shape = depthwise_of(c, c.output(0), c.input(1), c.input(0));
    Lowered result = c.plain();
    result.inputs[0] = images(c.input(0));
    result.inputs[1] = filter(c.input(1));
    result.outputs[0] = images(c.output(0));
    result.kernel =
        launch_kernel(c, "depthwise " + window_text(shape) + " input gradient", [shape](const Arguments& a) {
            launch_depthwise_input_gradient(shape, a.in(0), a.in(1), nullptr, a.out(0), a.stream);
        });
    return result;
}

Lowered lower_depthwise_weight_gradient(const Context& c) { // x, gy -> gw
    const auto shape = depthwise_of(c, c.input(0), c.output(0), c.input(1));
    Lowered result = c.plain();
    result.inputs[0] = images(c.input(0));
    result.inputs[1] = images(c.input(1));
    result.outputs[0] = filter(c.output(0));
    result.workspace = depthwise_weight_gradient_workspace(shape);
    result.kernel = launch_kernel(c, "depthwise " + window_text(shape) + " weight gradient",
                                  [shape, type = c.output(0).type](const Arguments& a) {
                                      launch_depthwise_weight_gradient(shape, a.in(0), a.in(1), a.scratch<float>(),
                                                                       a.out(0), type, a.stream);
                                  });
    return result;
}

Lowered lower_depthwise_transposed(const Context& c) { // x stands for gy, y for gx
    const auto shape = depthwise_of(c, c.output(0), c.input(1), c.input(0));
    Lowered result = c.plain();
    result.inputs[0] = images(c.input(0));
    result.inputs[1] = filter(c.input(1));
    result.outputs[0] = images(c.output(0));
    result.kernel = launch_kernel(c, "depthwise " + window_text(shape) + " transposed", [shape](const Arguments& a) {
        launch_depthwise_input_gradient(shape, a.in(0), a.in(1), a.in_f32(2), a.out(0), a.stream);
    });
    return result;
}

} // namespace espalier::cuda
