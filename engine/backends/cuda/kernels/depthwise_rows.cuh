// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise_rows.h"
#include "backends/cuda/kernels/depthwise_tile.cuh"
#include "backends/cuda/kernels/pointwise_tile.cuh"

#include <cuda_pipeline.h>

/// What a block of depthwise_rows.h keeps in shared memory, and how rows of gy come there.
namespace espalier::cuda::depthwise_rows_detail {

inline constexpr int most_threads = 256;
inline constexpr int blocks_a_multiprocessor = 2;
inline constexpr int cell_rows = 2, cell_pixels = 4;

/// Sizes as the kernel knows them.
struct Plan {
    int height, width; ///< of an image
    int image_rows;    ///< of all images
    int pairs, pairs_of_step, pairs_of_block;
    int ring, pitch;
    int kernel;
    Tile tile; ///< its lanes alone
    Divisor pairs_of_image, chunks_of_row, pixels_of_row, ring_rows;

    Plan(const Depthwise& d, const DepthwiseRows& rows)
        : height(static_cast<int>(d.x[0])), width(static_cast<int>(d.x[1])), image_rows(static_cast<int>(d.n * d.x[0])),
          pairs(static_cast<int>(d.n * ((d.x[0] + 1) / cell_rows))), pairs_of_step(rows.pairs_of_step),
          pairs_of_block(rows.pairs_of_step * rows.steps), ring(rows.ring), pitch(static_cast<int>(d.channels)),
          kernel(static_cast<int>(d.kernel[0])), tile(d.channels, rows.threads),
          pairs_of_image((d.x[0] + 1) / cell_rows), chunks_of_row((d.x[1] + cell_pixels - 1) / cell_pixels),
          pixels_of_row(d.x[1]), ring_rows(rows.ring) {}

    /// Pixels of a row in shared memory, with the zeros around it, in fours.
    [[nodiscard]] __host__ __device__ int read_chunks() const {
        return (width + cell_pixels - 1) / cell_pixels + (kernel - 1 + cell_pixels - 1) / cell_pixels;
    }
    /// Vectors from one four of pixels to the next: such that the lanes of neighbouring fours lie in successive banks.
    template <class T>
    [[nodiscard]] __host__ __device__ int chunk_pitch() const {
        constexpr int of_banks = 128 / static_cast<int>(sizeof(Packed4<T>));
        const int lanes = static_cast<int>(tile.width);
        return cell_pixels * lanes + ((1 - cell_pixels) * lanes & (of_banks - 1));
    }
};

/// Shared memory of a block.
template <class T>
struct Memory {
    Packed4<T>* rows; ///< [ring][read_chunks][chunk_pitch]
    float4* taps;     ///< [K*K][lanes], turned by half a circle
    float4* channels; ///< [3][lanes]: mean, scale and bias of the batch norm that x goes through
    float4* sums;     ///< [2][threads]
    std::size_t bytes;

    __host__ __device__ Memory(const Plan& p, int threads, unsigned char* base) {
        pointwise::Carver carve(base);
        rows = carve.take<Packed4<T>>(p.ring * p.read_chunks() * p.chunk_pitch<T>());
        taps = carve.take<float4>(p.kernel * p.kernel * static_cast<int>(p.tile.width));
        channels = carve.take<float4>(3 * static_cast<int>(p.tile.width));
        sums = carve.take<float4>(2 * threads);
        bytes = carve.bytes();
    }
};

/// A block's window on the rows of gy. Row r lies in place (r - top) % ring, so that a row that two steps read is
/// copied once.
template <class T>
class Ring {
public:
    /// `rows`: as in Memory, at this thread's lane.
    __device__ Ring(const Plan& plan, Packed4<T>* rows, int top)
        : plan_(plan), rows_(rows), lanes_(static_cast<int>(plan.tile.width)), chunk_(plan.chunk_pitch<T>()),
          row_(plan.read_chunks() * chunk_), top_(top), copied_(top) {}

    [[nodiscard]] __device__ int chunk_pitch() const { return chunk_; }
    [[nodiscard]] __device__ int row_pitch() const { return row_; }
    [[nodiscard]] __device__ int place_of(int row) const {
        auto place = static_cast<std::uint32_t>(row - top_);
        plan_.ring_rows.split(place);
        return static_cast<int>(place);
    }
    [[nodiscard]] __device__ Packed4<T>* pixel(int place, int pixel) const {
        return rows_ + place * row_ + pixel / cell_pixels * chunk_ + pixel % cell_pixels * lanes_;
    }

    /// Zeros around the rows, which no copy touches.
    __device__ void clear_sides(int group, int groups) const {
        const int reach = plan_.kernel / 2, zeros = plan_.read_chunks() * cell_pixels - plan_.width;
        for (int i = group; i < plan_.ring * zeros; i += groups) {
            const int zero = i % zeros;
            *pixel(i / zeros, zero < reach ? zero : plan_.width + zero) = Packed4<T>{};
        }
    }
    /// Begins to copy the rows up to `until`, as far as there are any; gy at this thread's channels. One group of
    /// copies, though it be empty.
    __device__ void copy(const T* gy, int until, int group, int groups) {
        const int from = max(copied_, 0), rows = min(until, plan_.image_rows) - from;
        if (rows > 0) {
            gy += static_cast<std::int64_t>(from) * plan_.width * plan_.pitch;
            const int first = place_of(from), count = rows * plan_.width, reach = plan_.kernel / 2;
#pragma unroll 4
            for (int i = group; i < count; i += groups) {
                auto column = static_cast<std::uint32_t>(i);
                int place = first + static_cast<int>(plan_.pixels_of_row.split(column));
                place -= place >= plan_.ring ? plan_.ring : 0;
                __pipeline_memcpy_async(pixel(place, static_cast<int>(column) + reach), gy + i * plan_.pitch,
                                        sizeof(Packed4<T>));
            }
        }
        copied_ = max(copied_, until);
        __pipeline_commit();
    }

private:
    const Plan& plan_;
    Packed4<T>* rows_;
    int lanes_, chunk_, row_;
    int top_, copied_;
};

} // namespace espalier::cuda::depthwise_rows_detail
