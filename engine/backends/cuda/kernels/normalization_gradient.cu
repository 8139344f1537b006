// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_map.cuh"
#include "backends/cuda/kernels/normalization.h"

namespace espalier::cuda {
namespace {

/// Rows that a thread loads before it uses the first: fewer than in the forward, as up to three tensors are read.
template <class T, bool masked>
inline constexpr int rows_at_once = sizeof(T) == 2 || masked ? 2 : 4;

/// Calls visit(place, x, gy) for all that this thread has of its rows, gy masked by y > 0 where that is asked. Some
/// rows are read before the first is visited, so that a visit may write what it was given.
template <class T, bool masked, class Visit>
__device__ void visit_rows(const T* x, const T* gy, const T* y, const ChannelTiles& t, const Place& p, Visit visit) {
    constexpr int some = rows_at_once<T, masked>;
    const auto step = step_of(t, p);
    const auto load = [](const T* from) { return *reinterpret_cast<const uint4*>(from); };
    auto at = first_of(t, p);
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes, at += some * step) {
        uint4 raw_x[some], raw_gy[some], raw_y[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                raw_x[u] = load(x + at + u * step);
                raw_gy[u] = load(gy + at + u * step);
                if constexpr (masked)
                    raw_y[u] = load(y + at + u * step);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                auto value = unpack_map<T>(raw_gy[u]);
                if constexpr (masked) {
                    const auto vy = unpack_map<T>(raw_y[u]);
#pragma unroll
                    for (int j = 0; j < map_width<T>; ++j)
                        value.v[j] = vy.v[j] > 0.0F ? value.v[j] : 0.0F;
                }
                visit(at + u * step, unpack_map<T>(raw_x[u]), value);
            }
    }
}

/// Sums over this thread's rows: a of the masked gy, b of its products with x - mean. Leaves the masked gy in
/// gresidual.
template <class T, bool masked>
__device__ void thread_sums(const NormalizeGradient& g, const ChannelTiles& t, const Place& p, MapValues<T>& a,
                            MapValues<T>& b) {
    T* gresidual = static_cast<T*>(g.gresidual);
    MapValues<T> mean{};
    if (p.active)
        mean = load_coefficients<T>(g.mean + p.channel);
    visit_rows<T, masked>(static_cast<const T*>(g.x), static_cast<const T*>(g.gy), static_cast<const T*>(g.y), t, p,
                          [&](std::int64_t at, const MapValues<T>& x, const MapValues<T>& gy) {
#pragma unroll
                              for (int j = 0; j < map_width<T>; ++j) {
                                  a.v[j] += gy.v[j];
                                  b.v[j] = fmaf(gy.v[j], x.v[j] - mean.v[j], b.v[j]);
                              }
                              if (gresidual != nullptr)
                                  store_map(gresidual + at, gy);
                          });
}

/// This block's sums, in the threads below the tile's width.
template <class T>
__device__ Partial sum_slice(const NormalizeGradient& g, const ChannelTiles& t, const Place& p,
                             ReductionMemory& memory) {
    MapValues<T> a{}, b{};
    if (g.y != nullptr)
        thread_sums<T, true>(g, t, p, a, b);
    else
        thread_sums<T, false>(g, t, p, a, b);
    return merge_lanes<Sums>(t, p, a, b, memory);
}

/// gx = scale g + slope x + offset, by channel.
struct GradientMemory {
    alignas(16) float scale[most_tile_width];
    alignas(16) float slope[most_tile_width];
    alignas(16) float offset[most_tile_width];
};

/// What the sums of a channel are finished with; asked for early, so that it comes together with what they are made of.
struct GivenChannel {
    int channel;
    bool here = false; ///< within the tile
    float mean = 0, inv_std = 0, weight = 1;

    __device__ GivenChannel(const NormalizeGradient& g, const ChannelTiles& t)
        : channel(static_cast<int>(blockIdx.x) * 8 * t.groups + static_cast<int>(threadIdx.x)) {
        here = static_cast<int>(threadIdx.x) < 8 * t.groups && channel < t.pitch;
        if (here) {
            inv_std = g.inv_std[channel];
            mean = g.mean[channel];
            if (g.weight != nullptr)
                weight = g.weight[channel];
        }
    }
};

/// From the sums over the whole batch, in the threads below the tile's width: gweight and gbias, written by the first
/// slice, and the coefficients of gx. Ioffe and Szegedy, "Batch Normalization" (2015), section 3.
__device__ void finish_sums(const NormalizeGradient& g, const GivenChannel& given, const ChannelTiles& t,
                            const Place& p, const Partial& sums, GradientMemory& memory) {
    if (given.here) {
        const int thread = static_cast<int>(threadIdx.x);
        const auto count = static_cast<float>(t.rows);
        const float gweight = sums.b * given.inv_std;
        const float scale = given.inv_std * given.weight;
        const float slope = -scale * given.inv_std * gweight / count;
        memory.scale[thread] = scale;
        memory.slope[thread] = slope;
        memory.offset[thread] = -scale * sums.a / count - slope * given.mean;
        if (p.slice == 0) {
            if (g.gweight != nullptr)
                g.gweight[given.channel] = gweight;
            if (g.gbias != nullptr)
                g.gbias[given.channel] = sums.a;
        }
    }
    __syncthreads();
}

/// gx may be x, gy or y: each thread reads its rows before it writes them.
template <class T, bool masked>
__device__ void write_gx(const NormalizeGradient& g, const ChannelTiles& t, const Place& p,
                         const GradientMemory& memory) {
    // What sum_slice left in gresidual is masked already.
    const auto* given = static_cast<const T*>(masked || g.gresidual == nullptr ? g.gy : g.gresidual);
    T* gx = static_cast<T*>(g.gx);
    const auto scale = load_coefficients<T>(memory.scale + p.column),
               slope = load_coefficients<T>(memory.slope + p.column),
               offset = load_coefficients<T>(memory.offset + p.column);
    visit_rows<T, masked>(static_cast<const T*>(g.x), given, static_cast<const T*>(g.y), t, p,
                          [&](std::int64_t at, const MapValues<T>& x, const MapValues<T>& gy) {
                              MapValues<T> value;
#pragma unroll
                              for (int j = 0; j < map_width<T>; ++j)
                                  value.v[j] = fmaf(scale.v[j], gy.v[j], fmaf(slope.v[j], x.v[j], offset.v[j]));
                              store_map(gx + at, value);
                          });
}

template <class T>
__device__ void write_gx(const NormalizeGradient& g, const ChannelTiles& t, const Place& p,
                         const GradientMemory& memory) {
    if (g.gx == nullptr)
        return;
    if (g.y != nullptr && g.gresidual == nullptr)
        write_gx<T, true>(g, t, p, memory);
    else
        write_gx<T, false>(g, t, p, memory);
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    gradient_sums_kernel(NormalizeGradient g, ChannelTiles t, float* partials) {
    __shared__ ReductionMemory memory;
    const auto p = map_place_of<T>(t);
    take_turn();
    store_partial(t, p, sum_slice<T>(g, t, p, memory), partials);
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    gradient_end_kernel(NormalizeGradient g, ChannelTiles t, const float* partials) {
    __shared__ ReductionMemory memory;
    __shared__ GradientMemory coefficients;
    const auto p = map_place_of<T>(t);
    take_turn();
    const GivenChannel given(g, t);
    finish_sums(g, given, t, p, merge_partials<Sums>(t, partials, memory), coefficients);
    write_gx<T>(g, t, p, coefficients);
}

template <class T>
__global__ void __launch_bounds__(tile_threads) gradient_once_kernel(NormalizeGradient g, ChannelTiles t) {
    __shared__ ReductionMemory memory;
    __shared__ GradientMemory coefficients;
    const auto p = map_place_of<T>(t);
    take_turn();
    const auto sums = sum_slice<T>(g, t, p, memory);
    finish_sums(g, GivenChannel(g, t), t, p, sums, coefficients);
    write_gx<T>(g, t, p, coefficients);
}

template <class T>
__device__ Partial sum_slice(const T* x, const ChannelTiles& t, const Place& p, ReductionMemory& memory) {
    constexpr int some = sizeof(T) == 2 ? 4 : 2; // on their way together
    const auto step = step_of(t, p);
    auto at = first_of(t, p);
    Eight sum{};
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes, at += some * step) {
        Packed<T> packed[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end)
                packed[u] = load_packed(x + at + u * step);
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                const Eight v = unpack(packed[u]);
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum.v[j] += v.v[j];
            }
    }
    return merge_lanes<Sums>(t, p, sum, Eight{}, memory);
}

__device__ void store_sum(const ChannelTiles& t, const Partial& sum, float* result) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = static_cast<int>(blockIdx.x) * 8 * t.groups + thread;
    if (blockIdx.y == 0 && thread < 8 * t.groups && channel < t.pitch)
        result[channel] = sum.a;
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2) channel_sum_kernel(const T* x, ChannelTiles t, float* partials) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    take_turn();
    store_partial(t, p, sum_slice(x, t, p, memory), partials);
}

__global__ void __launch_bounds__(tile_threads, 2)
    channel_sum_end_kernel(ChannelTiles t, const float* partials, float* result) {
    __shared__ ReductionMemory memory;
    take_turn();
    store_sum(t, merge_partials<Sums>(t, partials, memory), result);
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2) channel_sum_once_kernel(const T* x, ChannelTiles t, float* result) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    take_turn();
    store_sum(t, sum_slice(x, t, p, memory), result);
}

} // namespace

void launch_batch_norm_gradient(const NormalizeGradient& g, const ChannelTiles& t, float* partials,
                                const LaunchStream& stream) {
    with_type(g.type, [&](auto element) {
        using T = decltype(element);
        if (t.once) {
            launch_tiles(gradient_once_kernel<T>, t, stream, g, t);
            return;
        }
        launch_tiles(gradient_sums_kernel<T>, t, stream, g, t, partials);
        if (g.gx == nullptr)
            launch_batch_norm_sums_end(g, t, partials, stream.behind());
        else
            launch_tiles(gradient_end_kernel<T>, t, stream.behind(), g, t, partials);
    });
}

void launch_batch_norm_sums_end(const NormalizeGradient& g, const ChannelTiles& t, const float* partials,
                                const LaunchStream& stream) {
    const auto from = narrowed(t);
    with_type(g.type, [&](auto element) {
        launch_tiles(gradient_end_kernel<decltype(element)>, one_slice(from), stream, g, from, partials);
    });
}

void launch_channel_sum(const void* x, float* result, DType type, const ChannelTiles& t, float* partials,
                        const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        if (t.once) {
            launch_tiles(channel_sum_once_kernel<T>, t, stream, static_cast<const T*>(x), t, result);
            return;
        }
        launch_tiles(channel_sum_kernel<T>, t, stream, static_cast<const T*>(x), t, partials);
        launch_tiles(channel_sum_end_kernel, one_slice(t), stream.behind(), t, partials, result);
    });
}

} // namespace espalier::cuda
