// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// A plane (one image, one vector of channels) is worked off row by row. Rows that the window reads are first copied
// into a small ring, with zeros for the padding on both sides: no tap needs a test, and strided channels come together.
// The input gradient is the same correlation with the taps in reverse order, over gy with stride - 1 zeros put between.

static constexpr int tile = 8; ///< outputs of a row that are computed together

struct Correlation {
    std::int64_t source_h, source_w; ///< rows and columns that exist
    std::int64_t insert[2];          ///< 1, or the stride whose zeros are put between
    std::int64_t out_h, out_w;
    std::int64_t kernel[2], stride[2], padding[2], dilation[2];
    std::int64_t block;
};

/// Columns of a row in the ring.
static inline std::int64_t ring_columns(const Correlation& c) {
    return (round_up(c.out_w, tile) - 1) * c.stride[1] + (c.kernel[1] - 1) * c.dilation[1] + 1;
}

static inline std::int64_t ring_rows(const Correlation& c) {
    return (c.kernel[0] - 1) * c.dilation[0] / c.insert[0] + 2;
}

/// The rows of one plane that are in the ring.
template <int W>
struct Ring {
    const Correlation& c;
    const float* source;
    float* memory;
    std::int64_t columns = ring_columns(c);
    std::int64_t rows = ring_rows(c);
    std::int64_t next = 0; ///< first source row that has not been copied yet

    /// Row `place` of the padded source with its zeros; null if it is zero as a whole.
    const float* row(std::int64_t place) {
        if (place < 0 || place % c.insert[0] != 0 || place / c.insert[0] >= c.source_h) {
            return nullptr;
        }
        const std::int64_t wanted = place / c.insert[0];
        if (next < wanted - rows + 1) {
            next = wanted - rows + 1;
        }
        for (; next <= wanted; ++next) {
            float* target = memory + next % rows * columns * W;
            for (std::int64_t i = 0; i < c.source_w; ++i) {
                const std::int64_t at = i * c.insert[1] + c.padding[1];
                if (at >= 0 && at < columns) {
                    store<W>(target + at * W, load<W>(source + (next * c.source_w + i) * c.block));
                }
            }
        }
        return memory + wanted % rows * columns * W;
    }
};

/// Outputs of one row. Kernel width, dilation and stride are constants where that pays (0: taken from `c`).
template <int W, int Kernel, int Dilation, int Stride>
static inline void correlate_row(const Correlation& c, const float* const* rows, const float* weights, Vector<W> bias,
                                 bool with_relu, float* y) {
    const std::int64_t kernel = Kernel > 0 ? Kernel : c.kernel[1];
    const std::int64_t dilation = Kernel > 0 ? Dilation : c.dilation[1];
    const std::int64_t stride = Kernel > 0 ? Stride : c.stride[1];
    for (std::int64_t q = 0; q < c.out_w; q += tile) {
        Vector<W> sums[tile];
#pragma GCC unroll 8
        for (int t = 0; t < tile; ++t) {
            sums[t] = bias;
        }
        for (std::int64_t r = 0; r < c.kernel[0]; ++r) {
            if (rows[r] == nullptr) {
                continue;
            }
            const float* x = rows[r] + q * stride * W;
            const float* w = weights + r * kernel * W;
#pragma GCC unroll 7
            for (std::int64_t s = 0; s < kernel; ++s) {
                const Vector<W> factor = load<W>(w + s * W);
#pragma GCC unroll 8
                for (int t = 0; t < tile; ++t) {
                    sums[t] += factor * load<W>(x + (t * stride + s * dilation) * W);
                }
            }
        }
        const std::int64_t count = c.out_w - q < tile ? c.out_w - q : tile;
        for (std::int64_t t = 0; t < count; ++t) {
            store<W>(y + (q + t) * c.block, with_relu ? positive<W>(sums[t]) : sums[t]);
        }
    }
}

static constexpr std::int64_t most_rows = 64; ///< largest kernel height; the lowering refuses more

template <int W, int Kernel, int Dilation, int Stride>
static void correlate_plane(const Correlation& c, const float* source, const float* weights, Vector<W> bias,
                            bool with_relu, float* y, float* memory) {
    Ring<W> ring{c, source, memory};
    const float* rows[most_rows];
    for (std::int64_t p = 0; p < c.out_h; ++p) {
        for (std::int64_t r = 0; r < c.kernel[0]; ++r) {
            rows[r] = ring.row(p * c.stride[0] - c.padding[0] + r * c.dilation[0]);
        }
        correlate_row<W, Kernel, Dilation, Stride>(c, rows, weights, bias, with_relu, y + p * c.out_w * c.block);
    }
}

template <int W, int Kernel>
static void correlate_plane(const Correlation& c, const float* source, const float* weights, Vector<W> bias,
                            bool with_relu, float* y, float* memory) {
    const std::int64_t dilation = c.dilation[1];
    const std::int64_t stride = c.stride[1];
    if (dilation == 1 && stride == 1) {
        correlate_plane<W, Kernel, 1, 1>(c, source, weights, bias, with_relu, y, memory);
    } else if (dilation == 1 && stride == 2) {
        correlate_plane<W, Kernel, 1, 2>(c, source, weights, bias, with_relu, y, memory);
    } else if (dilation == 2 && stride == 1) {
        correlate_plane<W, Kernel, 2, 1>(c, source, weights, bias, with_relu, y, memory);
    } else if (dilation == 2 && stride == 2) {
        correlate_plane<W, Kernel, 2, 2>(c, source, weights, bias, with_relu, y, memory);
    } else {
        correlate_plane<W, 0, 0, 0>(c, source, weights, bias, with_relu, y, memory);
    }
}

template <int W>
static void correlate_plane(const Correlation& c, const float* source, const float* weights, Vector<W> bias,
                            bool with_relu, float* y, float* memory) {
    switch (c.kernel[1]) {
    case 3:
        correlate_plane<W, 3>(c, source, weights, bias, with_relu, y, memory);
        break;
    case 5:
        correlate_plane<W, 5>(c, source, weights, bias, with_relu, y, memory);
        break;
    case 7:
        correlate_plane<W, 7>(c, source, weights, bias, with_relu, y, memory);
        break;
    default:
        correlate_plane<W, 0, 0, 0>(c, source, weights, bias, with_relu, y, memory);
    }
}

/// Weights [c][taps] to [c / W][taps][W], padding zero, the taps in reverse order if asked.
static void pack(const ActivationShape& s, std::int64_t taps, const float* w, bool reversed, int width, float* packed) {
    for (std::int64_t c = 0; c < s.padded_channels(); ++c) {
        for (std::int64_t t = 0; t < taps; ++t) {
            const std::int64_t from = reversed ? taps - 1 - t : t;
            packed[(c / width * taps + t) * width + c % width] = c < s.c ? w[c * taps + from] : 0.0f;
        }
    }
}

static inline std::int64_t memory_per_thread(const Correlation& c, int width) {
    return ring_rows(c) * ring_columns(c) * width;
}

/// `planes` of `shape` (the source) give those of the target. packed: weights, then a ring for each thread.
static void correlate(const Correlation& c, const ActivationShape& shape, std::int64_t target_plane, const float* x,
                      const float* w, bool reversed, const float* bias, bool with_relu, float* y, float* packed,
                      int threads) {
    const std::int64_t taps = c.kernel[0] * c.kernel[1];
    with_width(shape.block, [&]<int W>() {
        pack(shape, taps, w, reversed, W, packed);
        float* rings = packed + round_up(taps * shape.padded_channels(), 16);
        const std::int64_t ring = round_up(memory_per_thread(c, W), 16);
        const int team = threads_for(shape.n * c.out_h * c.out_w * shape.padded_channels() * taps / 4, threads);
        parallel(shape.planes(), team, [&](std::int64_t begin, std::int64_t end) {
            float* memory = rings + omp_get_thread_num() * ring;
            __builtin_memset(memory, 0, static_cast<std::size_t>(ring) * sizeof(float));
            for (std::int64_t plane = begin; plane < end; ++plane) {
                for (std::int64_t k = 0; k < shape.block; k += W) {
                    const std::int64_t channel = plane % shape.blocks() * shape.block + k;
                    float lanes[W] = {};
                    for (std::int64_t j = 0; bias != nullptr && j < W && channel + j < shape.c; ++j) {
                        lanes[j] = bias[channel + j];
                    }
                    correlate_plane<W>(c, x + plane * shape.plane() + k, packed + channel * taps, load<W>(lanes),
                                       with_relu, y + plane * target_plane + k, memory);
                }
            }
        });
    });
}

static Correlation forward_correlation(const ActivationShape& in, const ActivationShape& out, const Window& w) {
    return {in.h,
            in.w,
            {1, 1},
            out.h,
            out.w,
            {w.kernel[0], w.kernel[1]},
            {w.stride[0], w.stride[1]},
            {w.padding[0], w.padding[1]},
            {w.dilation[0], w.dilation[1]},
            in.block};
}

static Correlation gradient_correlation(const ActivationShape& in, const ActivationShape& out, const Window& w) {
    return {out.h,
            out.w,
            {w.stride[0], w.stride[1]},
            in.h,
            in.w,
            {w.kernel[0], w.kernel[1]},
            {1, 1},
            {(w.kernel[0] - 1) * w.dilation[0] - w.padding[0], (w.kernel[1] - 1) * w.dilation[1] - w.padding[1]},
            {w.dilation[0], w.dilation[1]},
            in.block};
}

void depthwise_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                       const float* w, const float* bias, bool with_relu, float* y, float* packed, int threads) {
    correlate(forward_correlation(in, out, window), in, out.plane(), x, w, false, bias, with_relu, y, packed, threads);
}

void depthwise_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* gy, const float* w, float* gx, float* packed, int threads) {
    correlate(gradient_correlation(in, out, window), out, in.plane(), gy, w, true, nullptr, false, gx, packed, threads);
}

/// Adds one row's share to sums [kernel height][kernel width][W]; g has the row of gy, zeros up to the tile.
template <int W, int Kernel, int Dilation, int Stride>
static inline void weight_row(const Correlation& c, const float* const* rows, const float* g, float* sums) {
    const std::int64_t kernel = Kernel > 0 ? Kernel : c.kernel[1];
    const std::int64_t dilation = Kernel > 0 ? Dilation : c.dilation[1];
    const std::int64_t stride = Kernel > 0 ? Stride : c.stride[1];
    for (std::int64_t q = 0; q < c.out_w; q += tile) {
        Vector<W> gy[tile];
#pragma GCC unroll 8
        for (int t = 0; t < tile; ++t) {
            gy[t] = load<W>(g + (q + t) * W);
        }
        for (std::int64_t r = 0; r < c.kernel[0]; ++r) {
            if (rows[r] == nullptr) {
                continue;
            }
            const float* x = rows[r] + q * stride * W;
            float* target = sums + r * kernel * W;
#pragma GCC unroll 7
            for (std::int64_t s = 0; s < kernel; ++s) {
                // A tile of its own first: short chains, small rounding errors.
                Vector<W> even = gy[0] * load<W>(x + s * dilation * W);
                Vector<W> odd = gy[1] * load<W>(x + (stride + s * dilation) * W);
#pragma GCC unroll 8
                for (int t = 2; t < tile; t += 2) {
                    even += gy[t] * load<W>(x + (t * stride + s * dilation) * W);
                    odd += gy[t + 1] * load<W>(x + ((t + 1) * stride + s * dilation) * W);
                }
                store<W>(target + s * W, load<W>(target + s * W) + (even + odd));
            }
        }
    }
}

template <int W, int Kernel, int Dilation, int Stride>
static void weight_plane(const Correlation& c, const float* x, const float* gy, float* sums, float* memory) {
    Ring<W> ring{c, x, memory};
    float* row_of_gy = memory + memory_per_thread(c, W);
    const float* rows[most_rows];
    for (std::int64_t p = 0; p < c.out_h; ++p) {
        for (std::int64_t q = 0; q < c.out_w; ++q) {
            store<W>(row_of_gy + q * W, load<W>(gy + (p * c.out_w + q) * c.block));
        }
        for (std::int64_t r = 0; r < c.kernel[0]; ++r) {
            rows[r] = ring.row(p * c.stride[0] - c.padding[0] + r * c.dilation[0]);
        }
        weight_row<W, Kernel, Dilation, Stride>(c, rows, row_of_gy, sums);
    }
}

template <int W, int Kernel>
static void weight_plane(const Correlation& c, const float* x, const float* gy, float* sums, float* memory) {
    const std::int64_t dilation = c.dilation[1];
    const std::int64_t stride = c.stride[1];
    if (dilation == 1 && stride == 1) {
        weight_plane<W, Kernel, 1, 1>(c, x, gy, sums, memory);
    } else if (dilation == 1 && stride == 2) {
        weight_plane<W, Kernel, 1, 2>(c, x, gy, sums, memory);
    } else if (dilation == 2 && stride == 1) {
        weight_plane<W, Kernel, 2, 1>(c, x, gy, sums, memory);
    } else if (dilation == 2 && stride == 2) {
        weight_plane<W, Kernel, 2, 2>(c, x, gy, sums, memory);
    } else {
        weight_plane<W, 0, 0, 0>(c, x, gy, sums, memory);
    }
}

template <int W>
static void weight_plane(const Correlation& c, const float* x, const float* gy, float* sums, float* memory) {
    switch (c.kernel[1]) {
    case 3:
        weight_plane<W, 3>(c, x, gy, sums, memory);
        break;
    case 5:
        weight_plane<W, 5>(c, x, gy, sums, memory);
        break;
    case 7:
        weight_plane<W, 7>(c, x, gy, sums, memory);
        break;
    default:
        weight_plane<W, 0, 0, 0>(c, x, gy, sums, memory);
    }
}

void depthwise_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               const float* x, const float* gy, float* gw, float* partial, int threads) {
    const Correlation c = forward_correlation(in, out, window);
    const std::int64_t taps = c.kernel[0] * c.kernel[1];
    with_width(in.block, [&]<int W>() {
        // partial: [n][c / W][taps][W], then a ring and a row of gy for each thread
        float* rings = partial + round_up(in.n * taps * in.padded_channels(), 16);
        const std::int64_t ring = round_up(memory_per_thread(c, W) + round_up(c.out_w, tile) * W, 16);
        const int team = threads_for(in.n * c.out_h * c.out_w * in.padded_channels() * taps / 4, threads);
        parallel(in.planes(), team, [&](std::int64_t begin, std::int64_t end) {
            float* memory = rings + omp_get_thread_num() * ring;
            __builtin_memset(memory, 0, static_cast<std::size_t>(ring) * sizeof(float));
            for (std::int64_t plane = begin; plane < end; ++plane) {
                for (std::int64_t k = 0; k < in.block; k += W) {
                    float* sums = partial + (plane * in.block + k) * taps;
                    __builtin_memset(sums, 0, static_cast<std::size_t>(taps) * W * sizeof(float));
                    weight_plane<W>(c, x + plane * in.plane() + k, gy + plane * out.plane() + k, sums, memory);
                }
            }
        });
        parallel(in.c, threads_for(in.n * in.c * taps, threads), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t channel = begin; channel < end; ++channel) {
                for (std::int64_t t = 0; t < taps; ++t) {
                    double total = 0.0;
                    for (std::int64_t i = 0; i < in.n; ++i) {
                        const std::int64_t group = i * in.padded_channels() + channel / W * W;
                        total += static_cast<double>(partial[group * taps + t * W + channel % W]);
                    }
                    gw[channel * taps + t] = static_cast<float>(total);
                }
            }
        });
    });
}

std::int64_t depthwise_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               Direction direction, int threads) {
    const Correlation c = direction == Direction::input_gradient ? gradient_correlation(in, out, window)
                                                                 : forward_correlation(in, out, window);
    const std::int64_t taps = c.kernel[0] * c.kernel[1];
    const std::int64_t copies =
        direction == Direction::weight_gradient ? in.n : 1; // sums of each image, or the weights
    const int width = 16;
    return round_up(copies * taps * in.padded_channels(), 16) +
           threads * round_up(memory_per_thread(c, width) + round_up(c.out_w, tile) * width, 16);
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
