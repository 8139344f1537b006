// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/weighted_sum.h"

#include "backends/cuda/lowering/lowering.h"

#include <algorithm>
#include <span>

namespace espalier::cuda {
namespace {

std::int64_t elements(const Layout& layout) { return description(layout).elements; }

/// Where the weights of the list stand in the flat table.
std::vector<int> places(const Context& c, const Shape& table) {
    std::vector<int> result;
    for (const auto column : c.op.attributes.integers("columns"))
        result.push_back(static_cast<int>(c.op.attributes.integer("row") * table[1] + column));
    return result;
}

/// Calls body(first, count) for groups of candidates that one launch can take.
template <class Body>
void in_groups(std::size_t candidates, Body body) {
    for (std::size_t first = 0; first < candidates; first += most_candidates)
        body(first, std::min(most_candidates, candidates - first));
}

/// The addresses behind the first `skip`.
std::span<const void* const> candidates_of(const std::vector<std::byte*>& all, std::size_t skip) {
    return {reinterpret_cast<const void* const*>(all.data()) + skip, all.size() - skip};
}

Lowered lower_weighted_sum(const Context& c) {
    Lowered result = c.flat(1, c.op.inputs.size());
    result.in_place = {{0, 1}};
    result.kernel =
        launch_kernel(c, "weighted sum",
                      [n = elements(result.outputs[0]), type = c.output(0).type,
                       at = places(c, c.input(0).shape)](const Arguments& a) {
                          const auto x = candidates_of(a.inputs, 1);
                          const std::span<const int> all(at);
                          in_groups(x.size(), [&](std::size_t first, std::size_t count) {
                              launch_weighted_sum(a.in_f32(0), all.subspan(first, count), x.subspan(first, count),
                                                  a.out(0), first > 0, n, type, a.stream);
                          });
                      });
    return result;
}

Lowered lower_weighted_sum_gradient(const Context& c) {
    Lowered result = c.flat(1, 2);
    result.kernel = launch_kernel(
        c, "weighted sum gradient",
        [n = elements(result.inputs[1]), type = c.input(1).type, at = places(c, c.input(0).shape)](const Arguments& a) {
            const std::span<void* const> gx(reinterpret_cast<void* const*>(a.outputs.data()), a.outputs.size());
            const std::span<const int> all(at);
            in_groups(gx.size(), [&](std::size_t first, std::size_t count) {
                launch_weighted_sum_gradient(a.in_f32(0), all.subspan(first, count), a.in(1), gx.subspan(first, count),
                                             n, type, a.stream);
            });
        });
    return result;
}

Lowered lower_weighted_sum_weight_gradient(const Context& c) {
    const std::size_t inputs = c.op.inputs.size();
    Lowered result = c.flat(0, inputs);
    result.outputs[0] = c.plain().outputs[0];
    const auto n = elements(result.inputs[0]);
    const auto partials = weighted_sum_partials(n);
    result.workspace = static_cast<std::size_t>(partials) * std::min(inputs - 1, most_candidates) * sizeof(double);
    const Shape& table = c.output(0).shape;
    result.kernel = launch_kernel(
        c, "weighted sum weight gradient",
        [n, type = c.input(0).type, size = table.count(), at = places(c, table)](const Arguments& a) {
            const auto x = candidates_of(a.inputs, 1);
            const std::span<const int> all(at);
            in_groups(x.size(), [&](std::size_t first, std::size_t count) {
                launch_weighted_sum_dots(a.in(0), x.subspan(first, count), a.scratch<double>(), n, type, a.stream);
                launch_weighted_sum_dots_end(a.scratch<double>(), all.subspan(first, count), a.out_f32(0), size,
                                             first == 0, n, a.stream);
            });
        });
    return result;
}

/// The table of weights and its gradient must be f32, all candidates of one type.
Support supports_weighted_sum(const Context& c) {
    const bool dots = c.op.kind == "weighted_sum_weight_gradient";
    const auto& table = dots ? c.output(0) : c.input(0);
    if (table.type != DType::f32)
        return Support::no("the weights of a weighted sum must be f32");
    const auto type = c.input(dots ? 0 : 1).type;
    for (std::size_t i = 1; i < c.op.inputs.size(); ++i)
        if (c.input(i).type != type)
            return Support::no("the candidates of a weighted sum must be of one element type");
    for (std::size_t i = 0; !dots && i < c.op.outputs.size(); ++i)
        if (c.has_output(i) && c.output(i).type != type)
            return Support::no("a weighted sum must have the element type of its candidates");
    return {};
}

} // namespace

void add_weighted_sum(LoweringTable& table) {
    table["weighted_sum"] = {lower_weighted_sum, supports_weighted_sum};
    table["weighted_sum_gradient"] = {lower_weighted_sum_gradient, supports_weighted_sum};
    table["weighted_sum_weight_gradient"] = {lower_weighted_sum_weight_gradient, supports_weighted_sum};
}

} // namespace espalier::cuda
