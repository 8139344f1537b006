// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/divisor.cuh"
#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/plain_channels.h"

/// What the kernels on row-major activations share: one block a slice of a channel, blockIdx = (slice, channel).
namespace espalier::cuda {

/// Vectors of this many values; four where a plane of a channel is whole fours.
template <class T, int width>
struct Values {
    float v[width];
};

template <class T, int width>
__device__ inline Values<T, width> load_values(const T* p) {
    if constexpr (width == 4) {
        const float4 four = load4(p);
        return {{four.x, four.y, four.z, four.w}};
    } else {
        return {{to_float(*p)}};
    }
}

template <class T, int width>
__device__ inline void store_values(T* p, const Values<T, width>& values) {
    if constexpr (width == 4)
        store4(p, make_float4(values.v[0], values.v[1], values.v[2], values.v[3]));
    else
        *p = from_float<T>(values.v[0]);
}

/// A block's slice, in vectors.
template <int width>
struct PlainSlice {
    int begin, end;
    Divisor plane; ///< vectors of a plane
    int channels;

    /// Where vector `i` of this block's channel begins.
    __device__ std::int64_t place(int i) const {
        auto within = static_cast<std::uint32_t>(i);
        const auto outer = plane.split(within);
        return (static_cast<std::int64_t>(outer) * channels + blockIdx.y) * width * plane.value() +
               static_cast<std::int64_t>(width) * within;
    }
};

/// Calls body(first, count) with the places of up to `some` vectors of this thread, for all of them: the body loads all
/// before it uses the first, so that it waits for memory once.
template <int some, int width, class Body>
__device__ void for_places(const PlainSlice<width>& slice, Body body) {
    for (int i = slice.begin + static_cast<int>(threadIdx.x); i < slice.end; i += some * plain_threads) {
        std::int64_t places[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            places[u] = i + u * plain_threads < slice.end ? slice.place(i + u * plain_threads) : -1;
        body(places);
    }
}

/// What the kernels are given of the cut.
struct PlainCut {
    Divisor plane;
    int vectors; ///< of a channel
    int slice;   ///< vectors of one
    int channels;
};

template <int width>
__device__ inline PlainSlice<width> slice_of(const PlainCut& cut) {
    const int begin = static_cast<int>(blockIdx.x) * cut.slice;
    return {begin, min(begin + cut.slice, cut.vectors), cut.plane, cut.channels};
}

/// Calls body(width, cut) with width 4 or 1 as a compile-time constant.
template <class Body>
void with_width(const PlainChannels& c, Body&& body) {
    const auto cut = [&c](int width) {
        return PlainCut{Divisor(c.inner / width), static_cast<int>(c.count() / width), c.slice / width, c.channels};
    };
    if (c.inner % 4 == 0)
        body(std::integral_constant<int, 4>{}, cut(4));
    else
        body(std::integral_constant<int, 1>{}, cut(1));
}

inline dim3 grid_of(const PlainChannels& c) {
    return {static_cast<unsigned>(c.slices), static_cast<unsigned>(c.channels)};
}

/// Zeros behind the last channel of a vector, up to a whole eight.
__device__ inline void clear_padding(float* vector, int channels) {
    const int at = channels + static_cast<int>(threadIdx.x);
    if (vector != nullptr && blockIdx.x == 0 && blockIdx.y == 0 && at < (channels + 7) / 8 * 8)
        vector[at] = 0.0F;
}

} // namespace espalier::cuda
