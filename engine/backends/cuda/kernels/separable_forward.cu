// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise_input.cuh"
#include "backends/cuda/kernels/separable_forward.h"
#include "backends/cuda/kernels/separable_tile.cuh"
#include "backends/cuda/kernels/weights.cuh"

namespace espalier::cuda {
namespace {

using namespace separable;
using pointwise::block_threads, pointwise::block_warps;

/// The depthwise results of a thread, four channels each: a cell of `Rows` rows of an image by `chunk` pixels. `from`:
/// where the window of the first begins. `first_row`: of the image, that this window begins with.
template <int K, int Rows>
__device__ void gather(float4 (&sums)[Rows][chunk], const float* from, const float4* taps, int first_row,
                       const Plan& plan) {
    const int lanes = static_cast<int>(plan.lanes.value());
    float4 w[Rows][K]; // what each row of the cell takes from one row of v
#pragma unroll
    for (int r = 0; r < K + Rows - 1; ++r, from += plan.read_pitch, taps += K * lanes) {
#pragma unroll
        for (int s = 0; s < K; ++s) {
#pragma unroll
            for (int o = Rows - 1; o > 0; --o)
                w[o][s] = w[o - 1][s];
            if (r < K)
                w[0][s] = taps[s * lanes];
        }
        if (static_cast<unsigned>(first_row + r) >= static_cast<unsigned>(plan.height))
            continue; // padding, or another image
#pragma unroll
        for (int i = 0; i < chunk - 1 + K; ++i) {
            const float4 x = load4(from + plan.place(i));
#pragma unroll
            for (int o = 0; o < Rows; ++o)
                if (o <= r && r - o < K)
#pragma unroll
                    for (int j = 0; j < chunk; ++j)
                        if (const int s = i - j; s >= 0 && s < K)
                            multiply_add(sums[o][j], x, w[o][s]);
        }
    }
}

/// What is known of the two columns of a piece that a lane has, of the tiles before and of this one.
struct ColumnMoments {
    float4 known[2];
    float sum[2] = {}, squares[2] = {};

    __device__ explicit ColumnMoments(const float4* at) : known{at[0], at[1]} {}

    /// Of the pixels of a piece that are there: `rows` of them, in this warp.
    __device__ void add(const Piece16x8& piece, int rows) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        if (known[0].w == 0.0F) { // the same in every lane
            known[0].x = __shfl_sync(0xffffffffU, piece.v[0], lane % 4);
            known[1].x = __shfl_sync(0xffffffffU, piece.v[1], lane % 4);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (lane / 4 + i / 2 * 8 < rows) {
                const float distance = piece.v[i] - known[i % 2].x;
                sum[i % 2] += distance;
                squares[i % 2] = fmaf(distance, distance, squares[i % 2]);
            }
        known[0].w += static_cast<float>(max(min(16, rows), 0));
    }
    /// Back to where they came from, with the sums of all lanes.
    __device__ void put(float4* at) {
#pragma unroll
        for (int offset = 4; offset < 32; offset *= 2)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                sum[i] += __shfl_xor_sync(0xffffffffU, sum[i], offset);
                squares[i] += __shfl_xor_sync(0xffffffffU, squares[i], offset);
            }
        if (threadIdx.x % 32 < 4)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                at[i] = make_float4(known[i].x, known[i].y + sum[i], known[i].z + squares[i], known[0].w);
    }
};

/// Products of a tile by one warp: blocks `slot`, slot + slots, ... of 16 pixels, columns from n. They go to z, and
/// their moments to those of the tiles before.
template <class T, bool tf32>
__device__ void multiply(const Memory<T>& memory, const Plan& plan, int slot, int n, int rows, T* z) {
    const int pitch = product_pitch<T>(plan.channels), lane = static_cast<int>(threadIdx.x) % 32;
    const Factor<T, true> a{memory.d, pitch}, b{memory.matrix, pitch};
    const bool has_second = n + 8 < plan.products;
    const int columns[2] = {n, has_second ? n + 8 : n};
    float4* const at = memory.moments + slot * plan.products + lane % 4 * 2; // two columns a lane
    ColumnMoments moments[2] = {ColumnMoments(at + columns[0]), ColumnMoments(at + columns[1])};
    // Two by two pieces at once: they share their factors, and none waits for another.
    for (int first = 16 * slot; first < rows; first += 32 * plan.slots) {
        const int second = first + 16 * plan.slots;
        const int m[2] = {first, second < rows ? second : first};
        Piece16x8 pieces[2][2];
        multiply_block<T, tf32>(pieces, a, b, m, columns, plan.channels);
#pragma unroll
        for (int p = 0; p < 2; ++p)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                Piece16x8& piece = pieces[p][q];
                const int begin = p == 0 ? first : second; // may lie behind the tile
                if (q == 0 || has_second)
                    store_piece(piece, z, plan.products, begin, columns[q], rows);
#pragma unroll
                for (float& v : piece.v)
                    v = to_float(from_float<T>(v)); // as whoever reads z sees it
                moments[q].add(piece, rows - begin);
            }
    }
    __syncwarp(); // all lanes have read what four of them write
    moments[0].put(at + columns[0]);
    if (has_second)
        moments[1].put(at + columns[1]);
}

/// Mean, and sum of squared distances from it, of a column from what the slots know of it. The first slot has pixels.
__device__ float2 merged(const float4* moments, int slots, int products) {
    const float shift = moments[0].x;
    float sum = 0, squares = 0, count = 0;
    for (int slot = 0; slot < slots; ++slot) {
        const float4 m = moments[slot * products];
        if (m.w == 0.0F)
            continue;
        const float apart = m.x - shift, moved = m.w * apart;
        sum += m.y + moved;
        squares += fmaf(apart, fmaf(2.0F, m.y, moved), m.z);
        count += m.w;
    }
    const float offset = sum / count;
    return make_float2(shift + offset, fmaxf(squares - sum * offset, 0.0F));
}

/// X: the type of x, T or float.
template <class T, class X, bool tf32, int K, int Rows>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    separable_forward_kernel(const DepthwiseInput input, const Weights filter, const Weights matrix, T* d, T* z,
                             float* partials, const Plan plan) {
    constexpr int reach = K / 2;
    extern __shared__ float4 shared[];
    const Memory<T> memory(plan, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x);
    const int d_pitch = product_pitch<T>(plan.channels);
    const int lanes = static_cast<int>(plan.lanes.value());
    // Four channels of a thread, first as the reader of a pixel, then as the maker of a chunk of them.
    auto rest = static_cast<std::uint32_t>(thread);
    const int group = static_cast<int>(plan.lanes.split(rest)), groups = block_threads / lanes;
    const int channel = 4 * static_cast<int>(rest);
    rest = static_cast<std::uint32_t>(group);
    const int row = Rows * static_cast<int>(plan.chunks_of_row.split(rest)), column = chunk * static_cast<int>(rest);

    let_next_begin();
    const int zeros = plan.read_pixels() - plan.width;
    for (int i = group; i < plan.read_rows() * zeros && group < groups; i += groups) {
        const int zero = i % zeros, pixel = zero < reach ? zero : plan.width + zero;
        store4(memory.v + i / zeros * plan.read_pitch + plan.place(pixel) + channel, float4{});
    }
    for (int i = thread; i < plan.slots * plan.products; i += block_threads)
        memory.moments[i] = float4{};
    const Reader<X> reader(plan, memory.v + channel, group, groups);
    wait_for_first();

    const int begin = static_cast<int>(blockIdx.x) * plan.tiles_each * plan.tile_height,
              end = min(begin + plan.tiles_each * plan.tile_height, plan.image_rows);
    const X* const x = static_cast<const X*>(input.x) + channel;
    reader.copy(x, begin, min(begin + plan.tile_height, end));
    with_elements<T>(filter, [&]<class From>(const From* from) {
        for (int i = thread; i < K * K * lanes; i += block_threads)
            memory.taps[i] = rounded<T, From>(load4(from + 4 * i));
    });
    with_elements<T>(matrix, [&](const auto* from) {
        for (int i = thread; i < plan.products * plan.channels / 8; i += block_threads) {
            auto eight = static_cast<std::uint32_t>(i);
            const auto product = plan.channel_eights.split(eight);
            store8(memory.matrix + product * d_pitch + 8 * eight, as_factor<tf32>(load8(from + 8 * i)));
        }
    });

    for (int first = begin; first < end; first += plan.tile_height) {
        const int last = min(first + plan.tile_height, end); // and beyond
        if (input.mean != nullptr) {
            const auto norm = channels_of(input, static_cast<std::uint32_t>(channel));
            reader.convert(first, last, [&](const float4& v) { return entered(v, norm, input.relu); });
        } else {
            reader.convert(first, last, [&](const float4& v) {
                const float4 held = rounded<T, X>(v);
                return input.relu ? positive(held) : held;
            });
        }
        __syncthreads();

        if (first + row < last) {
            auto in_image = static_cast<std::uint32_t>(first + row);
            plan.rows_of_image.split(in_image);
            float4 sums[Rows][chunk] = {};
            gather<K>(sums, memory.v + row * plan.read_pitch + plan.place(column) + channel, memory.taps + channel / 4,
                      static_cast<int>(in_image) - reach, plan);
            int pixel = row * plan.width + column;
#pragma unroll
            for (int o = 0; o < Rows; ++o, pixel += plan.width) {
                T* const to = d + (static_cast<std::int64_t>(first) * plan.width + pixel) * plan.channels + channel;
                T* const factor = memory.d + pixel * d_pitch + channel;
#pragma unroll
                for (int j = 0; j < chunk; ++j)
                    if (column + j < plan.width) {
                        const float4& v = sums[o][j];
                        store4(to + j * plan.channels, v);
                        store4(factor + j * d_pitch, make_float4(as_factor<tf32>(v.x), as_factor<tf32>(v.y),
                                                                 as_factor<tf32>(v.z), as_factor<tf32>(v.w)));
                    }
            }
        }
        __syncthreads();

        if (last < end)
            reader.copy(x, last, min(last + plan.tile_height, end));
        const int tasks = plan.slots * static_cast<int>(plan.product_sixteens.value());
        for (int task = thread / 32; task < tasks; task += block_warps) {
            auto sixteen = static_cast<std::uint32_t>(task);
            const int slot = static_cast<int>(plan.product_sixteens.split(sixteen));
            multiply<T, tf32>(memory, plan, slot, 16 * static_cast<int>(sixteen), (last - first) * plan.width,
                              z + static_cast<std::int64_t>(first) * plan.width * plan.products);
        }
    }

    __syncthreads();
    for (int i = thread; i < plan.products; i += block_threads) {
        const float2 result = merged(memory.moments + i, plan.slots, plan.products);
        float* const to = partials + static_cast<std::int64_t>(blockIdx.x) * 2 * plan.products + i;
        to[0] = result.x;
        to[plan.products] = result.y;
    }
}

template <class T, class X, bool tf32>
void launch(const Depthwise& d, const Pointwise& p, const SeparableTiles& t, const SeparableTensors& tensors,
            const LaunchStream& stream) {
    const Plan plan(d, p, t);
    const auto run = [&](auto kernel) {
        enqueue(kernel, dim3(static_cast<unsigned>(t.blocks)), dim3(block_threads), Memory<T>(plan, nullptr).bytes,
                stream, tensors.input, tensors.filter, tensors.matrix, static_cast<T*>(tensors.d),
                static_cast<T*>(tensors.z), tensors.partials, plan);
    };
    if (plan.kernel == 3)
        run(t.cell_rows == 1 ? separable_forward_kernel<T, X, tf32, 3, 1> : separable_forward_kernel<T, X, tf32, 3, 2>);
    else
        run(t.cell_rows == 1 ? separable_forward_kernel<T, X, tf32, 5, 1> : separable_forward_kernel<T, X, tf32, 5, 2>);
}

template <class T>
void launch_halves(const Depthwise& d, const Pointwise& p, const SeparableTiles& t, const SeparableTensors& tensors,
                   const LaunchStream& stream) {
    tensors.input.f32 ? launch<T, float, false>(d, p, t, tensors, stream)
                      : launch<T, T, false>(d, p, t, tensors, stream);
}

} // namespace

void launch_separable_forward(const Depthwise& d, const Pointwise& p, const SeparableTiles& tiles,
                              const SeparableTensors& tensors, const LaunchStream& stream) {
    if (p.type == DType::f32)
        return p.tf32 ? launch<float, float, true>(d, p, tiles, tensors, stream)
                      : launch<float, float, false>(d, p, tiles, tensors, stream);
    if (p.type == DType::f16)
        return launch_halves<half>(d, p, tiles, tensors, stream);
    launch_halves<bfloat16>(d, p, tiles, tensors, stream);
}

} // namespace espalier::cuda
