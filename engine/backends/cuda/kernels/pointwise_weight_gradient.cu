// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/pointwise_weight_gradient.h"

#include <algorithm>

/// A block sums tile_filters x tile_channels products over its share of the pixels, tile_pixels at a time: the next
/// ones are on their way into registers meanwhile. In shared memory pixels are rows, so that a thread reads its filters
/// and channels of a pixel as vectors.
namespace espalier::cuda {
namespace {

constexpr int threads = 256, blocks_a_multiprocessor = 2;
constexpr int tile_filters = 128, tile_channels = 64, tile_pixels = 32;
constexpr int thread_filters = 8, thread_channels = 4;
constexpr int lanes = tile_channels / thread_channels; ///< threads side by side along the channels
static_assert(threads == tile_filters / thread_filters * lanes);

/// Pixels are counted in steps of tile_pixels, which begin anew in each image.
struct Cut {
    std::int64_t image_steps, steps; ///< of an image, of all
    std::int64_t part_steps;
    std::int64_t parts;
    std::int64_t filter_tiles, channel_tiles;

    explicit Cut(const PointwiseWeightGradient& s)
        : image_steps(ceil_divide(s.pixels, tile_pixels)), steps(s.images * image_steps),
          filter_tiles(ceil_divide(s.filters, tile_filters)), channel_tiles(ceil_divide(s.channels, tile_channels)) {
        const auto blocks =
            std::max<std::int64_t>(1, blocks_a_multiprocessor * s.multiprocessors / (filter_tiles * channel_tiles));
        constexpr std::int64_t least_steps = 2; // fewer do not pay for a block's beginning and end
        part_steps = std::max(ceil_divide(steps, blocks), least_steps);
        parts = ceil_divide(steps, part_steps);
    }
};

/// Where a row of a tile, which is a channel or filter, stands in the shared row of pixel p: moved by vectors so that
/// neither writing along the pixels nor reading along the rows meets a bank twice.
__device__ int place(int p, int row) { return row ^ (p / 4 % 8 * 4); }

/// The share of one thread in the tile of one tensor: vectors of four pixels.
template <int rows>
struct Share {
    static constexpr int vectors = rows * tile_pixels / 4 / threads;
    float4 v[vectors];

    static __device__ int row(int i) { return (static_cast<int>(threadIdx.x) + i * threads) / (tile_pixels / 4); }
    static __device__ int pixel() { return static_cast<int>(threadIdx.x) % (tile_pixels / 4) * 4; }

    /// From pixel `first` on of an image [all_rows, pixels], the rows from `first_row` on; zeros beyond both.
    template <bool whole_vectors>
    __device__ void load(const float* image, std::int64_t first_row, std::int64_t all_rows, std::int64_t first,
                         std::int64_t pixels) {
        const auto p = first + pixel();
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            v[i] = float4{};
            const auto at = first_row + row(i);
            if (at >= all_rows || p >= pixels)
                continue;
            const float* from = image + at * pixels + p;
            if constexpr (whole_vectors) {
                v[i] = *reinterpret_cast<const float4*>(from);
            } else {
                v[i].x = from[0];
                v[i].y = p + 1 < pixels ? from[1] : 0.0F;
                v[i].z = p + 2 < pixels ? from[2] : 0.0F;
                v[i].w = p + 3 < pixels ? from[3] : 0.0F;
            }
        }
    }
    /// `tile` [tile_pixels][rows]
    __device__ void store(float* tile) const {
        const int p = pixel();
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            float* to = tile + p * rows + place(p, row(i));
            to[0] = v[i].x;
            to[rows] = v[i].y;
            to[2 * rows] = v[i].z;
            to[3 * rows] = v[i].w;
        }
    }
};

template <bool whole_vectors>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    pointwise_weight_gradient_kernel(const float* x, const float* gy, float* parts, PointwiseWeightGradient s,
                                     Cut cut) {
    __shared__ __align__(16) float gy_tile[tile_pixels * tile_filters], x_tile[tile_pixels * tile_channels];
    const int thread = static_cast<int>(threadIdx.x);
    const int my_filter = thread / lanes * thread_filters, my_channel = thread % lanes * thread_channels;
    const auto first_filter = static_cast<std::int64_t>(blockIdx.x) * tile_filters;
    const auto first_channel = static_cast<std::int64_t>(blockIdx.y) * tile_channels;
    const auto begin = static_cast<std::int64_t>(blockIdx.z) * cut.part_steps;
    const auto end = min(begin + cut.part_steps, cut.steps);

    auto image = begin / cut.image_steps, in_image = begin % cut.image_steps;
    Share<tile_filters> next_gy;
    Share<tile_channels> next_x;
    const auto load = [&] {
        const auto pixel = in_image * tile_pixels;
        next_gy.load<whole_vectors>(gy + image * s.filters * s.pixels, first_filter, s.filters, pixel, s.pixels);
        next_x.load<whole_vectors>(x + image * s.channels * s.pixels, first_channel, s.channels, pixel, s.pixels);
        if (++in_image == cut.image_steps) {
            in_image = 0;
            ++image;
        }
    };

    take_turn();
    load();
    float sums[thread_filters][thread_channels] = {};
    for (auto step = begin; step < end; ++step) {
        next_gy.store(gy_tile);
        next_x.store(x_tile);
        __syncthreads();
        if (step + 1 < end)
            load();
#pragma unroll 4
        for (int p = 0; p < tile_pixels; ++p) {
            const float* of_pixel = gy_tile + p * tile_filters;
            const float4 low = *reinterpret_cast<const float4*>(of_pixel + place(p, my_filter)),
                         high = *reinterpret_cast<const float4*>(of_pixel + place(p, my_filter + 4)),
                         right = *reinterpret_cast<const float4*>(x_tile + p * tile_channels + place(p, my_channel));
            const float a[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w},
                        b[] = {right.x, right.y, right.z, right.w};
#pragma unroll
            for (int i = 0; i < thread_filters; ++i)
#pragma unroll
                for (int j = 0; j < thread_channels; ++j)
                    sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
        }
        __syncthreads();
    }

    float* to = parts + static_cast<std::int64_t>(blockIdx.z) * s.filters * s.channels;
#pragma unroll
    for (int i = 0; i < thread_filters; ++i) {
        const auto filter = first_filter + my_filter + i;
#pragma unroll
        for (int j = 0; j < thread_channels; ++j) {
            const auto channel = first_channel + my_channel + j;
            if (filter < s.filters && channel < s.channels)
                to[filter * s.channels + channel] = sums[i][j];
        }
    }
}

} // namespace

std::int64_t PointwiseWeightGradient::parts() const { return Cut(*this).parts; }

bool is_worthwhile(const PointwiseWeightGradient& s) {
    constexpr std::int64_t most_weights = 4 * tile_filters * tile_channels;
    return s.filters >= tile_filters / 2 && s.filters * s.channels <= most_weights;
}

void launch_pointwise_weight_gradient(const PointwiseWeightGradient& s, const float* x, const float* gy, float* parts,
                                      const LaunchStream& stream) {
    const Cut cut(s);
    const bool whole_vectors = s.pixels % 4 == 0;
    enqueue(whole_vectors ? pointwise_weight_gradient_kernel<true> : pointwise_weight_gradient_kernel<false>,
            dim3(static_cast<unsigned>(cut.filter_tiles), static_cast<unsigned>(cut.channel_tiles),
                 static_cast<unsigned>(cut.parts)),
            dim3(threads), 0, stream, x, gy, parts, s, cut);
}

} // namespace espalier::cuda
