// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

template <int W>
struct IntegersOf {
    typedef std::int32_t type __attribute__((vector_size(W * 4)));
    typedef std::uint8_t bytes __attribute__((vector_size(W), aligned(1), may_alias));
};

/// Taps of a window that lie inside of the image for one output row or column.
struct Taps {
    std::int64_t first, last; ///< [first, last)
    std::int64_t origin;      ///< place of tap 0
};

static inline Taps taps_at(const Window& w, int axis, std::int64_t out, std::int64_t extent) {
    const std::int64_t dilation = w.dilation[axis];
    const std::int64_t origin = out * w.stride[axis] - w.padding[axis];
    std::int64_t first = 0;
    std::int64_t last = w.kernel[axis];
    while (first < last && origin + first * dilation < 0) {
        ++first;
    }
    while (last > first && origin + (last - 1) * dilation >= extent) {
        --last;
    }
    return {first, last, origin};
}

/// body(at, rows, columns) for every output pixel of the planes of this thread; `at` counts output pixels over all
/// planes.
template <class Body>
static inline void over_outputs(const ActivationShape& in, const ActivationShape& out, const Window& window,
                                std::int64_t begin, std::int64_t end, const Body& body) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
        for (std::int64_t p = 0; p < out.h; ++p) {
            const Taps rows = taps_at(window, 0, p, in.h);
            for (std::int64_t q = 0; q < out.w; ++q) {
                body(plane, p * out.w + q, rows, taps_at(window, 1, q, in.w));
            }
        }
    }
}

static constexpr float lowest = -__builtin_inff();

void max_pool(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x, float* y,
              std::uint8_t* argmax, int threads) {
    const std::int64_t B = in.block;
    parallel(in.planes(), threads_for(in.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        over_outputs(in, out, window, begin, end,
                     [&](std::int64_t plane, std::int64_t pixel, const Taps& rows, const Taps& columns) {
                         with_width(B, [&]<int W>() {
                             for (std::int64_t k = 0; k < B; k += W) {
                                 const float* source = x + plane * in.plane() + k;
                                 const std::int64_t at = plane * out.plane() + pixel * B + k;
                                 if constexpr (W == 1) {
                                     float best = lowest;
                                     int place = 0;
                                     for (std::int64_t r = rows.first; r < rows.last; ++r) {
                                         for (std::int64_t s = columns.first; s < columns.last; ++s) {
                                             const std::int64_t h = rows.origin + r * window.dilation[0];
                                             const std::int64_t w = columns.origin + s * window.dilation[1];
                                             const float v = source[(h * in.w + w) * B];
                                             if (v > best || v != v) { // NaN must not get lost
                                                 best = v;
                                                 place = static_cast<int>(r * window.kernel[1] + s);
                                             }
                                         }
                                     }
                                     y[at] = best;
                                     if (argmax != nullptr) {
                                         argmax[at] = static_cast<std::uint8_t>(place);
                                     }
                                 } else {
                                     typename IntegersOf<W>::type place = {};
                                     Vector<W> best = splat<W>(lowest);
                                     for (std::int64_t r = rows.first; r < rows.last; ++r) {
                                         for (std::int64_t s = columns.first; s < columns.last; ++s) {
                                             const std::int64_t h = rows.origin + r * window.dilation[0];
                                             const std::int64_t w = columns.origin + s * window.dilation[1];
                                             const Vector<W> v = load<W>(source + (h * in.w + w) * B);
                                             const auto better = (v > best) | (v != v);
                                             best = better ? v : best;
                                             const typename IntegersOf<W>::type here =
                                                 typename IntegersOf<W>::type{} +
                                                 static_cast<std::int32_t>(r * window.kernel[1] + s);
                                             place = better ? here : place;
                                         }
                                     }
                                     store<W>(y + at, best);
                                     if (argmax != nullptr) {
                                         using Bytes = typename IntegersOf<W>::bytes;
                                         *reinterpret_cast<Bytes*>(argmax + at) = __builtin_convertvector(place, Bytes);
                                     }
                                 }
                             }
                         });
                     });
    });
}

static inline void zero(float* p, std::int64_t count) { __builtin_memset(p, 0, static_cast<std::size_t>(count) * 4); }

void max_pool_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* gy,
                       const std::uint8_t* argmax, float* gx, int threads) {
    const std::int64_t B = in.block;
    parallel(in.planes(), threads_for(in.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        zero(gx + begin * in.plane(), (end - begin) * in.plane());
        over_outputs(in, out, window, begin, end,
                     [&](std::int64_t plane, std::int64_t pixel, const Taps& rows, const Taps& columns) {
                         with_width(B, [&]<int W>() {
                             for (std::int64_t k = 0; k < B; k += W) {
                                 float* target = gx + plane * in.plane() + k;
                                 const std::int64_t at = plane * out.plane() + pixel * B + k;
                                 if constexpr (W == 1) {
                                     const std::int64_t r = argmax[at] / window.kernel[1];
                                     const std::int64_t s = argmax[at] % window.kernel[1];
                                     const std::int64_t h = rows.origin + r * window.dilation[0];
                                     const std::int64_t w = columns.origin + s * window.dilation[1];
                                     target[(h * in.w + w) * B] += gy[at];
                                 } else {
                                     using Bytes = typename IntegersOf<W>::bytes;
                                     using Integers = typename IntegersOf<W>::type;
                                     const Integers place = __builtin_convertvector(
                                         *reinterpret_cast<const Bytes*>(argmax + at), Integers);
                                     const Vector<W> g = load<W>(gy + at);
                                     for (std::int64_t r = rows.first; r < rows.last; ++r) {
                                         for (std::int64_t s = columns.first; s < columns.last; ++s) {
                                             const std::int64_t h = rows.origin + r * window.dilation[0];
                                             const std::int64_t w = columns.origin + s * window.dilation[1];
                                             float* p = target + (h * in.w + w) * B;
                                             const auto here = static_cast<std::int32_t>(r * window.kernel[1] + s);
                                             store<W>(p, load<W>(p) + (place == here ? g : Vector<W>{}));
                                         }
                                     }
                                 }
                             }
                         });
                     });
    });
}

static inline float divisor(const Window& window, bool include_padding, const Taps& rows, const Taps& columns) {
    const std::int64_t taps = include_padding ? window.kernel[0] * window.kernel[1]
                                              : (rows.last - rows.first) * (columns.last - columns.first);
    return static_cast<float>(taps > 0 ? taps : 1);
}

void avg_pool(const ActivationShape& in, const ActivationShape& out, const Window& window, bool include_padding,
              const float* x, float* y, int threads) {
    const std::int64_t B = in.block;
    parallel(in.planes(), threads_for(in.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        over_outputs(in, out, window, begin, end,
                     [&](std::int64_t plane, std::int64_t pixel, const Taps& rows, const Taps& columns) {
                         const float count = divisor(window, include_padding, rows, columns);
                         with_width(B, [&]<int W>() {
                             for (std::int64_t k = 0; k < B; k += W) {
                                 Vector<W> sum = {};
                                 for (std::int64_t r = rows.first; r < rows.last; ++r) {
                                     const float* row = x + plane * in.plane() + (rows.origin + r) * in.w * B + k;
                                     for (std::int64_t s = columns.first; s < columns.last; ++s) {
                                         sum += load<W>(row + (columns.origin + s) * B);
                                     }
                                 }
                                 store<W>(y + plane * out.plane() + pixel * B + k, sum / count);
                             }
                         });
                     });
    });
}

void avg_pool_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                       bool include_padding, const float* gy, float* gx, int threads) {
    const std::int64_t B = in.block;
    parallel(in.planes(), threads_for(in.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        zero(gx + begin * in.plane(), (end - begin) * in.plane());
        over_outputs(in, out, window, begin, end,
                     [&](std::int64_t plane, std::int64_t pixel, const Taps& rows, const Taps& columns) {
                         const float count = divisor(window, include_padding, rows, columns);
                         with_width(B, [&]<int W>() {
                             for (std::int64_t k = 0; k < B; k += W) {
                                 const Vector<W> g = load<W>(gy + plane * out.plane() + pixel * B + k) / count;
                                 for (std::int64_t r = rows.first; r < rows.last; ++r) {
                                     float* row = gx + plane * in.plane() + (rows.origin + r) * in.w * B + k;
                                     for (std::int64_t s = columns.first; s < columns.last; ++s) {
                                         float* p = row + (columns.origin + s) * B;
                                         store<W>(p, load<W>(p) + g);
                                     }
                                 }
                             }
                         });
                     });
    });
}

void global_avg_pool(const ActivationShape& s, const float* x, float* y, int threads) {
    parallel(s.planes(), threads_for(s.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
            const std::int64_t image = plane / s.blocks();
            const std::int64_t channel = plane % s.blocks() * s.block;
            with_width(s.block, [&]<int W>() {
                for (std::int64_t k = 0; k < s.block; k += W) {
                    Vector<W> sums[4] = {};
                    for (std::int64_t i = 0; i < s.pixels(); ++i) {
                        sums[i & 3] += load<W>(x + plane * s.plane() + i * s.block + k);
                    }
                    float lanes[W];
                    store<W>(lanes, ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<float>(s.pixels()));
                    for (std::int64_t j = 0; j < W && channel + k + j < s.c; ++j) {
                        y[image * s.c + channel + k + j] = lanes[j];
                    }
                }
            });
        }
    });
}

void global_avg_pool_gradient(const ActivationShape& s, const float* gy, float* gx, int threads) {
    parallel(s.planes(), threads_for(s.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
            const std::int64_t image = plane / s.blocks();
            const std::int64_t channel = plane % s.blocks() * s.block;
            with_width(s.block, [&]<int W>() {
                for (std::int64_t k = 0; k < s.block; k += W) {
                    float lanes[W];
                    for (std::int64_t j = 0; j < W; ++j) {
                        const std::int64_t c = channel + k + j;
                        lanes[j] = c < s.c ? gy[image * s.c + c] / static_cast<float>(s.pixels()) : 0.0f;
                    }
                    const Vector<W> g = load<W>(lanes);
                    for (std::int64_t i = 0; i < s.pixels(); ++i) {
                        store<W>(gx + plane * s.plane() + i * s.block + k, g);
                    }
                }
            });
        }
    });
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
