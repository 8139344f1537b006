// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/channel_tiles.cuh"

/// Threads over the rows of a tile of channels by 16 bytes each, for kernels whose time is that of memory.
namespace espalier::cuda {

/// Channels of a row that a thread maps: 16 bytes, so that neighbouring threads read and write neighbouring 16 bytes,
/// and no sector is touched twice.
template <class T>
inline constexpr int map_width = 16 / static_cast<int>(sizeof(T));

template <class T>
struct MapValues {
    float v[map_width<T>];
};

template <class T>
__device__ MapValues<T> unpack_map(const uint4& raw) {
    MapValues<T> r;
    const auto* const values = reinterpret_cast<const T*>(&raw); // in registers
#pragma unroll
    for (int j = 0; j < map_width<T>; ++j)
        r.v[j] = to_float(values[j]);
    return r;
}
template <class T>
__device__ void store_map(T* to, const MapValues<T>& values) {
    if constexpr (sizeof(T) == 2)
        store8(to, Eight{{values.v[0], values.v[1], values.v[2], values.v[3], values.v[4], values.v[5], values.v[6],
                          values.v[7]}});
    else
        *reinterpret_cast<float4*>(to) = make_float4(values.v[0], values.v[1], values.v[2], values.v[3]);
}
template <class T>
__device__ MapValues<T> load_coefficients(const float* from) {
    MapValues<T> r;
#pragma unroll
    for (int j = 0; j < map_width<T>; j += 4) {
        const auto four = *reinterpret_cast<const float4*>(from + j);
        r.v[j] = four.x, r.v[j + 1] = four.y, r.v[j + 2] = four.z, r.v[j + 3] = four.w;
    }
    return r;
}

/// As place_of, of a thread that maps; a tile that reaches beyond the pitch leaves no thread without rows.
template <class T>
__device__ Place map_place_of(const ChannelTiles& t) {
    Place p;
    const int thread = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * 8 * t.groups;
    const int vectors = min(8 * t.groups, t.pitch - first) / map_width<T>;
    p.lanes = tile_threads / vectors;
    p.lane = thread / vectors;
    p.column = map_width<T> * (thread % vectors);
    p.channel = first + p.column;
    p.width = map_width<T> * vectors;
    p.slice = static_cast<int>(blockIdx.y);
    p.active = p.lane < p.lanes;
    p.begin = p.slice * t.slice_rows;
    p.end = p.active ? min(p.begin + t.slice_rows, t.rows) : p.begin;
    return p;
}

} // namespace espalier::cuda
