// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pooling.h"

#include "backends/cuda/kernels/pooling.h"
#include "backends/cuda/lowering/lowering.h"

namespace espalier::cuda {
namespace {

PoolingShape shape_of(const Context& c, const Layout& x, const Layout& y) {
    const auto pooling = Pooling::from(c.op.attributes);
    const auto image = rows_of(x), pooled = rows_of(y);
    PoolingShape s;
    s.n = image.n;
    s.h = static_cast<int>(image.h);
    s.w = static_cast<int>(image.w);
    s.p = static_cast<int>(pooled.h);
    s.q = static_cast<int>(pooled.w);
    s.channels = static_cast<int>(image.channels);
    s.groups = static_cast<int>(image.pitch / channel_block);
    s.kernel_h = static_cast<int>(pooling.kernel[0]);
    s.kernel_w = static_cast<int>(pooling.kernel[1]);
    s.stride_h = static_cast<int>(pooling.stride[0]);
    s.stride_w = static_cast<int>(pooling.stride[1]);
    s.padding_h = static_cast<int>(pooling.padding[0]);
    s.padding_w = static_cast<int>(pooling.padding[1]);
    s.count_include_pad = pooling.count_include_pad;
    return s;
}

GlobalPoolingShape global_shape_of(const Layout& x) {
    const auto image = rows_of(x);
    return {image.n, static_cast<int>(image.h * image.w), static_cast<int>(image.channels),
            static_cast<int>(image.pitch / channel_block)};
}

Lowered lower_max_pool2d(const Context& c) {
    Lowered result = c.natural();
    const auto shape = shape_of(c, result.inputs[0], result.outputs[0]);
    result.kernel = launch_kernel(c, "max pool", [shape, type = c.input(0).type](const Arguments& a) {
        launch_max_pool(a.in(0), a.out(0), static_cast<std::uint8_t*>(a.out(1)), shape, type, a.stream);
    });
    return result;
}

Lowered lower_max_pool2d_gradient(const Context& c) { // gy, argmax -> gx
    Lowered result = c.natural();
    const auto shape = shape_of(c, result.outputs[0], result.inputs[0]);
    result.kernel = launch_kernel(c, "max pool gradient", [shape, type = c.input(0).type](const Arguments& a) {
        launch_max_pool_gradient(a.in(0), static_cast<const std::uint8_t*>(a.in(1)), a.out(0), shape, type, a.stream);
    });
    return result;
}

Lowered lower_avg_pool2d(const Context& c) {
    Lowered result = c.natural();
    const auto shape = shape_of(c, result.inputs[0], result.outputs[0]);
    result.kernel = launch_kernel(c, "average pool", [shape, type = c.input(0).type](const Arguments& a) {
        launch_avg_pool(a.in(0), a.out(0), shape, type, a.stream);
    });
    return result;
}

Lowered lower_avg_pool2d_gradient(const Context& c) {
    Lowered result = c.natural();
    const auto shape = shape_of(c, result.outputs[0], result.inputs[0]);
    result.kernel = launch_kernel(c, "average pool gradient", [shape, type = c.input(0).type](const Arguments& a) {
        launch_avg_pool_gradient(a.in(0), a.out(0), shape, type, a.stream);
    });
    return result;
}

Lowered lower_global_avg_pool(const Context& c) {
    Lowered result = c.natural();
    const auto shape = global_shape_of(result.inputs[0]);
    result.kernel = launch_kernel(c, "global average pool", [shape, type = c.input(0).type](const Arguments& a) {
        launch_global_avg_pool(a.in(0), a.out(0), shape, type, a.stream);
    });
    return result;
}

Lowered lower_global_avg_pool_gradient(const Context& c) {
    Lowered result = c.natural();
    const auto shape = global_shape_of(result.outputs[0]);
    result.kernel =
        launch_kernel(c, "global average pool gradient", [shape, type = c.input(0).type](const Arguments& a) {
            launch_global_avg_pool_gradient(a.in(0), a.out(0), shape, type, a.stream);
        });
    return result;
}

} // namespace

void add_pooling(LoweringTable& table) {
    table["max_pool2d"] = {lower_max_pool2d, {}};
    table["max_pool2d_gradient"] = {lower_max_pool2d_gradient, {}};
    table["avg_pool2d"] = {lower_avg_pool2d, {}};
    table["avg_pool2d_gradient"] = {lower_avg_pool2d_gradient, {}};
    table["global_avg_pool"] = {lower_global_avg_pool, {}};
    table["global_avg_pool_gradient"] = {lower_global_avg_pool_gradient, {}};
}

} // namespace espalier::cuda
