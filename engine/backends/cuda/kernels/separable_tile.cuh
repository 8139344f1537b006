// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/pointwise_tile.cuh"
#include "backends/cuda/kernels/separable_forward.h"

#include <cuda_pipeline.h>

/// What a block of the joined forward launch keeps in shared memory, and how a tile's image rows come there.
namespace espalier::cuda::separable {

using pointwise::Carver;

inline constexpr int blocks_a_multiprocessor = 2;
inline constexpr int chunk = 4; ///< neighbouring pixels of a row that a thread makes

/// Sizes as the kernel knows them.
struct Plan {
    int height, width; ///< of an image
    int image_rows;    ///< of all images
    int tile_height, tiles_each;
    int channels, products, slots;
    int kernel; ///< K
    /// Floats of shared memory behind each chunk of pixels that are left out: for threads of neighbouring chunks one
    /// lies behind the other's channels, as far as banks go, and they meet none twice.
    int chunk_gap;
    int read_pitch; ///< floats from one image row to the next
    Divisor rows_of_image, pixels_of_row, chunks_of_row, lanes, channel_eights, product_sixteens;

    Plan(const Depthwise& d, const Pointwise& p, const SeparableTiles& t)
        : height(static_cast<int>(d.x[0])), width(static_cast<int>(d.x[1])), image_rows(static_cast<int>(d.n * d.x[0])),
          tile_height(t.height), tiles_each(t.tiles_each), channels(static_cast<int>(p.channels)),
          products(static_cast<int>(p.products)), slots(t.slots), kernel(static_cast<int>(d.kernel[0])),
          chunk_gap(channels * (chunk + 1) % 32), read_pitch(place(read_pixels() - 1) + channels), rows_of_image(d.x[0]),
          pixels_of_row(d.x[1]), chunks_of_row((d.x[1] + chunk - 1) / chunk), lanes(p.channels / 4),
          channel_eights(p.channels / 8), product_sixteens((p.products + 15) / 16) {}

    /// Image rows that a tile reads, and pixels of one, with the zeros around it.
    [[nodiscard]] __host__ __device__ int read_rows() const { return tile_height + kernel - 1; }
    [[nodiscard]] __host__ __device__ int read_pixels() const {
        return (width + chunk - 1) / chunk * chunk + kernel - 1;
    }
    /// Where a pixel of such a row lies, in floats.
    [[nodiscard]] __host__ __device__ int place(int pixel) const {
        return pixel * channels + static_cast<int>(static_cast<unsigned>(pixel) / chunk) * chunk_gap;
    }
};

/// Shared memory of a block.
template <class T>
struct Memory {
    float* v;        ///< [read_rows][read_pitch]: what the depthwise convolution reads
    float4* taps;    ///< [K*K][lanes]
    T* d;            ///< [tile's pixels][pitch]
    T* matrix;       ///< [products][pitch]
    float4* moments; ///< [slots][products]: shift, sums of distances from it and of their squares, and how many
    std::size_t bytes;

    __host__ __device__ Memory(const Plan& p, unsigned char* base) {
        Carver carve(base);
        v = carve.take<float>(p.read_rows() * p.read_pitch);
        taps = carve.take<float4>(p.kernel * p.kernel * p.channels / 4);
        const int pixels = (p.tile_height * p.width + 15) / 16 * 16;
        d = carve.take<T>(pixels * product_pitch<T>(p.channels));
        matrix = carve.take<T>(p.products * product_pitch<T>(p.channels));
        moments = carve.take<float4>(p.slots * p.products);
        bytes = carve.bytes();
    }
};

/// A thread's way over the pixels that a tile reads, four channels each. They are copied without registers, so that
/// they can be on their way during the products of the tile before, and converted where they lie. X: the type of x.
template <class X>
class Reader {
public:
    /// `v`: as in Memory, at this thread's channels. Threads that share these are `groups`; from `groups` on they have
    /// nothing to do.
    __device__ Reader(const Plan& plan, float* v, int group, int groups)
        : plan_(plan), v_(v), group_(group), groups_(groups) {
        step_rows_ = groups / plan.width;
        step_columns_ = groups - step_rows_ * plan.width;
        auto column = static_cast<std::uint32_t>(group);
        v_ += static_cast<int>(plan.pixels_of_row.split(column)) * plan.read_pitch;
        column_ = static_cast<int>(column);
    }

    /// Of the tile that begins with image row `first` and ends before `last`; x at this thread's channels.
    __device__ void copy(const X* x, int first, int last) const {
        x += static_cast<std::int64_t>(top(first)) * plan_.width * plan_.channels;
        const int count = pixels(first, last);
        Walk walk = begin(first);
#pragma unroll 4
        for (int pixel = group_; pixel < count; pixel += groups_, step(walk))
            __pipeline_memcpy_async(at(walk), x + pixel * plan_.channels, sizeof(Packed4<X>));
        __pipeline_commit();
    }
    /// Waits for this thread's copies, and puts value(them) in their place.
    template <class Value>
    __device__ void convert(int first, int last, const Value& value) const {
        constexpr int some = 4;
        __pipeline_wait_prior(0);
        const int count = pixels(first, last);
        Walk walk = begin(first);
        for (int pixel = group_; pixel < count; pixel += some * groups_) {
            float* to[some];
            Packed4<X> raw[some];
#pragma unroll
            for (int u = 0; u < some; ++u, step(walk)) {
                to[u] = at(walk);
                if (pixel + u * groups_ < count)
                    raw[u] = load_packed4(reinterpret_cast<const X*>(to[u]));
            }
#pragma unroll
            for (int u = 0; u < some; ++u)
                if (pixel + u * groups_ < count)
                    store4(to[u], value(unpack4<X>(raw[u])));
        }
    }

private:
    struct Walk {
        float* row;
        int column; ///< of the image
    };
    [[nodiscard]] __device__ int top(int first) const { return max(first - plan_.kernel / 2, 0); }
    [[nodiscard]] __device__ int pixels(int first, int last) const {
        const int bottom = min(last + plan_.kernel / 2, plan_.image_rows);
        return group_ < groups_ ? (bottom - top(first)) * plan_.width : 0;
    }
    [[nodiscard]] __device__ Walk begin(int first) const {
        const int above = top(first) - (first - plan_.kernel / 2); // rows before the first image
        return {v_ + above * plan_.read_pitch, column_};
    }
    [[nodiscard]] __device__ float* at(const Walk& walk) const {
        return walk.row + plan_.place(walk.column + plan_.kernel / 2);
    }
    __device__ void step(Walk& walk) const {
        walk.row += step_rows_ * plan_.read_pitch;
        walk.column += step_columns_;
        if (walk.column >= plan_.width) {
            walk.column -= plan_.width;
            walk.row += plan_.read_pitch;
        }
    }

    const Plan& plan_;
    float* v_; ///< the row of its first pixel, if there is no row before the first image
    int group_, groups_, column_, step_columns_, step_rows_;
};

} // namespace espalier::cuda::separable
