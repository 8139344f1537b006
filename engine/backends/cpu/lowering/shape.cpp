// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy.h"
#include "backends/cpu/lowering/lowering.h"
#include "graph/ops/arguments.h"

#include <cstring>

namespace espalier::cpu {

namespace {

std::int64_t axis_of(const Op& op, const Shape& shape) {
    const std::int64_t axis = op.attributes.integer("axis", 1);
    return axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis;
}

/// A tensor seen as [outer, extent, inner], inner contiguous: an activation of one row of pixels whose "channels" are
/// the axis that is cut. Any row-major tensor and axis becomes a case of copy_channels.
ActivationShape along_axis(const Shape& shape, std::int64_t axis) {
    ActivationShape result{1, 1, 1, 1, 1};
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.rank()); ++i) {
        const std::int64_t size = shape[static_cast<std::size_t>(i)];
        (i < axis ? result.n : i == axis ? result.c : result.h) *= size;
    }
    if (result.h == 1) {
        result.block = std::max<std::int64_t>(result.c, 1); // one pixel: the axis is contiguous
    }
    return result;
}

/// Images cut by channels keep their blocks; every other cut is done on row-major tensors.
bool by_channels(const Op& op, const Shape& shape) { return shape.rank() == 4 && axis_of(op, shape) == 1; }

Layout cut_layout(const Context& c, const Tensor& tensor, const Layout& now) {
    return by_channels(c.op, tensor.shape) ? c.activation(tensor, now) : plain_layout(tensor.shape, tensor.type);
}

ActivationShape cut_shape(const Context& c, const Tensor& tensor, const Layout& layout) {
    return by_channels(c.op, tensor.shape) ? activation_shape(tensor.shape, layout)
                                           : along_axis(tensor.shape, axis_of(c.op, tensor.shape));
}

Lowered lower_concat(const Context& c) {
    Lowered result = c.plain();
    const std::size_t element = size_of(c.output(0).type);
    result.outputs[0] = cut_layout(c, c.output(0), {});
    const ActivationShape whole = cut_shape(c, c.output(0), result.outputs[0]);
    std::vector<ActivationShape> parts;
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
        result.inputs[i] = cut_layout(c, c.input(i), c.given(i));
        parts.push_back(cut_shape(c, c.input(i), result.inputs[i]));
    }
    result.kernel = loop_kernel(c, "concat", [whole, parts, element, t = c.threads](const Arguments& a) {
        std::int64_t channel = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            copy_channels(parts[i], 0, a.inputs[i], whole, channel, a.outputs[0], parts[i].c, element, t);
            channel += parts[i].c;
        }
        zero_channels(whole, whole.c, whole.padded_channels(), a.outputs[0], element, t);
    });
    return result;
}

/// Row-major before and after, so the bytes are the same.
Lowered lower_reshape(const Context& c) {
    Lowered result = c.plain();
    result.in_place = {{0, 0}};
    const std::size_t bytes = result.outputs[0].bytes;
    result.kernel = loop_kernel(c, "reshape", [bytes](const Arguments& a) {
        if (a.outputs[0] != a.inputs[0]) {
            std::memcpy(a.outputs[0], a.inputs[0], bytes);
        }
    });
    return result;
}

Lowered lower_slice(const Context& c) {
    Lowered result = c.plain();
    const std::size_t element = size_of(c.output(0).type);
    result.inputs[0] = cut_layout(c, c.input(0), c.given(0));
    result.outputs[0] = cut_layout(c, c.output(0), {});
    const ActivationShape whole = cut_shape(c, c.input(0), result.inputs[0]);
    const ActivationShape part = cut_shape(c, c.output(0), result.outputs[0]);
    const std::int64_t begin = c.op.attributes.integer("begin");
    result.kernel = loop_kernel(c, "slice", [whole, part, begin, element, t = c.threads](const Arguments& a) {
        copy_channels(whole, begin, a.inputs[0], part, 0, a.outputs[0], part.c, element, t);
        zero_channels(part, part.c, part.padded_channels(), a.outputs[0], element, t);
    });
    return result;
}

Lowered lower_slice_gradient(const Context& c) {
    Lowered result = c.plain();
    const std::size_t element = size_of(c.output(0).type);
    result.inputs[0] = cut_layout(c, c.input(0), c.given(0));
    result.outputs[0] = cut_layout(c, c.output(0), {});
    const ActivationShape part = cut_shape(c, c.input(0), result.inputs[0]);
    const ActivationShape whole = cut_shape(c, c.output(0), result.outputs[0]);
    const std::int64_t begin = c.op.attributes.integer("begin");
    result.kernel = loop_kernel(c, "slice gradient", [whole, part, begin, element, t = c.threads](const Arguments& a) {
        zero_channels(whole, 0, begin, a.outputs[0], element, t);
        copy_channels(part, 0, a.inputs[0], whole, begin, a.outputs[0], part.c, element, t);
        zero_channels(whole, begin + part.c, whole.padded_channels(), a.outputs[0], element, t);
    });
    return result;
}

Lowered lower_shifted_slice(const Context& c, bool gradient) {
    Lowered result = c.plain();
    result.inputs[0] = c.activation(c.input(0), c.given(0));
    result.outputs[0] = Context::blocked(c.output(0), detail_of(result.inputs[0]).block);
    const ActivationShape in = activation_shape(c.input(0).shape, result.inputs[0]);
    const ActivationShape out = activation_shape(c.output(0).shape, result.outputs[0]);
    const ActivationShape large = gradient ? out : in;
    const ActivationShape small = gradient ? in : out;
    const Pair offset = read_pair(c.op.attributes, "offset", {0, 0});
    const Pair stride = read_pair(c.op.attributes, "stride", {1, 1});
    const auto body = [large, small, offset, stride, gradient, t = c.threads](const Arguments& a) {
        const float* x = a.in(0);
        float* y = a.out(0);
        const std::size_t pixel = static_cast<std::size_t>(large.block) * sizeof(float);
        const int team = large.floats() < 16384 ? 1 : t;
#pragma omp parallel for num_threads(team) schedule(static)
        for (std::int64_t plane = 0; plane < large.planes(); ++plane) {
            if (gradient) {
                std::memset(y + plane * large.plane(), 0, static_cast<std::size_t>(large.plane()) * sizeof(float));
            }
            for (std::int64_t p = 0; p < small.h; ++p) {
                for (std::int64_t q = 0; q < small.w; ++q) {
                    const std::int64_t h = p * stride[0] + offset[0];
                    const std::int64_t w = q * stride[1] + offset[1];
                    const bool inside = h < large.h && w < large.w;
                    const std::int64_t at_large = plane * large.plane() + (h * large.w + w) * large.block;
                    const std::int64_t at_small = plane * small.plane() + (p * small.w + q) * small.block;
                    if (!gradient && inside) {
                        std::memcpy(y + at_small, x + at_large, pixel);
                    } else if (!gradient) {
                        std::memset(y + at_small, 0, pixel);
                    } else if (inside) {
                        std::memcpy(y + at_large, x + at_small, pixel);
                    }
                }
            }
        }
    };
    result.kernel = loop_kernel(c, gradient ? "shifted slice gradient" : "shifted slice", body);
    return result;
}

} // namespace

void add_shape(LoweringTable& table) {
    table["concat"] = {lower_concat, {}};
    table["reshape"] = {lower_reshape, {}};
    table["slice"] = {lower_slice, {}};
    table["slice_gradient"] = {lower_slice_gradient, {}};
    table["shifted_slice"] = {[](const Context& c) { return lower_shifted_slice(c, false); }, {}};
    table["shifted_slice_gradient"] = {[](const Context& c) { return lower_shifted_slice(c, true); }, {}};
}

} // namespace espalier::cpu
