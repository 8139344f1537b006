// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/shape.h"

#include "backends/cuda/error.h"
#include "backends/cuda/lowering/lowering.h"
#include "graph/ops/arguments.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

/// A tensor cut along an axis: rows of `pitch` elements, `width` of them real; one step along the axis is `step`.
struct Rows2d {
    std::int64_t rows = 1, width = 1, pitch = 1, step = 1;
};

std::int64_t axis_of(const Context& c, const Shape& shape) {
    const auto axis = c.op.attributes.integer("axis", 1);
    return axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis;
}

Rows2d cut(const Layout& layout, std::int64_t axis) {
    const auto& d = description(layout);
    // Extents from the outside in, as they lie in memory, and where the axis is among them.
    std::vector<std::int64_t> extents = d.shape.vector();
    auto place = axis;
    const bool channels_last = d.order != Order::plain;
    if (channels_last) {
        const auto rows = rows_of(layout);
        if (axis == 1)
            return {rows.count(), rows.channels, rows.pitch, 1};
        extents = {rows.n, rows.h, rows.w, rows.pitch};
        place = axis == 0 ? 0 : axis - 1;
    }
    Rows2d result;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        (at < place ? result.rows : result.width) *= extents[i];
        if (at > place)
            result.step *= extents[i];
    }
    result.pitch = extents.size() == 1 ? d.elements : result.width;
    return result;
}

Lowered lower_concat(const Context& c) {
    Lowered result = c.natural();
    const auto axis = axis_of(c, c.output(0).shape);
    const auto whole = cut(result.outputs[0], axis);
    std::vector<Segment> segments;
    std::int64_t begin = 0;
    for (const auto& layout : result.inputs) {
        const auto part = cut(layout, axis);
        segments.push_back({nullptr, part.pitch, 0, begin, begin + part.width});
        begin += part.width;
    }
    result.kernel =
        launch_kernel(c, "concat", [whole, segments, element = size_of(c.output(0).type)](const Arguments& a) mutable {
            for (std::size_t i = 0; i < segments.size(); ++i)
                segments[i].data = a.in(i);
            const std::span<const Segment> all(segments);
            for (std::size_t from = 0; from < all.size(); from += most_segments) {
                const auto part = all.subspan(from, std::min(most_segments, all.size() - from));
                const bool last = from + part.size() == all.size();
                launch_gather_rows(part, a.out(0), whole.rows, whole.pitch, part.front().begin,
                                   last ? whole.pitch : part.back().end, element, a.stream);
            }
        });
    return result;
}

/// slice and its gradient: one segment, of the source from `offset`, in the target from `begin`.
Lowered lower_cut(const Context& c, const std::string& name, bool gradient) {
    Lowered result = c.natural();
    const auto axis = axis_of(c, c.output(0).shape);
    const auto source = cut(result.inputs[0], axis), target = cut(result.outputs[0], axis);
    const auto begin = c.op.attributes.integer("begin") * source.step;
    Segment segment = gradient ? Segment{nullptr, source.pitch, 0, begin, begin + source.width}
                               : Segment{nullptr, source.pitch, begin, 0, target.width};
    result.kernel =
        launch_kernel(c, name, [segment, target, element = size_of(c.output(0).type)](const Arguments& a) mutable {
            segment.data = a.in(0);
            launch_gather_rows({&segment, 1}, a.out(0), target.rows, target.pitch, 0, target.pitch, element, a.stream);
        });
    return result;
}

Lowered lower_shifted_slice(const Context& c, bool gradient) {
    Lowered result = c.natural();
    const auto large = rows_of(gradient ? result.outputs[0] : result.inputs[0]);
    const auto small = rows_of(gradient ? result.inputs[0] : result.outputs[0]);
    const ShiftedSlice slice{large.n,
                             large.h,
                             large.w,
                             small.h,
                             small.w,
                             read_pair(c.op.attributes, "offset", {0, 0}),
                             read_pair(c.op.attributes, "stride", {1, 1}),
                             large.pitch * static_cast<std::int64_t>(size_of(c.output(0).type))};
    if (gradient)
        result.kernel = launch_kernel(c, "shifted slice gradient", [slice](const Arguments& a) {
            launch_shifted_slice_gradient(a.in(0), a.out(0), slice, a.stream);
        });
    else
        result.kernel = launch_kernel(c, "shifted slice", [slice](const Arguments& a) {
            launch_shifted_slice(a.in(0), a.out(0), slice, a.stream);
        });
    return result;
}

/// Whether images in channels-last order are the same bytes as row-major: one pixel, or one channel, without padding.
bool is_row_major(const Shape& shape) {
    return shape.rank() == 4 && shape[1] % channel_block == 0 && shape[2] == 1 && shape[3] == 1;
}

/// Row-major before and after, so the bytes are the same: mostly nothing is to be done.
Lowered lower_reshape(const Context& c) {
    Lowered result = c.plain();
    if (is_row_major(c.input(0).shape))
        result.inputs[0] = c.natural().inputs[0];
    if (is_row_major(c.output(0).shape))
        result.outputs[0] = c.natural().outputs[0];
    result.in_place = {{0, 0}};
    const auto bytes = static_cast<std::size_t>(c.output(0).shape.count()) * size_of(c.output(0).type);
    const auto padding = result.outputs[0].bytes - bytes;
    result.kernel = launch_kernel(c, "reshape", [bytes, padding](const Arguments& a) {
        if (a.out(0) != a.in(0))
            ESPALIER_CUDA(cudaMemcpyAsync(a.out(0), a.in(0), bytes, cudaMemcpyDeviceToDevice, a.stream));
        if (padding > 0)
            ESPALIER_CUDA(cudaMemsetAsync(a.outputs[0] + bytes, 0, padding, a.stream));
    });
    return result;
}

/// Pixels are copied by vectors of 16 bytes, which eight channels of one byte do not fill.
Support supports_shifted_slice(const Context& c) {
    return size_of(c.output(0).type) >= 2 ? Support{} : Support::no("its elements must have two bytes or more");
}

} // namespace

void add_shape(LoweringTable& table) {
    table["concat"] = {lower_concat, {}};
    table["reshape"] = {lower_reshape, {}};
    table["slice"] = {[](const Context& c) { return lower_cut(c, "slice", false); }, {}};
    table["slice_gradient"] = {[](const Context& c) { return lower_cut(c, "slice gradient", true); }, {}};
    table["shifted_slice"] = {[](const Context& c) { return lower_shifted_slice(c, false); }, supports_shifted_slice};
    table["shifted_slice_gradient"] = {[](const Context& c) { return lower_shifted_slice(c, true); },
                                       supports_shifted_slice};
}

} // namespace espalier::cuda
