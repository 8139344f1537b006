// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/axes.cuh"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/reorder.h"

#include <algorithm>
#include <optional>

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

/// Matrices [rows][columns] that become [columns][pitch], pitch >= rows with zeros behind: images between planes of a
/// channel and pixels of all channels, either way.
struct Transpose {
    std::int64_t batch = 0;
    int rows = 0, columns = 0;
    int from_pitch = 0, to_pitch = 0;
    [[nodiscard]] std::int64_t elements() const { return batch * columns * to_pitch; }
};

constexpr int side = 32, lines = 8;

/// Tiles through shared memory, so that both sides are read and written along their rows.
template <class T>
__global__ void transpose_kernel(const T* from, T* to, Transpose t) {
    __shared__ T tile[side][side + 1];
    const int column = static_cast<int>(blockIdx.x) * side, row = static_cast<int>(blockIdx.y) * side;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (std::int64_t b = blockIdx.z; b < t.batch; b += gridDim.z) {
        const T* source = from + b * t.rows * t.from_pitch;
        T* target = to + b * t.columns * t.to_pitch;
#pragma unroll
        for (int i = 0; i < side; i += lines) {
            const int r = row + y + i, c = column + x;
            tile[y + i][x] =
                r < t.rows && c < t.columns ? source[static_cast<std::int64_t>(r) * t.from_pitch + c] : T{};
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; i += lines) {
            const int c = column + y + i, r = row + x;
            if (c < t.columns && r < t.to_pitch)
                target[static_cast<std::int64_t>(c) * t.to_pitch + r] = tile[x][y + i];
        }
        __syncthreads();
    }
}

/// The transposition that a change of order is, if it is one of images.
std::optional<Transpose> transpose_of(const Strides& source, const Strides& target) {
    const auto [n, c, h, w] = source.extent;
    const auto is_planes = [&](const Strides& s) {
        return s.stride[3] == 1 && s.stride[2] == w && s.stride[1] == h * w && s.stride[0] == c * h * w;
    };
    const auto is_pixels = [&](const Strides& s) {
        const auto pitch = s.stride[3];
        return s.stride[1] == 1 && pitch >= c && s.stride[2] == w * pitch && s.stride[0] == h * w * pitch;
    };
    constexpr std::int64_t most = 65535 * side, few = 8; // tiles along an axis of a grid; fewer would be mostly empty
    if (c < few || h * w < few || c > most || h * w > most)
        return std::nullopt;
    if (is_planes(source) && is_pixels(target))
        return Transpose{n, static_cast<int>(c), static_cast<int>(h * w), static_cast<int>(h * w),
                         static_cast<int>(target.stride[3])};
    if (is_pixels(source) && is_planes(target))
        return Transpose{n, static_cast<int>(h * w), static_cast<int>(c), static_cast<int>(source.stride[3]),
                         static_cast<int>(h * w)};
    return std::nullopt;
}

template <class T>
void launch(const void* from, void* to, const Transpose& t, cudaStream_t stream) {
    const auto tiles = [](int count) { return static_cast<unsigned>((count + side - 1) / side); };
    const dim3 grid(tiles(t.columns), tiles(t.to_pitch), static_cast<unsigned>(std::min<std::int64_t>(t.batch, 65535)));
    transpose_kernel<<<grid, dim3(side, lines), 0, stream>>>(static_cast<const T*>(from), static_cast<T*>(to), t);
}

template <class T>
void launch(const void* from, void* to, const Axes& axes, std::int64_t elements, cudaStream_t stream) {
    reorder_kernel<<<blocks_for(elements, threads), threads, 0, stream>>>(static_cast<const T*>(from),
                                                                          static_cast<T*>(to), axes, elements);
}

} // namespace

void launch_reorder(const void* from, void* to, const Strides& source, const Strides& target, std::int64_t elements,
                    DType type, cudaStream_t stream) {
    const auto transpose = transpose_of(source, target);
    const auto axes = axes_of(source, target);
    const auto with = [&]<class T>(T) {
        if (transpose && transpose->elements() == elements) // more: padding behind the last image, as filters have
            launch<T>(from, to, *transpose, stream);
        else
            launch<T>(from, to, axes, elements, stream);
    };
    switch (size_of(type)) {
    case 4:
        return with(std::uint32_t{});
    case 2:
        return with(std::uint16_t{});
    default:
        return with(std::uint8_t{});
    }
}

} // namespace espalier::cuda
