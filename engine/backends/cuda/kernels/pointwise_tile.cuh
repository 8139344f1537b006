// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/divisor.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/packed.cuh"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/tile_product.cuh"

#include <cstdint>

/// What the two kernels of a pointwise convolution share. A block has a slice of the rows and goes through it in tiles,
/// of which each thread loads about two eights of channels a tensor.
namespace espalier::cuda::pointwise {

inline constexpr int block_threads = 256;
inline constexpr int block_warps = block_threads / 32;

/// Sizes and slices as the kernels know them.
struct Cut {
    int rows = 1, slice_rows = 1, slices = 1;
    int tile_rows = 16; ///< a multiple of 16
    int channels = 8, products = 8;
    Divisor channel_eights, product_eights;
};

[[nodiscard]] Cut cut(const Pointwise& shape);

/// Threads that each keep to eight channels: `lanes` of them side by side.
struct Columns {
    int vectors, lanes;
    int column; ///< its first channel
    int lane;   ///< lanes and beyond: has nothing to do
    __device__ explicit Columns(int channels)
        : vectors(channels / 8), lanes(block_threads / vectors), column(static_cast<int>(threadIdx.x) % vectors * 8),
          lane(static_cast<int>(threadIdx.x) / vectors) {}
    [[nodiscard]] __device__ bool active() const { return lane < lanes; }
};

/// Sets aside shared memory, piece by piece; the same on both sides.
class Carver {
public:
    __host__ __device__ explicit Carver(unsigned char* base = nullptr) : base_(base) {}
    template <class T>
    __host__ __device__ T* take(int count) {
        auto* const at = reinterpret_cast<T*>(base_ + bytes_);
        bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 15) / 16 * 16;
        return at;
    }
    [[nodiscard]] __host__ __device__ std::size_t bytes() const { return bytes_; }

private:
    unsigned char* base_;
    std::size_t bytes_ = 0;
};

} // namespace espalier::cuda::pointwise
