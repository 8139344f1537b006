// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/axes.cuh"
#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"

#include <algorithm>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;
constexpr int most_items = 512;
constexpr std::int64_t elements_a_block = 8 * threads;

/// Travels as the kernel's parameters: no table in device memory, nothing to keep alive in a recorded graph.
struct CastTable {
    const void* from[most_items];
    void* to[most_items];
    std::int64_t count[most_items];
    int first_block[most_items + 1];
    int items;
};

template <class From, class To>
__global__ void cast_kernel(const __grid_constant__ CastTable table) {
    int low = 0, high = table.items;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (table.first_block[middle] <= static_cast<int>(blockIdx.x) ? low : high) = middle;
    }
    const auto* from = static_cast<const From*>(table.from[low]);
    auto* to = static_cast<To*>(table.to[low]);
    const auto begin = (static_cast<std::int64_t>(blockIdx.x) - table.first_block[low]) * elements_a_block +
                       8 * static_cast<std::int64_t>(threadIdx.x);
    const auto count = table.count[low];
    take_turn();
    if (begin + 8 <= count)
        store8(to + begin, load8(from + begin));
    else
        for (auto i = begin; i < count; ++i)
            to[i] = from_float<To>(to_float(from[i]));
}

template <class From, class To>
__global__ void cast_reorder_kernel(const From* from, To* to, Axes axes, std::int64_t elements) {
    take_turn();
    for (auto at = grid_index(); at < elements; at += grid_size()) {
        const auto source = source_of(axes, at);
        to[at] = source < 0 ? from_float<To>(0.0F) : from_float<To>(to_float(from[source]));
    }
}

} // namespace

void launch_cast(const std::vector<CastItem>& items, DType from, DType to, const LaunchStream& stream) {
    with_type(from, [&](auto source) {
        using From = decltype(source);
        with_type(to, [&](auto target) {
            using To = decltype(target);
            for (std::size_t begin = 0; begin < items.size(); begin += most_items) {
                CastTable table{};
                table.items = static_cast<int>(std::min<std::size_t>(most_items, items.size() - begin));
                for (int i = 0; i < table.items; ++i) {
                    const auto& item = items[begin + static_cast<std::size_t>(i)];
                    table.from[i] = item.from;
                    table.to[i] = item.to;
                    table.count[i] = item.count;
                    table.first_block[i + 1] =
                        table.first_block[i] + static_cast<int>((item.count + elements_a_block - 1) / elements_a_block);
                }
                enqueue(cast_kernel<From, To>, dim3(static_cast<unsigned>(table.first_block[table.items])),
                        dim3(threads), 0, stream, table);
            }
        });
    });
}

void launch_cast_reorder(const void* from, DType from_type, void* to, DType to_type, const Strides& source,
                         const Strides& target, std::int64_t elements, const LaunchStream& stream) {
    const auto axes = axes_of(source, target);
    with_type(from_type, [&](auto source_element) {
        using From = decltype(source_element);
        with_type(to_type, [&](auto target_element) {
            using To = decltype(target_element);
            enqueue(cast_reorder_kernel<From, To>, dim3(blocks_for(elements, threads)), dim3(threads), 0, stream,
                    static_cast<const From*>(from), static_cast<To*>(to), axes, elements);
        });
    });
}

} // namespace espalier::cuda
