// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise_input.cuh"
#include "backends/cuda/kernels/pointwise_tile.cuh"
#include "backends/cuda/kernels/separable_forward.h"

#include <cuda_pipeline.h>

#include <algorithm>
#include <numeric>

namespace espalier::cuda {
namespace {

using pointwise::Carver;

constexpr int most_threads = 512, least_threads = 128;
constexpr int blocks_a_multiprocessor = 2; // of most_threads
constexpr int chunk = 4;                   ///< neighbouring pixels of a row that a thread makes

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

/// Shared memory of one of the blocks that fill a multiprocessor.
std::size_t memory_of_block() {
    int device = 0, all = 0, reserved = 0, most = 0;
    ESPALIER_CUDA(cudaGetDevice(&device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return static_cast<std::size_t>(std::max(std::min(all / blocks_a_multiprocessor - reserved, most), 0));
}

std::size_t bytes_of(const Depthwise& d, const Pointwise& p, const SeparableTiles& t) {
    const Plan plan(d, p, t);
    return size_of(p.type) == 2 ? Memory<half>(plan, nullptr).bytes : Memory<float>(plan, nullptr).bytes;
}

/// A thread's way over the pixels that a tile reads, four channels each. They are copied without registers, so that
/// they can be on their way during the products of the tile before, and converted where they lie.
template <class T>
class Reader {
public:
    /// Threads of one lane of channels are `groups`; from `groups` on they have nothing to do.
    __device__ Reader(const Plan& plan, int group, int groups)
        : plan_(plan), group_(group), groups_(groups), step_rows_(groups / plan.width),
          step_pixels_(groups % plan.width) {}

    /// From the tile that begins with image row `first` and ends before `last`; v as in Memory, at a lane's channel.
    __device__ void copy(const T* x, float* v, int first, int last) const {
        const T* const from = x + static_cast<std::int64_t>(top(first)) * plan_.width * plan_.channels;
        for_each(v, first, last, [&](float* to, int pixel) {
            __pipeline_memcpy_async(to, from + pixel * plan_.channels, sizeof(Packed4<T>));
        });
        __pipeline_commit();
    }
    /// Waits for this thread's copies, and puts value(them) in their place.
    template <class Value>
    __device__ void convert(float* v, int first, int last, const Value& value) const {
        __pipeline_wait_prior(0);
        for_each(v, first, last, [&](float* at, int) { store4(at, value(load4(reinterpret_cast<const T*>(at)))); });
    }

private:
    [[nodiscard]] __device__ int top(int first) const { return max(first - plan_.kernel / 2, 0); }
    template <class Body>
    __device__ void for_each(float* v, int first, int last, const Body& body) const {
        if (group_ >= groups_)
            return;
        const int reach = plan_.kernel / 2, pitch = plan_.read_pitch(), row = plan_.read_pixels() * pitch;
        const int count = (min(last + reach, plan_.image_rows) - top(first)) * plan_.width;
        auto in_row = static_cast<std::uint32_t>(group_);
        const int row_of_first = top(first) - (first - reach) + static_cast<int>(plan_.pixels_of_row.split(in_row));
        int column = static_cast<int>(in_row);
        v += row_of_first * row + (column + reach) * pitch;
        const int step = step_rows_ * row + step_pixels_ * pitch, around = row - plan_.width * pitch;
#pragma unroll 4
        for (int pixel = group_; pixel < count; pixel += groups_) {
            body(v, pixel);
            v += step;
            column += step_pixels_;
            if (column >= plan_.width) {
                column -= plan_.width;
                v += around;
            }
        }
    }

    const Plan& plan_;
    int group_, groups_, step_rows_, step_pixels_;
};

/// The depthwise results of a thread: `chunk` neighbours of one row, four channels each. `from`: what the window of the
/// first begins with. `first_row`: of the image, that the window begins with.
template <int K>
__device__ void gather(float4 (&sums)[chunk], const float* from, const float4* taps, int first_row, const Plan& plan) {
    const int pitch = plan.read_pitch(), lanes = static_cast<int>(plan.lanes.value());
#pragma unroll
    for (int r = 0; r < K; ++r, from += plan.read_pixels() * pitch, taps += K * lanes) {
        if (static_cast<unsigned>(first_row + r) >= static_cast<unsigned>(plan.height))
            continue; // padding, or another image
        float4 w[K];
#pragma unroll
        for (int s = 0; s < K; ++s)
            w[s] = taps[s * lanes];
#pragma unroll
        for (int i = 0; i < chunk - 1 + K; ++i) {
            const float4 x = load4(from + i * pitch);
#pragma unroll
            for (int j = 0; j < chunk; ++j)
                if (const int s = i - j; s >= 0 && s < K)
                    multiply_add(sums[j], x, w[s]);
        }
    }
}

/// Products of a tile by one warp: blocks `slot`, slot + slots, ... of 16 pixels, columns from n. They go to z, and
/// their moments to those of the tiles before.
template <class T, bool tf32>
__device__ void multiply(const Memory<T>& memory, const Plan& plan, int slot, int n, int rows, T* z) {
    const int pitch = product_pitch<T>(plan.channels), lane = static_cast<int>(threadIdx.x) % 32;
    const Factor<T, true> a{memory.d, pitch}, b{memory.matrix, pitch};
    float4* const at = memory.moments + slot * plan.products + n + lane % 4 * 2; // two columns a lane
    float4 known[2] = {at[0], at[1]};
    float sum[2] = {}, squares[2] = {};
    for (int m = 16 * slot; m < rows; m += 16 * plan.slots) {
        Piece16x8 piece;
        multiply_piece<T, tf32>(piece, a, b, m, n, plan.channels);
        store_piece(piece, z, plan.products, m, n, rows);
#pragma unroll
        for (float& v : piece.v)
            v = to_float(from_float<T>(v)); // as whoever reads z sees it
        if (known[0].w == 0.0F) {           // the same in every lane
            known[0].x = __shfl_sync(0xffffffffU, piece.v[0], lane % 4);
            known[1].x = __shfl_sync(0xffffffffU, piece.v[1], lane % 4);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (m + lane / 4 + i / 2 * 8 < rows) {
                const float distance = piece.v[i] - known[i % 2].x;
                sum[i % 2] += distance;
                squares[i % 2] = fmaf(distance, distance, squares[i % 2]);
            }
        known[0].w += static_cast<float>(min(16, rows - m));
    }
#pragma unroll
    for (int offset = 4; offset < 32; offset *= 2)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            sum[i] += __shfl_xor_sync(0xffffffffU, sum[i], offset);
            squares[i] += __shfl_xor_sync(0xffffffffU, squares[i], offset);
        }
    if (lane < 4)
#pragma unroll
        for (int i = 0; i < 2; ++i)
            at[i] = make_float4(known[i].x, known[i].y + sum[i], known[i].z + squares[i], known[0].w);
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

template <class T, bool tf32, int K>
__global__ void __launch_bounds__(most_threads, blocks_a_multiprocessor)
    separable_forward_kernel(const DepthwiseInput input, const T* filter, const T* matrix, T* d, T* z, float* partials,
                             const Plan plan) {
    constexpr int reach = K / 2;
    extern __shared__ float4 shared[];
    const Memory<T> memory(plan, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int pitch = plan.read_pitch(), d_pitch = product_pitch<T>(plan.channels);
    const int lanes = static_cast<int>(plan.lanes.value());
    // Four channels of a thread, first as the reader of a pixel, then as the maker of a chunk of them.
    auto rest = static_cast<std::uint32_t>(thread);
    const int group = static_cast<int>(plan.lanes.split(rest)), groups = threads / lanes;
    const int channel = 4 * static_cast<int>(rest);
    rest = static_cast<std::uint32_t>(group);
    const int row = static_cast<int>(plan.chunks_of_row.split(rest)), column = chunk * static_cast<int>(rest);

    let_next_begin();
    const int zeros = plan.read_pixels() - plan.width;
    for (int i = group; i < plan.read_rows() * zeros && group < groups; i += groups) {
        const int zero = i % zeros, pixel = zero < reach ? zero : plan.width + zero;
        store4(memory.v + (i / zeros * plan.read_pixels() + pixel) * pitch + channel, float4{});
    }
    for (int i = thread; i < plan.slots * plan.products; i += threads)
        memory.moments[i] = float4{};
    wait_for_first();

    const int begin = static_cast<int>(blockIdx.x) * plan.tiles_each * plan.tile_height,
              end = min(begin + plan.tiles_each * plan.tile_height, plan.image_rows);
    const Reader<T> reader(plan, group, groups);
    const T* const x = static_cast<const T*>(input.x) + channel;
    reader.copy(x, memory.v + channel, begin, min(begin + plan.tile_height, end));
    for (int i = thread; i < K * K * lanes; i += threads)
        memory.taps[i] = load4(filter + 4 * i);
    for (int i = thread; i < plan.products * plan.channels / 8; i += threads) {
        auto eight = static_cast<std::uint32_t>(i);
        const auto product = plan.channel_eights.split(eight);
        store8(memory.matrix + product * d_pitch + 8 * eight, as_factor<tf32>(load8(matrix + 8 * i)));
    }

    for (int first = begin; first < end; first += plan.tile_height) {
        const int last = min(first + plan.tile_height, end); // and beyond
        if (input.mean != nullptr) {
            const auto norm = channels_of(input, static_cast<std::uint32_t>(channel));
            reader.convert(memory.v + channel, first, last,
                           [&](const float4& v) { return entered(v, norm, input.relu); });
        } else {
            reader.convert(memory.v + channel, first, last,
                           [&](const float4& v) { return input.relu ? positive(v) : v; });
        }
        __syncthreads();

        if (first + row < last) {
            auto in_image = static_cast<std::uint32_t>(first + row);
            plan.rows_of_image.split(in_image);
            float4 sums[chunk] = {};
            gather<K>(sums, memory.v + (row * plan.read_pixels() + column) * pitch + channel, memory.taps + channel / 4,
                      static_cast<int>(in_image) - reach, plan);
            const int pixel = row * plan.width + column;
            T* const to = d + (static_cast<std::int64_t>(first) * plan.width + pixel) * plan.channels + channel;
            T* const factor = memory.d + pixel * d_pitch + channel;
#pragma unroll
            for (int j = 0; j < chunk; ++j)
                if (column + j < plan.width) {
                    const float4& v = sums[j];
                    store4(to + j * plan.channels, v);
                    store4(factor + j * d_pitch, make_float4(as_factor<tf32>(v.x), as_factor<tf32>(v.y),
                                                             as_factor<tf32>(v.z), as_factor<tf32>(v.w)));
                }
        }
        __syncthreads();

        if (last < end)
            reader.copy(x, memory.v + channel, last, min(last + plan.tile_height, end));
        const int tasks = plan.slots * (plan.products / 8);
        for (int task = thread / 32; task < tasks; task += threads / 32) {
            auto eight = static_cast<std::uint32_t>(task);
            const int slot = static_cast<int>(plan.product_eights.split(eight));
            multiply<T, tf32>(memory, plan, slot, 8 * static_cast<int>(eight), (last - first) * plan.width,
                              z + static_cast<std::int64_t>(first) * plan.width * plan.products);
        }
    }

    __syncthreads();
    for (int i = thread; i < plan.products; i += threads) {
        const float2 result = merged(memory.moments + i, plan.slots, plan.products);
        float* const to = partials + static_cast<std::int64_t>(blockIdx.x) * 2 * plan.products + i;
        to[0] = result.x;
        to[plan.products] = result.y;
    }
}

template <class T, bool tf32>
void launch(const Depthwise& d, const Pointwise& p, const SeparableTiles& t, const SeparableTensors& tensors,
            const LaunchStream& stream) {
    const Plan plan(d, p, t);
    const auto kernel = plan.kernel == 3 ? separable_forward_kernel<T, tf32, 3> : separable_forward_kernel<T, tf32, 5>;
    enqueue(kernel, dim3(static_cast<unsigned>(t.blocks)), dim3(static_cast<unsigned>(t.threads)),
            Memory<T>(plan, nullptr).bytes, stream, tensors.input, static_cast<const T*>(tensors.filter),
            static_cast<const T*>(tensors.matrix), static_cast<T*>(tensors.d), static_cast<T*>(tensors.z),
            tensors.partials, plan);
}

} // namespace

std::optional<SeparableTiles> separable_tiles(const Depthwise& d, const Pointwise& p) {
    const auto ceil_divide = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const auto room = memory_of_block();
    const auto row_threads = ceil_divide(d.x[1], chunk) * (p.channels / 4), image_rows = d.n * d.x[0];
    const auto cut = [&](std::int64_t height) {
        SeparableTiles t;
        t.height = static_cast<int>(height);
        t.threads = static_cast<int>(ceil_divide(height * row_threads, 32) * 32);
        const auto warps = t.threads / 32, eights = static_cast<int>(p.products / 8);
        // So that every warp has as many of the products, but no more slots than blocks of 16 pixels.
        t.slots =
            static_cast<int>(std::min<std::int64_t>(warps / std::gcd(warps, eights), ceil_divide(height * d.x[1], 16)));
        return t;
    };
    auto most = most_threads / row_threads;
    while (most > 0 && bytes_of(d, p, cut(most)) > room)
        --most;
    if (most < d.kernel[0] - 1) // more would be read around a tile than in it
        return {};
    // Blocks that all run at once, each with as many tiles, of as much height.
    const auto blocks = std::int64_t{blocks_a_multiprocessor} * p.multiprocessors;
    const auto rounds = ceil_divide(image_rows, blocks * most);
    const auto least = std::min({ceil_divide(least_threads, row_threads), most, image_rows});
    auto t = cut(std::max(ceil_divide(image_rows, blocks * rounds), least));
    t.tiles_each = static_cast<int>(rounds);
    t.blocks = static_cast<int>(ceil_divide(image_rows, std::int64_t{t.height} * t.tiles_each));
    return t;
}

ChannelTiles separable_slices(const Depthwise& d, const Pointwise& p, const SeparableTiles& tiles) {
    ChannelTiles t;
    t.rows = static_cast<int>(p.rows);
    t.slice_rows = static_cast<int>(tiles.height * tiles.tiles_each * d.x[1]);
    t.slices = tiles.blocks;
    t.channels = static_cast<int>(p.real_products);
    t.pitch = static_cast<int>(p.products);
    return narrowed(t);
}

void launch_separable_forward(const Depthwise& d, const Pointwise& p, const SeparableTiles& tiles,
                              const SeparableTensors& tensors, const LaunchStream& stream) {
    if (p.type == DType::f32)
        return p.tf32 ? launch<float, true>(d, p, tiles, tensors, stream)
                      : launch<float, false>(d, p, tiles, tensors, stream);
    if (p.type == DType::f16)
        return launch<half, false>(d, p, tiles, tensors, stream);
    launch<bfloat16, false>(d, p, tiles, tensors, stream);
}

} // namespace espalier::cuda
