// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/reorder.h"

#include "backends/cuda/kernels/common.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// Axes by falling stride of the target, so that an offset there is taken apart from the outside in.
struct Axes {
    std::int64_t extent[4], to_stride[4], from_stride[4];
};

template <class T>
__global__ void reorder_kernel(const T* from, T* to, Axes axes, std::int64_t elements) {
    for (auto at = grid_index(); at < elements; at += grid_size()) {
        std::int64_t rest = at, source = 0;
        bool padding = false;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const auto place = axes.to_stride[i] > 0 ? rest / axes.to_stride[i] : 0;
            rest -= place * axes.to_stride[i];
            padding |= place >= axes.extent[i];
            source += place * axes.from_stride[i];
        }
        to[at] = padding || rest != 0 ? T{} : from[source];
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
    int order[4] = {0, 1, 2, 3};
    // By falling stride; an axis of one place comes last, where its stride cannot hide another axis.
    const auto weight = [&](int axis) { return target.extent[axis] == 1 ? -1 : target.stride[axis]; };
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
            if (weight(order[j]) > weight(order[i])) {
                const int other = order[i];
                order[i] = order[j];
                order[j] = other;
            }
    Axes axes{};
    for (int i = 0; i < 4; ++i) {
        const bool single = target.extent[order[i]] == 1;
        axes.extent[i] = target.extent[order[i]];
        axes.to_stride[i] = single ? 0 : target.stride[order[i]];
        axes.from_stride[i] = single ? 0 : source.stride[order[i]];
    }
    switch (size_of(type)) {
    case 4: return launch<std::uint32_t>(from, to, axes, elements, stream);
    case 2: return launch<std::uint16_t>(from, to, axes, elements, stream);
    default: return launch<std::uint8_t>(from, to, axes, elements, stream);
    }
}

} // namespace espalier::cuda
