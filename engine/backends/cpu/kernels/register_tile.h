// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernel_common.h"

/// The inner loops of matrix products: `Count` vectors of W channels by `Tile` pixels (or channels), whose sums stay in
/// registers.
namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

/// Calls body.operator()<Tile>(first) for tiles of Wide, then 4, then 1, that cover [0, count).
template <int Wide, class Body>
[[gnu::always_inline]] static inline void in_tiles(std::int64_t count, const Body& body) {
    std::int64_t first = 0;
    for (; first + Wide <= count; first += Wide) {
        body.template operator()<Wide>(first);
    }
    for (; first + 4 <= count; first += 4) {
        body.template operator()<4>(first);
    }
    for (; first < count; ++first) {
        body.template operator()<1>(first);
    }
}

template <int W, int Count, int Tile>
using TileSums = Vector<W>[Count][Tile];

/// sums[v][t] += sum over k < channels of x[t * x_step + k] weights[v * weights_step + k * W ...]
template <int W, int Count, int Tile>
[[gnu::always_inline]] static inline void add_products(TileSums<W, Count, Tile>& sums, const float* x,
                                                       std::int64_t x_step, const float* weights,
                                                       std::int64_t weights_step, std::int64_t channels) {
    for (std::int64_t k = 0; k < channels; ++k) {
        Vector<W> factors[Count];
#pragma GCC unroll 2
        for (int v = 0; v < Count; ++v) {
            factors[v] = load<W>(weights + v * weights_step + k * W);
        }
#pragma GCC unroll 16
        for (int t = 0; t < Tile; ++t) {
            const float value = x[t * x_step + k];
#pragma GCC unroll 2
            for (int v = 0; v < Count; ++v) {
                sums[v][t] += value * factors[v];
            }
        }
    }
}

/// target[v][t * target_step ...] = act(sums[v][t])
template <int W, int Count, int Tile>
[[gnu::always_inline]] static inline void store_tile(const TileSums<W, Count, Tile>& sums, bool with_relu,
                                                     float* const* target, std::int64_t target_step) {
#pragma GCC unroll 2
    for (int v = 0; v < Count; ++v) {
#pragma GCC unroll 16
        for (int t = 0; t < Tile; ++t) {
            store<W>(target[v] + t * target_step, with_relu ? positive<W>(sums[v][t]) : sums[v][t]);
        }
    }
}

/// The product of weight gradients: sums[v][t * W ...] += sum over i < count of x[i * x_step + t] gy[v][i * gy_step
/// ...]
template <int W, int Count, int Tile>
[[gnu::always_inline]] static inline void add_outer_products(const float* const* gy, std::int64_t gy_step,
                                                             const float* x, std::int64_t x_step, std::int64_t count,
                                                             float* const* sums) {
    TileSums<W, Count, Tile> local = {};
    for (std::int64_t i = 0; i < count; ++i) {
        Vector<W> g[Count];
#pragma GCC unroll 2
        for (int v = 0; v < Count; ++v) {
            g[v] = load<W>(gy[v] + i * gy_step);
        }
#pragma GCC unroll 16
        for (int t = 0; t < Tile; ++t) {
            const float value = x[i * x_step + t];
#pragma GCC unroll 2
            for (int v = 0; v < Count; ++v) {
                local[v][t] += value * g[v];
            }
        }
    }
#pragma GCC unroll 2
    for (int v = 0; v < Count; ++v) {
#pragma GCC unroll 16
        for (int t = 0; t < Tile; ++t) {
            store<W>(sums[v] + t * W, load<W>(sums[v] + t * W) + local[v][t]);
        }
    }
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
