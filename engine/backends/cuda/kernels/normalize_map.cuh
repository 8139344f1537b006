// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/channel_map.cuh"
#include "backends/cuda/kernels/normalization.h"

#include <cuda_pipeline_primitives.h>

/// The second half of a normalisation, from the coefficients of a tile's channels to rows of y.
namespace espalier::cuda {

/// y = (x - mean) scale + bias, by channel.
template <class T>
struct Affine {
    MapValues<T> mean, scale, bias;
};

/// Values of a row, and of the residual if there is one.
template <class T, bool with_residual>
__device__ void apply(const NormalizeRows& rows, const Affine<T>& affine, const uint4& x, const uint4& residual,
                      std::int64_t at) {
    auto v = unpack_map<T>(x);
#pragma unroll
    for (int j = 0; j < map_width<T>; ++j)
        v.v[j] = fmaf(v.v[j] - affine.mean.v[j], affine.scale.v[j], affine.bias.v[j]);
    if constexpr (with_residual) {
        const auto r = unpack_map<T>(residual);
#pragma unroll
        for (int j = 0; j < map_width<T>; ++j)
            v.v[j] += r.v[j];
    }
    if (rows.relu)
#pragma unroll
        for (float& value : v.v)
            value = value < 0.0F ? 0.0F : value; // NaN stays
    store_map(static_cast<T*>(rows.y) + at, v);
}

/// Loads of a thread that are on their way together.
template <bool with_residual>
inline constexpr int rows_applied_at_once = with_residual ? 2 : 4;

/// This thread's rows from `row` on, which lies at `at`. y may be x or residual: each thread reads its rows before it
/// writes them.
template <class T, bool with_residual>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine<T>& affine,
                           int row, std::int64_t at) {
    constexpr int some = rows_applied_at_once<with_residual>;
    const auto step = step_of(t, p);
    const T *x = static_cast<const T*>(rows.x), *residual = static_cast<const T*>(rows.residual);
    for (; row < p.end; row += some * p.lanes, at += some * step) {
        uint4 raw[some], added[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                raw[u] = *reinterpret_cast<const uint4*>(x + at + u * step);
                if constexpr (with_residual)
                    added[u] = *reinterpret_cast<const uint4*>(residual + at + u * step);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end)
                apply<T, with_residual>(rows, affine, raw[u], added[u], at + u * step);
    }
}

template <class T>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine<T>& affine) {
    if (rows.residual != nullptr)
        apply_rows<T, true>(rows, t, p, affine, p.begin + p.lane, first_of(t, p));
    else
        apply_rows<T, false>(rows, t, p, affine, p.begin + p.lane, first_of(t, p));
}

/// Rows of the threads of a block that come in the background, while its coefficients are found: of x, or of x and
/// residual by turns.
struct BegunRows {
    uint4 data[4 * tile_threads];

    /// A thread has its `u` in one place.
    __device__ uint4& at(int u) { return data[u * tile_threads + static_cast<int>(threadIdx.x)]; }
};

template <class T, bool with_residual>
__device__ void begin_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, BegunRows& begun) {
    constexpr int some = rows_applied_at_once<with_residual>, tensors = with_residual ? 2 : 1;
    static_assert(some * tensors * tile_threads * sizeof(uint4) <= sizeof(BegunRows));
#pragma unroll
    for (int u = 0; u < some; ++u)
        if (p.begin + p.lane + u * p.lanes < p.end) {
            const auto element = first_of(t, p) + u * step_of(t, p);
            __pipeline_memcpy_async(&begun.at(tensors * u), static_cast<const T*>(rows.x) + element, sizeof(uint4));
            if constexpr (with_residual)
                __pipeline_memcpy_async(&begun.at(tensors * u + 1), static_cast<const T*>(rows.residual) + element,
                                        sizeof(uint4));
        }
    __pipeline_commit();
}

/// All rows of this thread, the first of which begin_rows has begun.
template <class T, bool with_residual>
__device__ void apply_begun_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p,
                                 const Affine<T>& affine, BegunRows& begun) {
    constexpr int some = rows_applied_at_once<with_residual>, tensors = with_residual ? 2 : 1;
    __pipeline_wait_prior(0);
    int row = p.begin + p.lane;
    auto at = first_of(t, p);
#pragma unroll
    for (int u = 0; u < some; ++u, row += p.lanes, at += step_of(t, p))
        if (row < p.end)
            apply<T, with_residual>(rows, affine, begun.at(tensors * u), begun.at(tensors * u + tensors - 1), at);
    apply_rows<T, with_residual>(rows, t, p, affine, row, at);
}

} // namespace espalier::cuda
