// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernel_common.h"

/// The transforms of Winograd's minimal filtering F(4x4, 3x3) with the points 0, 1, -1, 2, -2 and infinity (Lavin and
/// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015), and those of its gradients: along one axis, for
/// vectors of channels that stand `step` apart.
namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

static constexpr int points = 36; ///< of a tile
static constexpr int W = native_width;
using Vec = Vector<W>;

/// B^T d: 6 inputs to 6 points.
static inline void transform_input(const Vec* d, int step, Vec* t, int t_step) {
    const Vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    const Vec a = d4 - 4.0f * d2;
    const Vec b = d3 - 4.0f * d1;
    const Vec c = d4 - d2;
    const Vec e = 2.0f * (d3 - d1);
    t[0] = 4.0f * (d0 - d2) + (d4 - d2);
    t[t_step] = a + b;
    t[2 * t_step] = a - b;
    t[3 * t_step] = c + e;
    t[4 * t_step] = c - e;
    t[5 * t_step] = 4.0f * (d1 - d3) + (d5 - d3);
}

/// A^T m: 6 points to 4 outputs.
static inline void transform_output(const Vec* m, int step, Vec* y, int y_step) {
    const Vec m0 = m[0], m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step], m5 = m[5 * step];
    const Vec s1 = m1 + m2;
    const Vec d1 = m1 - m2;
    const Vec s2 = m3 + m4;
    const Vec d2 = m3 - m4;
    y[0] = m0 + s1 + s2;
    y[y_step] = d1 + 2.0f * d2;
    y[2 * y_step] = s1 + 4.0f * s2;
    y[3 * y_step] = d1 + 8.0f * d2 + m5;
}

/// A g: 4 gradients of outputs to 6 points.
static inline void transform_output_gradient(const Vec* g, int step, Vec* r, int r_step) {
    const Vec g0 = g[0], g1 = g[step], g2 = g[2 * step], g3 = g[3 * step];
    const Vec e = g0 + g2;
    const Vec o = g1 + g3;
    const Vec e2 = g0 + 4.0f * g2;
    const Vec o2 = 2.0f * g1 + 8.0f * g3;
    r[0] = g0;
    r[r_step] = e + o;
    r[2 * r_step] = e - o;
    r[3 * r_step] = e2 + o2;
    r[4 * r_step] = e2 - o2;
    r[5 * r_step] = g3;
}

/// G g: 3 weights to 6 points.
static inline void transform_weights(const Vec* g, int step, Vec* u, int u_step) {
    const Vec g0 = g[0], g1 = g[step], g2 = g[2 * step];
    const Vec s = g0 + g2;
    const Vec q = g0 * (1.0f / 24.0f) + g2 * (1.0f / 6.0f);
    const Vec h = g1 * (1.0f / 12.0f);
    u[0] = g0 * 0.25f;
    u[u_step] = (s + g1) * (-1.0f / 6.0f);
    u[2 * u_step] = (s - g1) * (-1.0f / 6.0f);
    u[3 * u_step] = q + h;
    u[4 * u_step] = q - h;
    u[5 * u_step] = g2;
}

/// G^T m: 6 points to 3 gradients of weights.
static inline void transform_weight_gradient(const Vec* m, int step, Vec* w, int w_step) {
    const Vec s1 = (m[step] + m[2 * step]) * (1.0f / 6.0f);
    const Vec d1 = (m[2 * step] - m[step]) * (1.0f / 6.0f);
    const Vec s2 = m[3 * step] + m[4 * step];
    const Vec d2 = (m[3 * step] - m[4 * step]) * (1.0f / 12.0f);
    w[0] = m[0] * 0.25f - s1 + s2 * (1.0f / 24.0f);
    w[w_step] = d1 + d2;
    w[2 * w_step] = (s2 * (1.0f / 6.0f) - s1) + m[5 * step];
}

/// One of them along both axes: read(i, j) gives From x From vectors, write(i, j, vector) takes To x To.
template <auto Transform, int From, int To, class Read, class Write>
[[gnu::always_inline]] static inline void transform_square(const Read& read, const Write& write) {
    Vec half[To * From];
#pragma GCC unroll 6
    for (int j = 0; j < From; ++j) {
        Vec column[From];
#pragma GCC unroll 6
        for (int i = 0; i < From; ++i) {
            column[i] = read(i, j);
        }
        Transform(column, 1, half + j, From);
    }
#pragma GCC unroll 6
    for (int i = 0; i < To; ++i) {
        Vec row[To];
        Transform(half + i * From, 1, row, 1);
#pragma GCC unroll 6
        for (int j = 0; j < To; ++j) {
            write(i, j, row[j]);
        }
    }
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
