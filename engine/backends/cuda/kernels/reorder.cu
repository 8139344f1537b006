// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/axes.cuh"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/reorder.h"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void reorder_kernel(const T* from, T* to, Axes axes, std::int64_t elements) {
    for (auto at = grid_index(); at < elements; at += grid_size()) {
        const auto source = source_of(axes, at);
        to[at] = source < 0 ? T{} : from[source];
    }
}

template <class T>
void launch(const void* from, void* to, const Axes& axes, std::int64_t elements, cudaStream_t stream) {
    reorder_kernel<<<blocks_for(elements, threads), threads, 0, stream>>>(static_cast<const T*>(from),
                                                                          static_cast<T*>(to), axes, elements);
}

} // namespace

void launch_reorder(const void* from, void* to, const Strides& source, const Strides& target, std::int64_t elements,
                    DType type, cudaStream_t stream) {
    const auto axes = axes_of(source, target);
    switch (size_of(type)) {
    case 4:
        return launch<std::uint32_t>(from, to, axes, elements, stream);
    case 2:
        return launch<std::uint16_t>(from, to, axes, elements, stream);
    default:
        return launch<std::uint8_t>(from, to, axes, elements, stream);
    }
}

} // namespace espalier::cuda
