// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// Convolution 3x3, stride 1, by the minimal filtering algorithm F(4x4, 3x3) of Winograd (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015, points 0, 1, -1, 2, -2 and infinity): y = A^T [(G w G^T) . (B^T
// x B)] A. A tile of 4x4 outputs is read from 6x6 inputs; each of the 36 places is a matrix product over channels,
// which needs a quarter of the multiplications. Tiles are worked off in chunks, channels of the target in ranges, so
// that what lies between the transforms stays in a cache and the scratch memory small, however large the image.

static constexpr int points = 36;
static constexpr int W = native_width;
using Vec = Vector<W>;

static inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
static inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

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

static inline void transform_weight_gradient(const Vec* m, int step, Vec* w, int w_step) {
    const Vec s1 = (m[step] + m[2 * step]) * (1.0f / 6.0f);
    const Vec d1 = (m[2 * step] - m[step]) * (1.0f / 6.0f);
    const Vec s2 = m[3 * step] + m[4 * step];
    const Vec d2 = (m[3 * step] - m[4 * step]) * (1.0f / 12.0f);
    w[0] = m[0] * 0.25f - s1 + s2 * (1.0f / 24.0f);
    w[w_step] = d1 + d2;
    w[2 * w_step] = (s2 * (1.0f / 6.0f) - s1) + m[5 * step];
}

/// One convolution: `source` is read, `target` has the channels of the vectors.
struct Winograd {
    ActivationShape source, target;
    std::int64_t padding[2];
    std::int64_t tile_rows, tile_columns;

    [[gnu::always_inline]] std::int64_t tiles() const { return source.n * tile_rows * tile_columns; }
    [[gnu::always_inline]] std::int64_t source_vectors() const { return source.padded_channels() / W; }
    [[gnu::always_inline]] std::int64_t target_vectors() const { return target.padded_channels() / W; }
};

/// Memory between the transforms: [points][vectors][tiles][W]. One line more a point, or every point of a tile would
/// fall into the same set of the cache.
struct Places {
    float* memory;
    std::int64_t vectors, tiles;

    [[gnu::always_inline]] std::int64_t point() const { return vectors * tiles * W + 16; }
    [[gnu::always_inline]] float* at(std::int64_t xi, std::int64_t vector, std::int64_t tile) const {
        return memory + xi * point() + (vector * tiles + tile) * W;
    }
};

static inline std::int64_t places_floats(std::int64_t vectors, std::int64_t tiles) {
    return points * (vectors * tiles * W + 16);
}

/// Walks over (vector, tile) pairs of a chunk in order, without a division for each.
struct Walk {
    const Winograd& g;
    std::int64_t first, count; ///< tiles of the chunk
    std::int64_t vector, tile; ///< tile within the chunk
    std::int64_t image = 0, row = 0, column = 0;

    Walk(const Winograd& winograd, std::int64_t first_tile, std::int64_t tiles, std::int64_t item)
        : g(winograd), first(first_tile), count(tiles), vector(item / tiles), tile(item % tiles) {
        find();
    }
    [[gnu::always_inline]] void find() {
        const std::int64_t each = g.tile_rows * g.tile_columns;
        image = (first + tile) / each;
        row = (first + tile) % each / g.tile_columns;
        column = (first + tile) % each % g.tile_columns;
    }
    [[gnu::always_inline]] void next() {
        if (++tile == count) {
            tile = 0;
            ++vector;
            find();
        } else if (++column == g.tile_columns) {
            column = 0;
            if (++row == g.tile_rows) {
                row = 0;
                ++image;
            }
        }
    }
};

static inline const float* plane_at(const ActivationShape& s, const float* x, std::int64_t image,
                                    std::int64_t channel) {
    return x + (image * s.blocks() + channel / s.block) * s.plane() + channel % s.block;
}

/// Reads pixels of a square at (row, column): straight on where all of it lies within the image, else zeros outside.
template <int Size, class Body>
static inline void with_square(const ActivationShape& s, const float* plane, std::int64_t row, std::int64_t column,
                               const Body& body) {
    const float* corner = plane + (row * s.w + column) * s.block;
    const std::int64_t line = s.w * s.block;
    if (row >= 0 && column >= 0 && row + Size <= s.h && column + Size <= s.w) {
        body([=](std::int64_t i, std::int64_t j) { return load<W>(corner + i * line + j * s.block); });
        return;
    }
    body([=](std::int64_t i, std::int64_t j) {
        // Outside pixels are read from a vector of zeros: no branches.
        alignas(64) static const float zeros[W] = {};
        const bool inside = row + i >= 0 && row + i < s.h && column + j >= 0 && column + j < s.w;
        return load<W>(inside ? corner + i * line + j * s.block : zeros);
    });
}

/// V = B^T x B for the (vector, tile) pairs [begin, end) of a chunk that begins with tile `first`.
static void input_transforms(const Winograd& g, const float* x, std::int64_t first, const Places& v, std::int64_t begin,
                             std::int64_t end) {
    Walk at(g, first, v.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        Vec t[36];
        with_square<6>(g.source, plane_at(g.source, x, at.image, at.vector * W), at.row * 4 - g.padding[0],
                       at.column * 4 - g.padding[1], [&](const auto& pixel) {
#pragma GCC unroll 6
                           for (int j = 0; j < 6; ++j) {
                               const Vec d[6] = {pixel(0, j), pixel(1, j), pixel(2, j),
                                                 pixel(3, j), pixel(4, j), pixel(5, j)};
                               transform_input(d, 1, t + j, 6);
                           }
                       });
        float* out = v.at(0, at.vector, at.tile);
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) {
            Vec row[6];
            transform_input(t + i * 6, 1, row, 1);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) {
                store<W>(out + (i * 6 + j) * v.point(), row[j]);
            }
        }
    }
}

/// The same for A gy A^T, of target vectors from `first_vector` on.
static void gradient_transforms(const Winograd& g, const float* gy, std::int64_t first, std::int64_t first_vector,
                                const Places& m, std::int64_t begin, std::int64_t end) {
    Walk at(g, first, m.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        Vec t[24];
        with_square<4>(g.target, plane_at(g.target, gy, at.image, (first_vector + at.vector) * W), at.row * 4,
                       at.column * 4, [&](const auto& pixel) {
#pragma GCC unroll 4
                           for (int j = 0; j < 4; ++j) {
                               const Vec d[4] = {pixel(0, j), pixel(1, j), pixel(2, j), pixel(3, j)};
                               transform_output_gradient(d, 1, t + j, 4);
                           }
                       });
        float* out = m.at(0, at.vector, at.tile);
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) {
            Vec row[6];
            transform_output_gradient(t + i * 4, 1, row, 1);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) {
                store<W>(out + (i * 6 + j) * m.point(), row[j]);
            }
        }
    }
}

/// y = act(A^T M A + bias)
static void output_transforms(const Winograd& g, const Places& m, std::int64_t first, std::int64_t first_vector,
                              const float* bias, bool with_relu, float* y, std::int64_t begin, std::int64_t end) {
    const ActivationShape& s = g.target;
    Walk at(g, first, m.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        const float* in = m.at(0, at.vector, at.tile);
        Vec t[24];
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) {
            Vec d[6];
#pragma GCC unroll 6
            for (int i = 0; i < 6; ++i) {
                d[i] = load<W>(in + (i * 6 + j) * m.point());
            }
            transform_output(d, 1, t + j, 6);
        }
        const std::int64_t channel = (first_vector + at.vector) * W;
        const Vec add = bias == nullptr ? Vec{} : load<W>(bias + channel);
        const std::int64_t row = at.row * 4;
        const std::int64_t column = at.column * 4;
        float* plane = y + (plane_at(s, y, at.image, channel) - y);
        for (int i = 0; i < 4 && row + i < s.h; ++i) {
            Vec out[4];
            transform_output(t + i * 6, 1, out, 1);
            for (int j = 0; j < 4 && column + j < s.w; ++j) {
                const Vec value = out[j] + add;
                store<W>(plane + ((row + i) * s.w + column + j) * s.block, with_relu ? positive<W>(value) : value);
            }
        }
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
        Vec d[9];
        Vec t[18];
        for (int tap = 0; tap < 9; ++tap) {
            d[tap] = load<W>(lanes[tap]);
        }
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j) {
            transform_weights(d + j, 3, t + j, 3);
        }
        float* out = u + (vector * points * padded + c) * W;
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) {
            Vec row[6];
            transform_weights(t + i * 3, 1, row, 1);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) {
                store<W>(out + (i * 6 + j) * padded * W, row[j]);
            }
        }
    }
}

static constexpr int wide_tile = native_width >= 16 ? 12 : 6;

/// M[vector .. vector + Count)[Tile tiles] = sum over source channels of V times U.
template <int Count, int Tile>
static inline void product_tile(const float* v, std::int64_t v_vector, std::int64_t source_vectors,
                                const float* const* u, float* const* m) {
    Vec sums[Count][Tile] = {};
    for (std::int64_t cv = 0; cv < source_vectors; ++cv) {
        const float* x = v + cv * v_vector;
        for (std::int64_t k = 0; k < W; ++k) {
            Vec factors[Count];
#pragma GCC unroll 2
            for (int i = 0; i < Count; ++i) {
                factors[i] = load<W>(u[i] + (cv * W + k) * W);
            }
#pragma GCC unroll 12
            for (int t = 0; t < Tile; ++t) {
                const float value = x[t * W + k];
#pragma GCC unroll 2
                for (int i = 0; i < Count; ++i) {
                    sums[i][t] += value * factors[i];
                }
            }
        }
    }
#pragma GCC unroll 2
    for (int i = 0; i < Count; ++i) {
#pragma GCC unroll 12
        for (int t = 0; t < Tile; ++t) {
            store<W>(m[i] + t * W, sums[i][t]);
        }
    }
}

template <int Count>
static void product(const Places& v, const Places& m, const float* u, std::int64_t padded, std::int64_t xi,
                    std::int64_t vector) {
    const float* factors[Count];
    float* target[Count];
    for (int i = 0; i < Count; ++i) {
        factors[i] = u + ((vector + i) * points + xi) * padded * W;
        target[i] = m.at(xi, vector + i, 0);
    }
    const float* source = v.at(xi, 0, 0);
    std::int64_t count = v.tiles;
    const auto advance = [&](std::int64_t tiles) {
        source += tiles * W;
        for (int i = 0; i < Count; ++i) {
            target[i] += tiles * W;
        }
        count -= tiles;
    };
    for (; count >= wide_tile; advance(wide_tile)) {
        product_tile<Count, wide_tile>(source, v.tiles * W, v.vectors, factors, target);
    }
    for (; count >= 4; advance(4)) {
        product_tile<Count, 4>(source, v.tiles * W, v.vectors, factors, target);
    }
    for (; count > 0; advance(1)) {
        product_tile<Count, 1>(source, v.tiles * W, v.vectors, factors, target);
    }
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

// Sizes of the pieces, in floats. Small weights: each thread takes chunks of its own through all three stages within
// its second cache. Large ones: all threads share a chunk in the third.
static constexpr std::int64_t small_weights = 64 * 128 * points;
static constexpr std::int64_t private_chunk = 192 * 1024;
static constexpr std::int64_t shared_chunk = 2048 * 1024;
static constexpr std::int64_t weight_range = 1280 * 1024;

/// How a convolution is cut up.
struct Cut {
    bool shared;
    std::int64_t vectors; ///< target vectors of a range
    std::int64_t tiles;   ///< of a chunk
};

static std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static Cut cut_of(const Winograd& g, bool always_shared) {
    const std::int64_t channels = g.source.padded_channels();
    const std::int64_t vectors = g.target_vectors();
    Cut cut{};
    cut.shared = always_shared || channels * vectors * W * points > small_weights;
    const std::int64_t each = channels * W * points; // weights of one target vector
    cut.vectors = cut.shared ? smaller(vectors, larger(2, weight_range / each / 2 * 2)) : vectors;
    const std::int64_t chunk = cut.shared ? shared_chunk : private_chunk;
    const std::int64_t wanted = chunk / (points * (channels + cut.vectors * W));
    cut.tiles = smaller(g.tiles(), larger(wide_tile, wanted / wide_tile * wide_tile));
    return cut;
}

static std::int64_t weights_floats(const Winograd& g, const Cut& cut) {
    return round_up(cut.vectors * points * g.source.padded_channels() * W, 16);
}

/// V and M of one chunk.
static std::int64_t chunk_floats(const Winograd& g, const Cut& cut) {
    return places_floats(g.source_vectors(), cut.tiles) + places_floats(cut.vectors, cut.tiles);
}

static Winograd convolution_of(const ActivationShape& source, const ActivationShape& target,
                               const std::int64_t* padding) {
    return {source, target, {padding[0], padding[1]}, (target.h + 3) / 4, (target.w + 3) / 4};
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

void winograd_forward(const ActivationShape& in, const ActivationShape& out, const std::int64_t* padding,
                      const float* x, const float* w, const float* bias, bool with_relu, float* y, float* scratch,
                      int threads) {
    // The bias, padded to whole vectors, stands at the end of the scratch memory.
    const Winograd g = convolution_of(in, out, padding);
    float* padded = nullptr;
    if (bias != nullptr) {
        padded = scratch + winograd_scratch(in, out, padding, 0, threads) - round_up(out.padded_channels(), 16);
        for (std::int64_t k = 0; k < out.padded_channels(); ++k) {
            padded[k] = k < out.c ? bias[k] : 0.0f;
        }
    }
    convolve(g, {out.c, in.c, in.c * 9, 9, false}, x, w, padded, with_relu, y, scratch, threads);
}

static Winograd gradient_of(const ActivationShape& in, const ActivationShape& out, const std::int64_t* padding) {
    const std::int64_t rest[] = {2 - padding[0], 2 - padding[1]};
    return convolution_of(out, in, rest);
}

void winograd_input_gradient(const ActivationShape& in, const ActivationShape& out, const std::int64_t* padding,
                             const float* gy, const float* w, float* gx, float* scratch, int threads) {
    convolve(gradient_of(in, out, padding), {in.c, out.c, 9, in.c * 9, true}, gy, w, nullptr, false, gx, scratch,
             threads);
}

// Weight gradient: gw = G^T [sum over tiles of (B^T x B) . (A gy A^T)] G.

static constexpr int gradient_count = native_width >= 16 ? 2 : 1;

/// sums [Count][8 source channels] += over the tiles of a chunk, Count target vectors.
template <int Count>
static inline void sum_tile(const float* v, const float* const* m, std::int64_t tiles, float* const* sums) {
    Vec local[Count][8] = {};
    for (std::int64_t t = 0; t < tiles; ++t) {
        Vec g[Count];
#pragma GCC unroll 2
        for (int i = 0; i < Count; ++i) {
            g[i] = load<W>(m[i] + t * W);
        }
#pragma GCC unroll 8
        for (int c = 0; c < 8; ++c) {
            const float value = v[t * W + c];
#pragma GCC unroll 2
            for (int i = 0; i < Count; ++i) {
                local[i][c] += value * g[i];
            }
        }
    }
#pragma GCC unroll 2
    for (int i = 0; i < Count; ++i) {
#pragma GCC unroll 8
        for (int c = 0; c < 8; ++c) {
            store<W>(sums[i] + c * W, load<W>(sums[i] + c * W) + local[i][c]);
        }
    }
}

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
                sum_tile<gradient_count>(source, gradient, m.tiles, target);
            } else {
                sum_tile<1>(source, gradient, m.tiles, target);
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
        Vec d[36];
        Vec t[18];
        float lanes[9][W];
        for (int i = 0; i < points; ++i) {
            d[i] = load<W>(from + i * padded * W);
        }
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) {
            transform_weight_gradient(d + j, 6, t + j, 6);
        }
        for (int i = 0; i < 3; ++i) {
            Vec row[3];
            transform_weight_gradient(t + i * 6, 1, row, 1);
            for (int j = 0; j < 3; ++j) {
                store<W>(lanes[i * 3 + j], row[j]);
            }
        }
        const std::int64_t k = (first_vector + vector) * W;
        for (std::int64_t j = 0; j < W && k + j < out.c; ++j) {
            for (int tap = 0; tap < 9; ++tap) {
                gw[((k + j) * in.c + c) * 9 + tap] = lanes[tap][j];
            }
        }
    }
}

void winograd_weight_gradient(const ActivationShape& in, const ActivationShape& out, const std::int64_t* padding,
                              const float* x, const float* gy, float* gw, float* scratch, int threads) {
    const Winograd g = convolution_of(in, out, padding);
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

std::int64_t winograd_scratch(const ActivationShape& in, const ActivationShape& out, const std::int64_t* padding,
                              int direction, int threads) {
    const Winograd g = direction == 1 ? gradient_of(in, out, padding) : convolution_of(in, out, padding);
    const Cut cut = cut_of(g, direction == 2);
    return weights_floats(g, cut) + (cut.shared ? 1 : threads) * chunk_floats(g, cut) +
           round_up(out.padded_channels(), 16);
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
