// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pooling.h"

#include "backends/cpu/lowering/lowering.h"

namespace espalier::cpu {

namespace {

Window window_of(const Op& op) {
    const Pooling pooling = Pooling::from(op.attributes);
    Window window;
    for (std::size_t i = 0; i < 2; ++i) {
        window.kernel[i] = pooling.kernel[i];
        window.stride[i] = pooling.stride[i];
        window.padding[i] = pooling.padding[i];
    }
    return window;
}

std::int64_t block_of(const Layout& layout) { return detail_of(layout).block; }

/// x and y of a pool with the same number of channels together; `forward`: x is the input.
struct Pool {
    ActivationShape x, y;
    Window window;
};

Lowered lower_max_pool(const Context& c) {
    Lowered result = c.plain();
    result.inputs[0] = c.activation(c.input(0), c.given(0));
    const std::int64_t block = block_of(result.inputs[0]);
    for (std::size_t i = 0; i < c.op.outputs.size(); ++i) {
        if (c.has_output(i)) {
            result.outputs[i] = Context::blocked(c.output(i), block);
        }
    }
    const Pool pool{activation_shape(c.input(0).shape, result.inputs[0]),
                    activation_shape(c.output(0).shape, result.outputs[0]), window_of(c.op)};
    result.kernel = loop_kernel(c, "max pool", [&k = c.kernels, pool, t = c.threads](const Arguments& a) {
        auto* argmax = a.outputs.size() > 1 ? reinterpret_cast<std::uint8_t*>(a.outputs[1]) : nullptr;
        k.max_pool(pool.x, pool.y, pool.window, a.in(0), a.out(0), argmax, t);
    });
    return result;
}

Lowered lower_max_pool_gradient(const Context& c) {
    Lowered result = c.plain();
    // argmax cannot be copied into another layout without loss of time: gy follows it.
    result.inputs[1] = c.activation(c.input(1), c.given(1));
    const std::int64_t block = block_of(result.inputs[1]);
    result.inputs[0] = Context::blocked(c.input(0), block);
    result.outputs[0] = Context::blocked(c.output(0), block);
    const Pool pool{activation_shape(c.output(0).shape, result.outputs[0]),
                    activation_shape(c.input(0).shape, result.inputs[0]), window_of(c.op)};
    result.kernel = loop_kernel(c, "max pool gradient", [&k = c.kernels, pool, t = c.threads](const Arguments& a) {
        k.max_pool_gradient(pool.x, pool.y, pool.window, a.in(0), a.in_as<const std::uint8_t>(1), a.out(0), t);
    });
    return result;
}

Lowered lower_avg_pool(const Context& c, bool gradient) {
    Lowered result = c.plain();
    result.inputs[0] = c.activation(c.input(0), c.given(0));
    result.outputs[0] = Context::blocked(c.output(0), block_of(result.inputs[0]));
    const ActivationShape in = activation_shape(c.input(0).shape, result.inputs[0]);
    const ActivationShape out = activation_shape(c.output(0).shape, result.outputs[0]);
    const bool include = c.op.attributes.flag("count_include_pad", false);
    const Window window = window_of(c.op);
    result.kernel =
        loop_kernel(c, gradient ? "average pool gradient" : "average pool",
                    [&k = c.kernels, in, out, window, include, gradient, t = c.threads](const Arguments& a) {
                        if (gradient) {
                            k.avg_pool_gradient(out, in, window, include, a.in(0), a.out(0), t);
                        } else {
                            k.avg_pool(in, out, window, include, a.in(0), a.out(0), t);
                        }
                    });
    return result;
}

Lowered lower_global_avg_pool(const Context& c) {
    Lowered result = c.plain();
    result.inputs[0] = c.activation(c.input(0), c.given(0));
    const ActivationShape shape = activation_shape(c.input(0).shape, result.inputs[0]);
    result.kernel = loop_kernel(c, "global average pool", [&k = c.kernels, shape, t = c.threads](const Arguments& a) {
        k.global_avg_pool(shape, a.in(0), a.out(0), t);
    });
    return result;
}

Lowered lower_global_avg_pool_gradient(const Context& c) {
    Lowered result = c.plain();
    result.outputs[0] = c.activation(c.output(0), {});
    const ActivationShape shape = activation_shape(c.output(0).shape, result.outputs[0]);
    result.kernel =
        loop_kernel(c, "global average pool gradient", [&k = c.kernels, shape, t = c.threads](const Arguments& a) {
            k.global_avg_pool_gradient(shape, a.in(0), a.out(0), t);
        });
    return result;
}

} // namespace

void add_pooling(LoweringTable& table) {
    table["max_pool2d"] = {lower_max_pool, {}};
    table["max_pool2d_gradient"] = {lower_max_pool_gradient, {}};
    table["avg_pool2d"] = {[](const Context& c) { return lower_avg_pool(c, false); }, {}};
    table["avg_pool2d_gradient"] = {[](const Context& c) { return lower_avg_pool(c, true); }, {}};
    table["global_avg_pool"] = {lower_global_avg_pool, {}};
    table["global_avg_pool_gradient"] = {lower_global_avg_pool_gradient, {}};
}

} // namespace espalier::cpu
