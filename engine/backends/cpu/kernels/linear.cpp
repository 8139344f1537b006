// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// A classifier has few outputs: a row at a time is enough.

static constexpr int W = native_width;

void linear(const float* x, const float* w, const float* bias, float* y, std::int64_t rows, std::int64_t in,
            std::int64_t out, int threads) {
    parallel(rows, threads_for(rows * in * out / 8, threads), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            for (std::int64_t o = 0; o < out; ++o) {
                const float* a = x + row * in;
                const float* b = w + o * in;
                Vector<W> lanes[4] = {};
                std::int64_t i = 0;
                for (; i + 4 * W <= in; i += 4 * W) {
                    for (int k = 0; k < 4; ++k) {
                        lanes[k] += load<W>(a + i + k * W) * load<W>(b + i + k * W);
                    }
                }
                for (; i + W <= in; i += W) {
                    lanes[0] += load<W>(a + i) * load<W>(b + i);
                }
                const Vector<W> sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
                double total = bias == nullptr ? 0.0 : static_cast<double>(bias[o]);
                for (int k = 0; k < W; ++k) {
                    total += static_cast<double>(sum[k]);
                }
                for (; i < in; ++i) {
                    total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
                }
                y[row * out + o] = static_cast<float>(total);
            }
        }
    });
}

/// target[i] = sum_j factors[j * factor_stride] * vectors[j * length + i] for i in [begin, end)
static void combine(const float* factors, std::int64_t factor_stride, const float* vectors, std::int64_t length,
                    std::int64_t count, float* target, std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    for (; i + 4 * W <= end; i += 4 * W) {
        Vector<W> sums[4] = {};
        for (std::int64_t j = 0; j < count; ++j) {
            const float factor = factors[j * factor_stride];
            for (int k = 0; k < 4; ++k) {
                sums[k] += factor * load<W>(vectors + j * length + i + k * W);
            }
        }
        for (int k = 0; k < 4; ++k) {
            store<W>(target + i + k * W, sums[k]);
        }
    }
    for (; i < end; ++i) {
        float sum = 0.0f;
        for (std::int64_t j = 0; j < count; ++j) {
            sum += factors[j * factor_stride] * vectors[j * length + i];
        }
        target[i] = sum;
    }
}

void linear_input_gradient(const float* gy, const float* w, float* gx, std::int64_t rows, std::int64_t in,
                           std::int64_t out, int threads) {
    parallel(rows, threads_for(rows * in * out / 8, threads), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            combine(gy + row * out, 1, w, in, out, gx + row * in, 0, in);
        }
    });
}

void linear_weight_gradient(const float* x, const float* gy, float* gw, std::int64_t rows, std::int64_t in,
                            std::int64_t out, int threads) {
    constexpr std::int64_t piece = 4 * W;
    const std::int64_t pieces = (in + piece - 1) / piece;
    parallel(out * pieces, threads_for(rows * in * out / 8, threads), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t item = begin; item < end; ++item) {
            const std::int64_t o = item / pieces;
            const std::int64_t first = item % pieces * piece;
            const std::int64_t last = first + piece < in ? first + piece : in;
            combine(gy + o, out, x, in, rows, gw + o * in, first, last);
        }
    });
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
