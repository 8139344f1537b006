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
    Divisor rows_of_image, pixels_of_row, chunks_of_row, lanes, channel_eights, product_eights;

    Plan(const Depthwise& d, const Pointwise& p, const SeparableTiles& t)
        : height(static_cast<int>(d.x[0])), width(static_cast<int>(d.x[1])), image_rows(static_cast<int>(d.n * d.x[0])),
          tile_height(t.height), tiles_each(t.tiles_each), channels(static_cast<int>(p.channels)),
          products(static_cast<int>(p.products)), slots(t.slots), kernel(static_cast<int>(d.kernel[0])),
          rows_of_image(d.x[0]), pixels_of_row(d.x[1]), chunks_of_row((d.x[1] + chunk - 1) / chunk),
          lanes(p.channels / 4), channel_eights(p.channels / 8), product_eights(p.products / 8) {}

    /// Image rows that a tile reads, and pixels of one, with the zeros around it.
    [[nodiscard]] __host__ __device__ int read_rows() const { return tile_height + kernel - 1; }
    [[nodiscard]] __host__ __device__ int read_pixels() const {
        return (width + chunk - 1) / chunk * chunk + kernel - 1;
    }
    /// Floats from one of these pixels to the next: neighbouring chunks lie in different banks.
    [[nodiscard]] __host__ __device__ int read_pitch() const { return product_pitch<float>(channels); }
};

/// Shared memory of a block.
template <class T>
struct Memory {
    float* v;        ///< [read_rows][read_pixels][read_pitch]: what the depthwise convolution reads
    float4* taps;    ///< [K*K][lanes]
    T* d;            ///< [tile's pixels][pitch]
    T* matrix;       ///< [products][pitch]
    float4* moments; ///< [slots][products]: shift, sums of distances from it and of their squares, and how many
    std::size_t bytes;

    __host__ __device__ Memory(const Plan& p, unsigned char* base) {
        Carver carve(base);
        v = carve.take<float>(p.read_rows() * p.read_pixels() * p.read_pitch());
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
        const int row = plan.read_pixels() * plan.read_pitch(), step_rows = groups / plan.width;
        step_columns_ = groups - step_rows * plan.width;
        step_ = step_rows * row + step_columns_ * plan.read_pitch();
        around_ = row - plan.width * plan.read_pitch();
        auto column = static_cast<std::uint32_t>(group);
        const int first_row = static_cast<int>(plan.pixels_of_row.split(column));
        column_ = static_cast<int>(column);
        v_ += first_row * row + (column_ + plan.kernel / 2) * plan.read_pitch();
    }

    /// Of the tile that begins with image row `first` and ends before `last`; x at this thread's channels.
    __device__ void copy(const X* x, int first, int last) const {
        x += static_cast<std::int64_t>(top(first)) * plan_.width * plan_.channels;
        const int count = pixels(first, last);
        Walk walk = begin(first);
#pragma unroll 4
        for (int pixel = group_; pixel < count; pixel += groups_, step(walk))
            __pipeline_memcpy_async(walk.at, x + pixel * plan_.channels, sizeof(Packed4<X>));
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
            float* at[some];
            Packed4<X> raw[some];
#pragma unroll
            for (int u = 0; u < some; ++u, step(walk)) {
                at[u] = walk.at;
                if (pixel + u * groups_ < count)
                    raw[u] = load_packed4(reinterpret_cast<const X*>(walk.at));
            }
#pragma unroll
            for (int u = 0; u < some; ++u)
                if (pixel + u * groups_ < count)
                    store4(at[u], value(unpack4<X>(raw[u])));
        }
    }

private:
    struct Walk {
        float* at;
        int column;
    };
    [[nodiscard]] __device__ int top(int first) const { return max(first - plan_.kernel / 2, 0); }
    [[nodiscard]] __device__ int pixels(int first, int last) const {
        const int bottom = min(last + plan_.kernel / 2, plan_.image_rows);
        return group_ < groups_ ? (bottom - top(first)) * plan_.width : 0;
    }
    [[nodiscard]] __device__ Walk begin(int first) const {
        const int above = top(first) - (first - plan_.kernel / 2); // rows before the first image
        return {v_ + above * plan_.read_pixels() * plan_.read_pitch(), column_};
    }
    __device__ void step(Walk& walk) const {
        walk.at += step_;
        walk.column += step_columns_;
        if (walk.column >= plan_.width) {
            walk.column -= plan_.width;
            walk.at += around_;
        }
    }

    const Plan& plan_;
    float* v_; ///< of its first pixel, if there is no row before the first image
    int group_, groups_, column_, step_columns_, step_, around_;
};

} // namespace espalier::cuda::separable
