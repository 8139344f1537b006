// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/winograd_tiles.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// Forward and input gradient: the gradient is the convolution of gy with the taps in reverse order.

/// y = act(A^T M A + bias)
static void output_transforms(const Winograd& g, const Places& m, std::int64_t first, std::int64_t first_vector,
                              const float* bias, bool with_relu, float* y, std::int64_t begin, std::int64_t end) {
    const ActivationShape& s = g.target;
    Walk at(g, first, m.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        const float* in = m.at(0, at.vector, at.tile);
        const std::int64_t channel = (first_vector + at.vector) * W;
        const Vec add = bias == nullptr ? Vec{} : load<W>(bias + channel);
        const std::int64_t rows = s.h - at.row * 4;
        const std::int64_t columns = s.w - at.column * 4;
        float* corner = y + plane_offset(s, at.image, channel) + (at.row * 4 * s.w + at.column * 4) * s.block;
        transform_square<transform_output, 6, 4>([&](int i, int j) { return load<W>(in + (i * 6 + j) * m.point()); },
                                                 [&](int i, int j, Vec value) {
                                                     if (i < rows && j < columns) {
                                                         const Vec sum = value + add;
                                                         store<W>(corner + (i * s.w + j) * s.block,
                                                                  with_relu ? positive<W>(sum) : sum);
                                                     }
                                                 });
    }
}

/// Where the weight of (target channel k, source channel c, tap) stands in the row-major parameter.
struct WeightOrder {
    std::int64_t targets, sources;
    std::int64_t target_step, source_step;
    bool flipped; ///< taps in reverse order: the input gradient
};

/// U = G w G^T of the target vectors from `first_vector` on: [vector][points][source][W], for items (vector, source).
static void weight_transforms(const WeightOrder& order, const float* w, std::int64_t first_vector, std::int64_t padded,
                              float* u, std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t vector = item / padded;
        const std::int64_t c = item % padded;
        const std::int64_t k = (first_vector + vector) * W;
        float lanes[9][W] = {};
        for (std::int64_t j = 0; j < W && k + j < order.targets && c < order.sources; ++j) {
            const float* from = w + (k + j) * order.target_step + c * order.source_step;
            for (int tap = 0; tap < 9; ++tap) {
                lanes[order.flipped ? 8 - tap : tap][j] = from[tap];
            }
        }
        float* out = u + (vector * points * padded + c) * W;
        transform_square<transform_weights, 3, 6>(
            [&](int i, int j) { return load<W>(lanes[i * 3 + j]); },
            [&](int i, int j, Vec value) { store<W>(out + (i * 6 + j) * padded * W, value); });
    }
}

/// M[vector .. vector + Count) of one point = sum over source channels of V times U.
template <int Count>
static void product(const Places& v, const Places& m, const float* u, std::int64_t padded, std::int64_t xi,
                    std::int64_t vector) {
    const float* weights = u + (vector * points + xi) * padded * W;
    in_tiles<wide_tile>(v.tiles, [&]<int Tile>(std::int64_t first) {
        TileSums<W, Count, Tile> sums = {};
        for (std::int64_t cv = 0; cv < v.vectors; ++cv) {
            add_products<W, Count, Tile>(sums, v.at(xi, cv, first), W, weights + cv * W * W, points * padded * W, W);
        }
        float* target[Count];
        for (int i = 0; i < Count; ++i) {
            target[i] = m.at(xi, vector + i, first);
        }
        store_tile<W, Count, Tile>(sums, false, target, W);
    });
}

/// Items are (point, pair of target vectors).
static void products(const Places& v, const Places& m, const float* u, std::int64_t padded, std::int64_t begin,
                     std::int64_t end) {
    const std::int64_t pairs = (m.vectors + 1) / 2;
    for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t xi = item / pairs;
        const std::int64_t vector = item % pairs * 2;
        if (vector + 1 < m.vectors) {
            product<2>(v, m, u, padded, xi, vector);
        } else {
            product<1>(v, m, u, padded, xi, vector);
        }
    }
}

static void convolve(const Winograd& g, const WeightOrder& order, const float* x, const float* w, const float* bias,
                     bool with_relu, float* y, float* scratch, int threads) {
    const Cut cut = cut_of(g, false);
    const std::int64_t channels = g.source.padded_channels();
    float* u = scratch;
    float* chunks = u + weights_floats(g, cut);
    const std::int64_t chunk_count = (g.tiles() + cut.tiles - 1) / cut.tiles;
    const auto places = [&](float* memory, std::int64_t vectors, std::int64_t tiles, Places& v, Places& m) {
        v = {memory, g.source_vectors(), tiles};
        m = {memory + places_floats(g.source_vectors(), cut.tiles), vectors, tiles};
    };
    if (!cut.shared) {
        parallel(cut.vectors * channels, threads, [&](std::int64_t begin, std::int64_t end) {
            weight_transforms(order, w, 0, channels, u, begin, end);
        });
        parallel(chunk_count, threads, [&](std::int64_t begin, std::int64_t end) {
            float* memory = chunks + omp_get_thread_num() * chunk_floats(g, cut);
            for (std::int64_t chunk = begin; chunk < end; ++chunk) {
                const std::int64_t first = chunk * cut.tiles;
                Places v{};
                Places m{};
                places(memory, cut.vectors, smaller(cut.tiles, g.tiles() - first), v, m);
                input_transforms(g, x, first, v, 0, v.vectors * v.tiles);
                products(v, m, u, channels, 0, points * ((m.vectors + 1) / 2));
                output_transforms(g, m, first, 0, bias, with_relu, y, 0, m.vectors * m.tiles);
            }
        });
        return;
    }
    for (std::int64_t vector = 0; vector < g.target_vectors(); vector += cut.vectors) {
        const std::int64_t vectors = smaller(cut.vectors, g.target_vectors() - vector);
        parallel(vectors * channels, threads, [&](std::int64_t begin, std::int64_t end) {
            weight_transforms(order, w, vector, channels, u, begin, end);
        });
        for (std::int64_t first = 0; first < g.tiles(); first += cut.tiles) {
            Places v{};
            Places m{};
            places(chunks, vectors, smaller(cut.tiles, g.tiles() - first), v, m);
            if (chunk_count > 1 || vector == 0) { // a single chunk stays for all ranges
                parallel(v.vectors * v.tiles, threads,
                         [&](std::int64_t begin, std::int64_t end) { input_transforms(g, x, first, v, begin, end); });
            }
            parallel(points * ((vectors + 1) / 2), threads,
                     [&](std::int64_t begin, std::int64_t end) { products(v, m, u, channels, begin, end); });
            parallel(vectors * m.tiles, threads, [&](std::int64_t begin, std::int64_t end) {
                output_transforms(g, m, first, vector, bias, with_relu, y, begin, end);
            });
        }
    }
}

static Winograd gradient_of(const ActivationShape& in, const ActivationShape& out, const Window& window) {
    const std::int64_t rest[] = {2 - window.padding[0], 2 - window.padding[1]};
    return convolution_of(out, in, rest);
}

void winograd_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                      const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads) {
    // The bias, padded to whole vectors, stands at the end of the scratch memory.
    const Winograd g = convolution_of(in, out, window.padding);
    float* padded = nullptr;
    if (bias != nullptr) {
        padded = scratch + winograd_scratch(in, out, window, Direction::forward, threads) -
                 round_up(out.padded_channels(), 16);
        for (std::int64_t k = 0; k < out.padded_channels(); ++k) {
            padded[k] = k < out.c ? bias[k] : 0.0f;
        }
    }
    convolve(g, {out.c, in.c, in.c * 9, 9, false}, x, w, padded, with_relu, y, scratch, threads);
}

void winograd_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                             const float* gy, const float* w, float* gx, float* scratch, int threads) {
    convolve(gradient_of(in, out, window), {in.c, out.c, 9, in.c * 9, true}, gy, w, nullptr, false, gx, scratch,
             threads);
}

std::int64_t winograd_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              Direction direction, int threads) {
    const Winograd g =
        direction == Direction::input_gradient ? gradient_of(in, out, window) : convolution_of(in, out, window.padding);
    const Cut cut = cut_of(g, direction == Direction::weight_gradient);
    return weights_floats(g, cut) + (cut.shared ? 1 : threads) * chunk_floats(g, cut) +
           round_up(out.padded_channels(), 16);
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
