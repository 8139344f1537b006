// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/convolution_problem.h"

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

} // namespace

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

std::optional<Epilogue> epilogue_of(const Context& c, const Layout& y, bool relu) {
    if (!c.has_input(2) && !relu)
        return std::nullopt;
    const auto& d = description(y);
    const bool channels_first = d.order == Order::plain;
    return Epilogue{d.elements, channels_first ? d.shape[2] * d.shape[3] : 1, extents_of(y)[1], d.shape[1], relu,
                    d.type};
}

bool is_pointwise(const Problem& problem) {
    return problem.w[2] == 1 && problem.w[3] == 1 && problem.padding == Pair{0, 0} && problem.groups == 1;
}

bool strides(const Problem& problem) { return problem.stride != Pair{1, 1}; }

ShiftedSlice met_pixels(const Problem& problem) {
    const auto &x = problem.x, &y = problem.y;
    const auto element = static_cast<std::int64_t>(size_of(problem.type));
    return {.n = problem.channels_first ? x[0] * x[1] : x[0],
            .h = x[2],
            .w = x[3],
            .p = y[2],
            .q = y[3],
            .offset = {0, 0},
            .stride = problem.stride,
            .pixel = problem.channels_first ? element : x[1] * element};
}

} // namespace espalier::cuda
