// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/register_tile.h"
#include "backends/cpu/kernels/winograd_transforms.h"

/// Convolution 3x3, stride 1, by y = A^T [(G w G^T) . (B^T x B)] A: a tile of 4x4 outputs is read from 6x6 inputs; each
/// of the 36 places is a matrix product over channels, which needs a quarter of the multiplications. Tiles are worked
/// off in chunks, channels of the target in ranges, so that what lies between the transforms stays in a cache and the
/// scratch memory small, however large the image.
namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

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

/// Floats before the first pixel of a channel of an image.
static inline std::int64_t plane_offset(const ActivationShape& s, std::int64_t image, std::int64_t channel) {
    return (image * s.blocks() + channel / s.block) * s.plane() + channel % s.block;
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
static inline void input_transforms(const Winograd& g, const float* x, std::int64_t first, const Places& v,
                                    std::int64_t begin, std::int64_t end) {
    Walk at(g, first, v.tiles, begin);
    for (std::int64_t item = begin; item < end; ++item, at.next()) {
        float* out = v.at(0, at.vector, at.tile);
        with_square<6>(g.source, x + plane_offset(g.source, at.image, at.vector * W), at.row * 4 - g.padding[0],
                       at.column * 4 - g.padding[1], [&](const auto& pixel) {
                           transform_square<transform_input, 6, 6>(
                               pixel, [&](int i, int j, Vec value) { store<W>(out + (i * 6 + j) * v.point(), value); });
                       });
    }
}

static constexpr int wide_tile = native_width >= 16 ? 12 : 6; ///< tiles whose products are summed together

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

static inline Cut cut_of(const Winograd& g, bool always_shared) {
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

static inline std::int64_t weights_floats(const Winograd& g, const Cut& cut) {
    return round_up(cut.vectors * points * g.source.padded_channels() * W, 16);
}

/// V and M of one chunk.
static inline std::int64_t chunk_floats(const Winograd& g, const Cut& cut) {
    return places_floats(g.source_vectors(), cut.tiles) + places_floats(cut.vectors, cut.tiles);
}

static inline Winograd convolution_of(const ActivationShape& source, const ActivationShape& target,
                                      const std::int64_t* padding) {
    return {source, target, {padding[0], padding[1]}, (target.h + 3) / 4, (target.w + 3) / 4};
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
