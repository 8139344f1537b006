// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/register_tile.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// A 1x1 convolution is a matrix product over pixels. Forward and input gradient are the same loop: a vector of target
// channels times one source channel at a time, for a tile of pixels whose sums stay in registers.

static constexpr int tile = native_width >= 16 ? 16 : 8;  ///< pixels of a tile of one vector
static constexpr std::int64_t segment_floats = 64 * 1024; ///< of source and target: a segment stays in the second cache

/// Pixels that are worked off together. Long runs of one plane let the processor fetch ahead.
static inline std::int64_t segment_of(const ActivationShape& a, const ActivationShape& b) {
    const std::int64_t pixels = segment_floats / (a.padded_channels() + b.padded_channels()) / 16 * 16;
    return pixels < 64 ? 64 : smaller(pixels, 1024);
}

/// target[pixel][k] = act(sum_c source[pixel][c] weights[k][c] + bias[k]).
struct Product {
    ActivationShape source, target;
    std::int64_t rows, columns;                      ///< pixels that are multiplied
    std::int64_t source_stride[2], target_stride[2]; ///< in pixels, from one to the next in height and width
    const float* packed;                             ///< [k / W][c][W]
    const float* bias;                               ///< padded to whole blocks; null: none
    bool relu;
};

/// `Count` vectors of target channels for `Tile` pixels.
template <int W, int Count, int Tile>
static inline void product_tile(const Product& p, const float* source, std::int64_t source_step, const float* weights,
                                const float* bias, float* const* target, std::int64_t target_step) {
    TileSums<W, Count, Tile> sums;
#pragma GCC unroll 2
    for (int v = 0; v < Count; ++v) {
        const Vector<W> first = bias == nullptr ? Vector<W>{} : load<W>(bias + v * W);
#pragma GCC unroll 16
        for (int t = 0; t < Tile; ++t) {
            sums[v][t] = first;
        }
    }
    const std::int64_t channels = p.source.c;
    const std::int64_t block = p.source.block;
    for (std::int64_t c = 0; c < channels; c += block) {
        add_products<W, Count, Tile>(sums, source + c / block * p.source.plane(), source_step, weights + c * W,
                                     channels * W, smaller(block, channels - c));
    }
    store_tile<W, Count, Tile>(sums, p.relu, target, target_step);
}

/// `count` pixels that stand evenly apart, one or two vectors of target channels.
template <int W, int Count>
static void product_segment(const Product& p, const float* source, float* image, std::int64_t target_pixel,
                            std::int64_t vector, std::int64_t count) {
    const std::int64_t source_step = p.source_stride[1] * p.source.block;
    const std::int64_t target_step = p.target_stride[1] * p.target.block;
    const float* weights = p.packed + vector * p.source.c * W;
    const float* bias = p.bias == nullptr ? nullptr : p.bias + vector * W;
    float* first_target[Count];
    for (int v = 0; v < Count; ++v) {
        const std::int64_t channel = (vector + v) * W;
        first_target[v] = image + channel / p.target.block * p.target.plane() + target_pixel * p.target.block +
                          channel % p.target.block;
    }
    in_tiles<tile / Count>(count, [&]<int Tile>(std::int64_t first) {
        float* target[Count];
        for (int v = 0; v < Count; ++v) {
            target[v] = first_target[v] + first * target_step;
        }
        product_tile<W, Count, Tile>(p, source + first * source_step, source_step, weights, bias, target, target_step);
    });
}

static void multiply(const Product& p, const float* source, float* target, int threads) {
    // Without strides the rows follow each other: cut all pixels evenly. Else a row is a segment.
    const bool dense =
        p.source_stride[0] == 1 && p.source_stride[1] == 1 && p.target_stride[0] == 1 && p.target_stride[1] == 1;
    const std::int64_t pixels = p.rows * p.columns;
    const std::int64_t segment_pixels = segment_of(p.source, p.target);
    const std::int64_t segments = dense ? (pixels + segment_pixels - 1) / segment_pixels : p.rows;
    const std::int64_t work = p.source.n * pixels * p.source.c * p.target.padded_channels() / 8;
    with_width(p.target.block, [&]<int W>() {
        const std::int64_t vectors = p.target.padded_channels() / W;
        parallel(p.source.n * segments, threads_for(work, threads), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t item = begin; item < end; ++item) {
                const std::int64_t image = item / segments;
                const std::int64_t segment = item % segments;
                std::int64_t from = 0;
                std::int64_t to = 0;
                std::int64_t count = p.columns;
                if (dense) {
                    from = to = segment * segment_pixels;
                    count = smaller(segment_pixels, pixels - from);
                } else {
                    from = segment * p.source_stride[0] * p.source.w;
                    to = segment * p.target_stride[0] * p.target.w;
                }
                const float* x = source + image * p.source.blocks() * p.source.plane() + from * p.source.block;
                float* y = target + image * p.target.blocks() * p.target.plane();
                std::int64_t vector = 0;
                for (; vector + 2 <= vectors; vector += 2) {
                    product_segment<W, 2>(p, x, y, to, vector, count);
                }
                if (vector < vectors) {
                    product_segment<W, 1>(p, x, y, to, vector, count);
                }
            }
        });
    });
}

/// packed[k / W][c][W] from w, whose element (k, c) stands at k * k_step + c * c_step. Padding is zero.
static void pack(const float* w, std::int64_t targets, std::int64_t k_step, std::int64_t sources, std::int64_t c_step,
                 std::int64_t padded, std::int64_t width, float* packed, int threads) {
    parallel(padded / width, threads_for(padded * sources, threads), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) {
            for (std::int64_t c = 0; c < sources; ++c) {
                for (std::int64_t j = 0; j < width; ++j) {
                    const std::int64_t k = v * width + j;
                    packed[(v * sources + c) * width + j] = k < targets ? w[k * k_step + c * c_step] : 0.0f;
                }
            }
        }
    });
}

static std::int64_t width_of(std::int64_t block) {
    std::int64_t width = 1;
    with_width(block, [&]<int W>() { width = W; });
    return width;
}

void pointwise_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                       const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads) {
    float* biases = scratch + round_up(in.c * out.padded_channels(), 16);
    pack(w, out.c, in.c, in.c, 1, out.padded_channels(), width_of(out.block), scratch, threads);
    for (std::int64_t k = 0; bias != nullptr && k < out.padded_channels(); ++k) {
        biases[k] = k < out.c ? bias[k] : 0.0f;
    }
    const Product p{in,
                    out,
                    out.h,
                    out.w,
                    {window.stride[0], window.stride[1]},
                    {1, 1},
                    scratch,
                    bias == nullptr ? nullptr : biases,
                    with_relu};
    multiply(p, x, y, threads);
}

void pointwise_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* gy, const float* w, float* gx, float* scratch, int threads) {
    pack(w, in.c, 1, out.c, in.c, in.padded_channels(), width_of(in.block), scratch, threads);
    if (window.stride[0] != 1 || window.stride[1] != 1) {
        parallel_floats(in.floats(), threads, [=](std::int64_t begin, std::int64_t end) {
            __builtin_memset(gx + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(float));
        });
    }
    const Product p{out, in, out.h, out.w, {1, 1}, {window.stride[0], window.stride[1]}, scratch, nullptr, false};
    multiply(p, gy, gx, threads);
}

// Weight gradient: tiles of W target channels by 8 or 16 source channels, added over the pixels of a slice of images.
// Slices are added afterwards, in order.

static constexpr int most_tile = native_width >= 16 ? 16 : 8;
static constexpr std::int64_t most_slices = 16;
static constexpr std::int64_t most_sums =
    16384; ///< floats that one piece of work adds to: they stay in the second cache

struct WeightGradient {
    ActivationShape in, out;
    std::int64_t stride[2];
    std::int64_t slices;
    std::int64_t vectors; ///< of target channels
    std::int64_t tile;    ///< source channels together; never across two blocks
    std::int64_t groups;  ///< of `tile` source channels
    std::int64_t parts;   ///< into which the groups are cut

    [[gnu::always_inline]] std::int64_t first_group(std::int64_t part) const { return groups * part / parts; }
};

/// Sums over `count` pixels for Count target vectors and `channels` source channels, added to sums [channels][W] of
/// each vector.
template <int W, int Count>
static void gradient_segment(const float* const* gy, std::int64_t gy_step, const float* x, std::int64_t x_step,
                             std::int64_t count, std::int64_t channels, float* const* sums) {
    in_tiles<most_tile / Count>(channels, [&]<int Tile>(std::int64_t first) {
        float* target[2] = {sums[0] + first * W, Count == 2 ? sums[1] + first * W : nullptr};
        add_outer_products<W, Count, Tile>(gy, gy_step, x + first, x_step, count, target);
    });
}

/// Sums of one slice for the groups of one part: sums [group][vectors][tile][W], beginning with group 0.
template <int W>
static void gradient_slice(const WeightGradient& g, std::int64_t slice, std::int64_t part, const float* x,
                           const float* gy, float* sums) {
    const std::int64_t group_floats = g.vectors * g.tile * W;
    const std::int64_t first_group = g.first_group(part);
    const std::int64_t last_group = g.first_group(part + 1);
    __builtin_memset(sums + first_group * group_floats, 0,
                     static_cast<std::size_t>((last_group - first_group) * group_floats) * sizeof(float));
    const bool dense = g.stride[0] == 1 && g.stride[1] == 1;
    const std::int64_t pixels = g.out.pixels();
    const std::int64_t segment_pixels = segment_of(g.in, g.out);
    const std::int64_t first = g.in.n * slice / g.slices;
    const std::int64_t last = g.in.n * (slice + 1) / g.slices;
    for (std::int64_t image = first; image < last; ++image) {
        const std::int64_t segments = dense ? (pixels + segment_pixels - 1) / segment_pixels : g.out.h;
        for (std::int64_t segment = 0; segment < segments; ++segment) {
            std::int64_t x_pixel = segment * g.stride[0] * g.in.w;
            std::int64_t y_pixel = segment * g.out.w;
            std::int64_t count = g.out.w;
            if (dense) {
                x_pixel = y_pixel = segment * segment_pixels;
                count = smaller(segment_pixels, pixels - x_pixel);
            }
            for (std::int64_t group = first_group; group < last_group; ++group) {
                const std::int64_t channel = group * g.tile;
                const float* source = x + (image * g.in.blocks() + channel / g.in.block) * g.in.plane() +
                                      x_pixel * g.in.block + channel % g.in.block;
                const std::int64_t channels = smaller(g.tile, g.in.c - channel);
                const std::int64_t x_step = g.stride[1] * g.in.block;
                for (std::int64_t v = 0; v < g.vectors; v += 2) {
                    const float* target[2];
                    float* result[2];
                    for (std::int64_t i = 0; i < 2; ++i) {
                        const std::int64_t k = (v + i) * W;
                        target[i] = gy + (image * g.out.blocks() + k / g.out.block) * g.out.plane() +
                                    y_pixel * g.out.block + k % g.out.block;
                        result[i] = sums + (group * g.vectors + v + i) * g.tile * W;
                    }
                    if (v + 1 < g.vectors) {
                        gradient_segment<W, 2>(target, g.out.block, source, x_step, count, channels, result);
                    } else {
                        gradient_segment<W, 1>(target, g.out.block, source, x_step, count, channels, result);
                    }
                }
            }
        }
    }
}

static WeightGradient weight_gradient_of(const ActivationShape& in, const ActivationShape& out, const Window& window,
                                         std::int64_t width) {
    WeightGradient g{in, out, {window.stride[0], window.stride[1]}, 1, out.padded_channels() / width, most_tile, 0, 1};
    if (in.blocks() > 1 && in.block % most_tile != 0) {
        g.tile = in.block % 8 == 0 ? 8 : in.block;
    }
    g.groups = (in.c + g.tile - 1) / g.tile;
    const std::int64_t sums = g.groups * g.tile * out.padded_channels();
    const std::int64_t parts = (sums + most_sums - 1) / most_sums;
    g.parts = smaller(parts, g.groups);
    // Many parts are enough work for many threads, and the sums of many slices would take much memory.
    g.slices = smaller(in.n, (most_slices + g.parts - 1) / g.parts);
    return g;
}

void pointwise_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               const float* x, const float* gy, float* gw, float* scratch, int threads) {
    with_width(out.block, [&]<int W>() {
        const WeightGradient g = weight_gradient_of(in, out, window, W);
        const std::int64_t slice_floats = g.groups * g.vectors * g.tile * W;
        const std::int64_t work = in.n * out.pixels() * in.c * out.padded_channels() / 8;
        parallel(g.slices * g.parts, threads_for(work, threads), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t item = begin; item < end; ++item) {
                const std::int64_t slice = item / g.parts;
                gradient_slice<W>(g, slice, item % g.parts, x, gy, scratch + slice * slice_floats);
            }
        });
        // Added in the order in which they lie; each vector goes to W rows of the result.
        const std::int64_t rows = g.groups * g.vectors * g.tile;
        parallel(rows, threads_for(g.slices * rows * W, threads), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin; row < end; ++row) {
                const std::int64_t c = row / (g.vectors * g.tile) * g.tile + row % g.tile;
                const std::int64_t k = row / g.tile % g.vectors * W;
                Vector<W> sum = load<W>(scratch + row * W);
                for (std::int64_t slice = 1; slice < g.slices; ++slice) {
                    sum += load<W>(scratch + slice * slice_floats + row * W);
                }
                float lanes[W];
                store<W>(lanes, sum);
                for (std::int64_t j = 0; c < in.c && j < W && k + j < out.c; ++j) {
                    gw[(k + j) * in.c + c] = lanes[j];
                }
            }
        });
    });
}

std::int64_t pointwise_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               Direction direction, int) {
    switch (direction) {
    case Direction::forward:
        return round_up(in.c * out.padded_channels(), 16) + out.padded_channels();
    case Direction::input_gradient:
        return out.c * in.padded_channels();
    case Direction::weight_gradient:
        break;
    }
    const WeightGradient g = weight_gradient_of(in, out, window, 1);
    return g.slices * g.groups * g.tile * out.padded_channels();
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
