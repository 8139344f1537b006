// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/winograd_tiles.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// gw = G^T [sum over tiles of (B^T x B) . (A gy A^T)] G

/// A gy A^T of the target vectors from `first_vector` on, for (vector, tile) pairs as input_transforms has them.
static void gradient_transforms(const Winograd& g, const float* gy, std::int64_t first, std::int64_t first_vector,
                                const Places& m, std::int64_t begin, std::int64_t end) {
    Walk at(g, first, m.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        float* out = m.at(0, at.vector, at.tile);
        with_square<4>(g.target, gy + plane_offset(g.target, at.image, (first_vector + at.vector) * W), at.row * 4,
                       at.column * 4, [&](const auto& pixel) {
                           transform_square<transform_output_gradient, 4, 6>(
                               pixel, [&](int i, int j, Vec value) { store<W>(out + (i * 6 + j) * m.point(), value); });
                       });
    }
}

static constexpr int gradient_count = native_width >= 16 ? 2 : 1; ///< target vectors whose sums are kept together

/// Adds a chunk to the sums [vector][points][source][W]. Items are (point, group of gradient_count target vectors).
static void add_products(const Places& v, const Places& m, float* sums, std::int64_t padded, std::int64_t begin,
                         std::int64_t end) {
    const std::int64_t groups = (m.vectors + gradient_count - 1) / gradient_count;
    for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t xi = item / groups;
        const std::int64_t vector = item % groups * gradient_count;
        const bool whole = vector + gradient_count <= m.vectors;
        const float* gradient[2] = {m.at(xi, vector, 0), m.at(xi, whole ? vector + gradient_count - 1 : vector, 0)};
        for (std::int64_t c = 0; c < padded; c += 8) {
            float* target[2] = {sums + ((vector * points + xi) * padded + c) * W,
                                sums + (((vector + 1) * points + xi) * padded + c) * W};
            const float* source = v.at(xi, c / W, 0) + c % W;
            if (whole) {
                add_outer_products<W, gradient_count, 8>(gradient, W, source, W, m.tiles, target);
            } else {
                add_outer_products<W, 1, 8>(gradient, W, source, W, m.tiles, target);
            }
        }
    }
}

static void weight_gradients(const ActivationShape& in, const ActivationShape& out, std::int64_t first_vector,
                             const float* sums, float* gw, std::int64_t begin, std::int64_t end) {
    const std::int64_t padded = in.padded_channels();
    for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t vector = item / padded;
        const std::int64_t c = item % padded;
        if (c >= in.c) {
            continue;
        }
        const float* from = sums + (vector * points * padded + c) * W;
        float lanes[9][W];
        transform_square<transform_weight_gradient, 6, 3>(
            [&](int i, int j) { return load<W>(from + (i * 6 + j) * padded * W); },
            [&](int i, int j, Vec value) { store<W>(lanes[i * 3 + j], value); });
        const std::int64_t k = (first_vector + vector) * W;
        for (std::int64_t j = 0; j < W && k + j < out.c; ++j) {
            for (int tap = 0; tap < 9; ++tap) {
                gw[((k + j) * in.c + c) * 9 + tap] = lanes[tap][j];
            }
        }
    }
}

void winograd_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* x, const float* gy, float* gw, float* scratch, int threads) {
    const Winograd g = convolution_of(in, out, window.padding);
    const Cut cut = cut_of(g, true);
    const std::int64_t channels = in.padded_channels();
    float* sums = scratch;
    float* chunks = sums + weights_floats(g, cut);
    const bool one_chunk = cut.tiles >= g.tiles();
    for (std::int64_t vector = 0; vector < g.target_vectors(); vector += cut.vectors) {
        const std::int64_t vectors = smaller(cut.vectors, g.target_vectors() - vector);
        const std::int64_t groups = (vectors + gradient_count - 1) / gradient_count;
        __builtin_memset(sums, 0, static_cast<std::size_t>(vectors * points * channels * W) * sizeof(float));
        for (std::int64_t first = 0; first < g.tiles(); first += cut.tiles) {
            const std::int64_t tiles = smaller(cut.tiles, g.tiles() - first);
            const Places v{chunks, g.source_vectors(), tiles};
            const Places m{chunks + places_floats(g.source_vectors(), cut.tiles), vectors, tiles};
            if (!one_chunk || vector == 0) {
                parallel(v.vectors * tiles, threads,
                         [&](std::int64_t begin, std::int64_t end) { input_transforms(g, x, first, v, begin, end); });
            }
            parallel(vectors * tiles, threads, [&](std::int64_t begin, std::int64_t end) {
                gradient_transforms(g, gy, first, vector, m, begin, end);
            });
            parallel(points * groups, threads,
                     [&](std::int64_t begin, std::int64_t end) { add_products(v, m, sums, channels, begin, end); });
        }
        parallel(vectors * channels, threads, [&](std::int64_t begin, std::int64_t end) {
            weight_gradients(in, out, vector, sums, gw, begin, end);
        });
    }
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
