// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/depthwise_input.cuh"
#include "backends/cuda/kernels/depthwise_rows.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/shared_memory.h"

namespace espalier::cuda {
namespace {

using namespace depthwise_rows_detail;

/// What an output takes beside its sum; as in a gather.
enum class End { plain, mask, mask_and_sums };

/// The sums of a cell, whose window begins in row `first_row` of the image, at `place` of the ring and chunk `chunk`.
template <class T, int K>
__device__ void gather(float4 (&sums)[cell_rows][cell_pixels], const Ring<T>& ring, const float4* taps, int first_row,
                       int place, int chunk, const Plan& plan) {
    const int lanes = static_cast<int>(plan.tile.width), chunk_pitch = ring.chunk_pitch();
    const Packed4<T>* from = ring.pixel(place, cell_pixels * chunk);
    float4 w[cell_rows][K]; // what each row of the cell takes from one row of gy
#pragma unroll
    for (int r = 0; r < K + cell_rows - 1; ++r, taps += K * lanes) {
#pragma unroll
        for (int s = 0; s < K; ++s) {
#pragma unroll
            for (int o = cell_rows - 1; o > 0; --o)
                w[o][s] = w[o - 1][s];
            if (r < K)
                w[0][s] = taps[s * lanes];
        }
        if (static_cast<unsigned>(first_row + r) < static_cast<unsigned>(plan.height)) // else padding, another image
#pragma unroll
            for (int i = 0; i < cell_pixels - 1 + K; ++i) {
                const float4 y = unpack4<T>(from[i / cell_pixels * chunk_pitch + i % cell_pixels * lanes]);
#pragma unroll
                for (int o = 0; o < cell_rows; ++o)
                    if (o <= r && r - o < K)
#pragma unroll
                        for (int j = 0; j < cell_pixels; ++j)
                            if (const int s = i - j; s >= 0 && s < K)
                                multiply_add(sums[o][j], y, w[o][s]);
            }
        from += ring.row_pitch();
        if (++place == plan.ring) {
            place = 0;
            from -= plan.ring * ring.row_pitch();
        }
    }
}

/// X: the type of x and of its gradient, T or float.
template <class T, class X, int K, End end>
__global__ void __launch_bounds__(most_threads, blocks_a_multiprocessor)
    rows_kernel(const T* gy, const Weights filter, X* gx, const DepthwiseInput input, float* partials,
                const Plan plan) {
    constexpr int reach = K / 2;
    extern __shared__ float4 shared[];
    const Memory<T> memory(plan, static_cast<int>(blockDim.x), reinterpret_cast<unsigned char*>(shared));
    const int lanes = static_cast<int>(plan.tile.width), groups = static_cast<int>(plan.tile.pixels);
    // Four channels of a thread, first as the reader of pixels, then as the maker of a cell in each step.
    std::uint32_t lane = threadIdx.x;
    const int group = static_cast<int>(plan.tile.lanes.split(lane));
    const std::uint32_t vector = blockIdx.y * plan.tile.width + lane;
    const bool active = group < groups && vector < plan.tile.vectors;
    const int channel = active ? static_cast<int>(4 * vector) : 0;
    auto chunk = static_cast<std::uint32_t>(group);
    const int pair_of_step = static_cast<int>(plan.chunks_of_row.split(chunk));
    const int column = cell_pixels * static_cast<int>(chunk);

    const auto row_of = [&](int pair, int& in_image) {
        auto rest = static_cast<std::uint32_t>(pair);
        const int image = static_cast<int>(plan.pairs_of_image.split(rest));
        in_image = cell_rows * static_cast<int>(rest);
        return image * plan.height + in_image;
    };
    // The row behind all that the pairs before `last` read.
    const auto bottom_of = [&](int last) {
        int in_image = 0;
        const int row = row_of(last - 1, in_image);
        return row + min(cell_rows, plan.height - in_image) + reach;
    };
    const int begin = static_cast<int>(blockIdx.x) * plan.pairs_of_block,
              stop = min(begin + plan.pairs_of_block, plan.pairs);

    let_next_begin();
    int in_image = 0;
    Ring<T> ring(plan, memory.rows + lane, row_of(begin, in_image) - reach);
    if (group < groups)
        ring.clear_sides(group, groups);
    memory.sums[threadIdx.x] = memory.sums[blockDim.x + threadIdx.x] = float4{};
    const auto copy_until = [&](int last) {
        // Threads without channels have nothing to copy, but count the rows all the same.
        ring.copy(gy + channel, bottom_of(last), active ? group : plan.ring * plan.width, groups);
    };

    // This thread's cell of a step, and the x of its outputs, on their way while the rows of gy are.
    int row = 0;
    bool makes = false;
    Packed4<X> masks[end == End::plain ? 1 : cell_rows][cell_pixels];
    const auto inside = [&](int o, int j) { return in_image + o < plan.height && column + j < plan.width; };
    const auto place_in = [&](int o) {
        return (static_cast<std::int64_t>(row + o) * plan.width + column) * plan.pitch + channel;
    };
    const auto enter = [&](int first, int last) {
        makes = active && pair_of_step < plan.pairs_of_step && first + pair_of_step < last;
        row = row_of(min(first + pair_of_step, last - 1), in_image);
        if constexpr (end != End::plain) {
            const X* const x = static_cast<const X*>(input.x);
#pragma unroll
            for (int o = 0; o < cell_rows; ++o)
#pragma unroll
                for (int j = 0; j < cell_pixels; ++j)
                    masks[o][j] = makes && inside(o, j) ? load_packed4(x + place_in(o) + j * plan.pitch) : Packed4<X>{};
        }
    };

    wait_for_first();
    const auto end_of_step = [&](int first) { return min(first + plan.pairs_of_step, stop); };
    copy_until(end_of_step(begin));
    enter(begin, end_of_step(begin));
    copy_until(end_of_step(end_of_step(begin)));
    if constexpr (end == End::mask_and_sums)
        if (group == 0 && active) {
            const auto channels = channels_of(input, static_cast<std::uint32_t>(channel));
            memory.channels[lane] = channels.mean;
            memory.channels[lanes + lane] = channels.scale;
            memory.channels[2 * lanes + lane] = channels.bias;
        }
    stage_weights<T, K>(filter, memory.taps, plan.tile, plan.pitch, true);

    for (int first = begin;;) {
        __pipeline_wait_prior(1); // the rows of the next step may still come
        __syncthreads();
        if (makes) {
            float4 sums[cell_rows][cell_pixels] = {};
            gather<T, K>(sums, ring, memory.taps + lane, in_image - reach, ring.place_of(row - reach),
                         static_cast<int>(chunk), plan);
            InputChannels channels{};
            if constexpr (end == End::mask_and_sums)
                channels = {memory.channels[lane], memory.channels[lanes + lane], memory.channels[2 * lanes + lane]};
            float4 total{}, products{};
#pragma unroll
            for (int o = 0; o < cell_rows; ++o) {
                X* const to = gx + place_in(o);
#pragma unroll
                for (int j = 0; j < cell_pixels; ++j) {
                    if (!inside(o, j))
                        continue;
                    float4& sum = sums[o][j];
                    if constexpr (end != End::plain) {
                        const float4 x = rounded<T, X>(unpack4<X>(masks[o][j]));
                        if constexpr (end == End::mask)
                            sum = where_positive(x, sum);
                        else if (input.relu)
                            sum = where_positive(normalised(x, channels), sum);
                        if constexpr (end == End::mask_and_sums) {
                            add_to(total, sum);
                            multiply_add(products, sum,
                                         make_float4(x.x - channels.mean.x, x.y - channels.mean.y,
                                                     x.z - channels.mean.z, x.w - channels.mean.w));
                        }
                    }
                    store4(to + j * plan.pitch, sum);
                }
            }
            if constexpr (end == End::mask_and_sums) {
                add_to(memory.sums[threadIdx.x], total); // no register is free for them during a gather
                add_to(memory.sums[blockDim.x + threadIdx.x], products);
            }
        }
        first = end_of_step(first);
        if (first >= stop)
            break;
        enter(first, end_of_step(first));
        __syncthreads(); // the rows of the last step have been read
        copy_until(end_of_step(end_of_step(first)));
    }

    if constexpr (end == End::mask_and_sums) {
        float4 total = memory.sums[threadIdx.x], products = memory.sums[blockDim.x + threadIdx.x];
        sum_over_pixels(total, products, memory.sums, static_cast<std::uint32_t>(group), plan.tile.pixels,
                        plan.tile.width);
        if (group == 0 && vector < plan.tile.vectors) {
            float* const to = partials + static_cast<std::int64_t>(blockIdx.x) * 2 * plan.pitch + channel;
            store4(to, total);
            store4(to + plan.pitch, products);
        }
    }
}

/// Cells that a block must have to be worth its way through shared memory, in a step and on the average of a full chip.
/// Below, a gather keeps more threads busy: it has one for four outputs.
constexpr std::int64_t least_cells = 96;

/// Of a block: a pixel takes at least 16 bytes of shared memory.
constexpr std::int64_t most_pixels = 16384;

bool is_served(const Depthwise& d) {
    using Pair = std::array<std::int64_t, 2>;
    const auto k = d.kernel[0];
    return (k == 3 || k == 5) && d.kernel[1] == k && d.stride == Pair{1, 1} && d.dilation == Pair{1, 1} &&
           d.padding == Pair{k / 2, k / 2} && d.y == d.x && fits_32_bits(d.n * (d.x[0] + 1)) &&
           fits_32_bits((d.x[1] + 8) * d.channels) && fits_32_bits(most_pixels * d.channels);
}

} // namespace

std::optional<DepthwiseRows> depthwise_rows(const Depthwise& d) {
    if (!is_served(d))
        return {};
    const Tile tile(d.channels, most_threads);
    const auto threads_of_pair = ceil_divide(d.x[1], cell_pixels) * tile.width;
    const auto pairs = d.n * ceil_divide(d.x[0], cell_rows);
    const auto blocks = blocks_a_multiprocessor * usual_multiprocessors;
    if (pairs * tile.slabs * threads_of_pair < blocks * least_cells)
        return {};
    // Blocks that all run at once, each with as many steps, of as many pairs.
    const auto of_block = ceil_divide(pairs, std::max<std::int64_t>(blocks / tile.slabs, 1));
    const auto room = shared_memory_of_block(blocks_a_multiprocessor);
    for (auto most = most_threads / threads_of_pair; most > 0; --most) {
        DepthwiseRows rows;
        rows.steps = static_cast<int>(ceil_divide(of_block, most));
        rows.pairs_of_step = static_cast<int>(ceil_divide(of_block, rows.steps));
        rows.blocks = static_cast<int>(ceil_divide(pairs, std::int64_t{rows.pairs_of_step} * rows.steps));
        rows.ring = static_cast<int>(cell_rows * rows.pairs_of_step * std::min(rows.steps, 2) + d.kernel[0] - 1);
        const auto cells = rows.pairs_of_step * threads_of_pair;
        rows.threads = cells <= most_threads / 2 ? most_threads / 2 : most_threads;
        if (cells < least_cells) // few pixels, or wide rows whose next pair does not fit
            return {};
        const Plan plan(d, rows);
        const auto bytes = size_of(d.type) == 2 ? Memory<half>(plan, rows.threads, nullptr).bytes
                                                : Memory<float>(plan, rows.threads, nullptr).bytes;
        if (bytes <= room)
            return rows;
    }
    return {};
}

void launch_depthwise_rows(const Depthwise& d, const DepthwiseRows& rows, const void* gy, const DepthwiseInput& input,
                           const Weights& filter, void* gx, float* partials, const LaunchStream& stream) {
    const Plan plan(d, rows);
    with_type(d.type, [&](auto element) {
        using T = decltype(element);
        const auto run = [&]<class X>(void (*kernel)(const T*, Weights, X*, DepthwiseInput, float*, Plan)) {
            enqueue(kernel, dim3(static_cast<unsigned>(rows.blocks), plan.tile.slabs),
                    dim3(static_cast<unsigned>(rows.threads)), Memory<T>(plan, rows.threads, nullptr).bytes, stream,
                    static_cast<const T*>(gy), filter, static_cast<X*>(gx), input, partials, plan);
        };
        const bool small = d.kernel[0] == 3;
        if (input.f32)
            return run(small ? rows_kernel<T, float, 3, End::mask> : rows_kernel<T, float, 5, End::mask>);
        switch (form_of(input)) {
        case InputForm::plain:
            return run(small ? rows_kernel<T, T, 3, End::plain> : rows_kernel<T, T, 5, End::plain>);
        case InputForm::relu:
            return run(small ? rows_kernel<T, T, 3, End::mask> : rows_kernel<T, T, 5, End::mask>);
        case InputForm::normalised:
            return run(small ? rows_kernel<T, T, 3, End::mask_and_sums> : rows_kernel<T, T, 5, End::mask_and_sums>);
        }
    });
}

} // namespace espalier::cuda
