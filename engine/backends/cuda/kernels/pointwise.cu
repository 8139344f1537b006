// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/pointwise_tile.cuh"

#include <algorithm>

namespace espalier::cuda {
namespace pointwise {
namespace {

/// Fewer rows than this do not pay for a block's beginning and end.
constexpr std::int64_t least_rows = 32;
constexpr std::int64_t blocks_a_multiprocessor = 3;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return ceil_divide(value, unit) * unit; }

} // namespace

Cut cut(const Pointwise& s) {
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    Cut c;
    const auto blocks = blocks_a_multiprocessor * s.multiprocessors;
    const auto rows = std::max(round_up(ceil_divide(s.rows, blocks), 16), least_rows);
    const auto lanes = block_threads / (std::max(s.channels, s.products) / 8);
    const auto most = std::max<std::int64_t>(2 * lanes / 16 * 16, 32);
    c.rows = as_int(s.rows);
    c.slice_rows = as_int(rows);
    c.slices = as_int(ceil_divide(s.rows, rows));
    // Tiles of one size, about.
    c.tile_rows = as_int(round_up(ceil_divide(rows, ceil_divide(rows, std::min<std::int64_t>(most, 256))), 16));
    c.channels = as_int(s.channels), c.products = as_int(s.products);
    c.channel_eights = Divisor(s.channels / 8);
    c.product_eights = Divisor(s.products / 8);
    return c;
}

} // namespace pointwise

using namespace pointwise;

std::string refusal(const Pointwise& s) {
    if (s.channels > 64 || s.products > 64)
        return "at most 64 channels are fused";
    if (s.rows * 64 > most_rows)
        return "the images are too large to be fused";
    return {};
}

ChannelTiles pointwise_slices(const Pointwise& s) {
    const Cut c = cut(s);
    ChannelTiles t;
    t.rows = c.rows;
    t.slice_rows = c.slice_rows;
    t.slices = c.slices;
    t.channels = static_cast<int>(s.real_products);
    t.pitch = c.products;
    return narrowed(t);
}

namespace {

/// Shared memory of a block.
template <class T>
struct Memory {
    T* d;         ///< [tile_rows][pitch]
    T* z;         ///< [tile_rows][pitch]
    T* matrix;    ///< [products][pitch]
    float* shift; ///< [products]: a value near the mean of each
    float* sums;  ///< at the end, in the place of d and z: [2][lanes][products]
    std::size_t bytes;

    __host__ __device__ Memory(const Cut& c, unsigned char* base) {
        Carver carve(base);
        // A piece of a product may reach 8 columns beyond the last row.
        d = carve.take<T>(c.tile_rows * product_pitch<T>(c.channels) + 8);
        z = carve.take<T>(c.tile_rows * product_pitch<T>(c.products) + 8);
        sums = reinterpret_cast<float*>(d);
        const std::size_t least = sizeof(float) * 2 * 8 * block_threads;
        if (carve.bytes() < least)
            carve.take<unsigned char>(static_cast<int>(least - carve.bytes()));
        matrix = carve.take<T>(c.products * product_pitch<T>(c.channels));
        shift = carve.take<float>(c.products);
        bytes = carve.bytes();
    }
};

template <class T, bool tf32>
__global__ void __launch_bounds__(block_threads, 3)
    pointwise_kernel(const T* d, const T* matrix, T* z, float* partials, Cut c) {
    extern __shared__ float4 shared[];
    const Memory<T> memory(c, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int d_pitch = product_pitch<T>(c.channels), z_pitch = product_pitch<T>(c.products);
    const Columns of_d(c.channels), of_z(c.products);
    const int begin = static_cast<int>(blockIdx.x) * c.slice_rows, end = min(begin + c.slice_rows, c.rows);

    take_turn();
    for (int i = thread; i < c.products * c.channels / 8; i += block_threads) {
        auto column = static_cast<std::uint32_t>(i);
        const auto row = c.channel_eights.split(column);
        store8(memory.matrix + row * d_pitch + 8 * column, as_factor<tf32>(load8(matrix + 8 * i)));
    }

    Eight sum{}, squares{};
    for (int first = begin; first < end; first += c.tile_rows) {
        const int rows = min(c.tile_rows, end - first), whole = (rows + 15) / 16 * 16;
        // Whoever still reads d has passed the barrier behind the products.
        if (of_d.active())
#pragma unroll 4
            for (int row = of_d.lane; row < whole; row += of_d.lanes) {
                Packed<T> packed{};
                if (row < rows)
                    packed = load_packed(d + static_cast<std::int64_t>(first + row) * c.channels + of_d.column);
                if constexpr (tf32)
                    store8(memory.d + row * d_pitch + of_d.column, as_factor<tf32>(unpack(packed)));
                else
                    *reinterpret_cast<Packed<T>*>(memory.d + row * d_pitch + of_d.column) = packed;
            }
        __syncthreads();

        const Factor<T, true> a{memory.d, d_pitch}, b{memory.matrix, d_pitch};
        const int pieces = whole / 16 * (c.products / 8);
        for (int i = warp; i < pieces; i += block_warps) {
            auto across = static_cast<std::uint32_t>(i);
            const int m = static_cast<int>(c.product_eights.split(across)) * 16, n = static_cast<int>(across) * 8;
            Piece16x8 piece;
            multiply_piece<T, tf32>(piece, a, b, m, n, c.channels);
            store_piece(piece, memory.z, z_pitch, m, n, rows);
        }
        __syncthreads();

        if (first == begin) {
            if (thread < c.products)
                memory.shift[thread] = to_float(memory.z[thread]);
            __syncthreads();
        }
        if (of_z.active()) {
            const Eight shift = load8(memory.shift + of_z.column);
            T* to = z + static_cast<std::int64_t>(first) * c.products + of_z.column;
#pragma unroll 2
            for (int row = of_z.lane; row < rows; row += of_z.lanes) {
                const Packed<T> packed = load_packed(memory.z + row * z_pitch + of_z.column);
                *reinterpret_cast<Packed<T>*>(to + static_cast<std::int64_t>(row) * c.products) = packed;
                const Eight v = unpack(packed);
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const float distance = v.v[j] - shift.v[j];
                    sum.v[j] += distance;
                    squares.v[j] = fmaf(distance, distance, squares.v[j]);
                }
            }
        }
    }

    // Lanes meet in shared memory, half of them at a time.
    __syncthreads();
    float *a = memory.sums + 8 * thread, *b = a + 8 * block_threads; // = [lane][products]
    store8(a, sum);
    store8(b, squares);
    const int step = 8 * of_z.vectors;
    for (int lanes = of_z.lanes; lanes > 1;) {
        const int half = (lanes + 1) / 2;
        __syncthreads();
        if (of_z.lane + half < lanes) {
            const Eight more_a = load8(a + half * step), more_b = load8(b + half * step);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                sum.v[j] += more_a.v[j];
                squares.v[j] += more_b.v[j];
            }
            store8(a, sum);
            store8(b, squares);
        }
        lanes = half;
    }
    if (of_z.lane == 0) {
        const Eight shift = load8(memory.shift + of_z.column);
        const auto count = static_cast<float>(end - begin);
        Eight mean, distances;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const float offset = sum.v[j] / count;
            mean.v[j] = shift.v[j] + offset;
            distances.v[j] = fmaxf(squares.v[j] - sum.v[j] * offset, 0.0F);
        }
        float* to = partials + static_cast<std::int64_t>(blockIdx.x) * 2 * c.products + of_z.column;
        store8(to, mean);
        store8(to + c.products, distances);
    }
}

template <class T, bool tf32>
void launch(const Pointwise& s, const void* d, const void* matrix, void* z, float* partials,
            const LaunchStream& stream) {
    const Cut c = cut(s);
    enqueue(pointwise_kernel<T, tf32>, dim3(static_cast<unsigned>(c.slices)), dim3(block_threads),
            Memory<T>(c, nullptr).bytes, stream, static_cast<const T*>(d), static_cast<const T*>(matrix),
            static_cast<T*>(z), partials, c);
}

} // namespace

void launch_pointwise(const Pointwise& s, const void* d, const void* matrix, void* z, float* partials,
                      const LaunchStream& stream) {
    if (s.type == DType::f32)
        return s.tf32 ? launch<float, true>(s, d, matrix, z, partials, stream)
                      : launch<float, false>(s, d, matrix, z, partials, stream);
    if (s.type == DType::f16)
        return launch<half, false>(s, d, matrix, z, partials, stream);
    launch<bfloat16, false>(s, d, matrix, z, partials, stream);
}

} // namespace espalier::cuda
