// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

static constexpr int W = native_width;

void relu(const float* x, float* y, std::int64_t count, int threads) {
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) {
            y[i] = x[i] > 0.0f ? x[i] : 0.0f;
        }
    });
}

void relu_gradient(const float* y, const float* gy, float* gx, std::int64_t count, int threads) {
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) {
            const float g = gy[i]; // read always: a conditional read is not vectorised
            gx[i] = y[i] > 0.0f ? g : 0.0f;
        }
    });
}

void add(const float* const* x, int inputs, float* y, bool with_relu, std::int64_t count, int threads) {
    // Strips that stay in the first cache while the inputs are added to them one by one.
    constexpr std::int64_t strip = 1024;
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; s += strip) {
            const std::int64_t e = s + strip < end ? s + strip : end;
            if (inputs == 1) {
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    y[i] = x[0][i];
                }
            } else {
                const float* a = x[0];
                const float* b = x[1];
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    y[i] = a[i] + b[i];
                }
            }
            for (int j = 2; j < inputs; ++j) {
                const float* b = x[j];
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    y[i] += b[i];
                }
            }
            if (with_relu) {
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    y[i] = y[i] > 0.0f ? y[i] : 0.0f;
                }
            }
        }
    });
}

void scale(const float* x, const float* c, float* y, std::int64_t count, int threads) {
    const float factor = *c;
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) {
            y[i] = factor * x[i];
        }
    });
}

void weighted_sum(const float* weights, const std::int64_t* columns, const float* const* x, int inputs, float* y,
                  std::int64_t count, int threads) {
    constexpr std::int64_t strip = 1024;
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; s += strip) {
            const std::int64_t e = s + strip < end ? s + strip : end;
            const float first = weights[columns[0]];
            const float* a = x[0];
#pragma omp simd
            for (std::int64_t i = s; i < e; ++i) {
                y[i] = first * a[i];
            }
            for (int j = 1; j < inputs; ++j) {
                const float weight = weights[columns[j]];
                const float* b = x[j];
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    y[i] += weight * b[i];
                }
            }
        }
    });
}

void weighted_sum_gradient(const float* weights, const std::int64_t* columns, const float* gy, float* const* g,
                           int outputs, std::int64_t count, int threads) {
    constexpr std::int64_t strip = 1024;
    parallel_floats(count, threads, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; s += strip) {
            const std::int64_t e = s + strip < end ? s + strip : end;
            for (int j = 0; j < outputs; ++j) {
                float* out = g[j];
                if (out == nullptr) {
                    continue;
                }
                const float weight = weights[columns[j]];
#pragma omp simd
                for (std::int64_t i = s; i < e; ++i) {
                    out[i] = weight * gy[i];
                }
            }
        }
    });
}

/// Sum over one piece: float lanes over short runs, doubles over the runs.
static double dot_of_piece(const float* a, const float* b, std::int64_t count) {
    constexpr std::int64_t run = 64 * W;
    double total = 0.0;
    std::int64_t i = 0;
    while (i + W <= count) {
        const std::int64_t stop = i + run < count ? i + run : count;
        Vector<W> lanes[4] = {};
        for (; i + 4 * W <= stop; i += 4 * W) {
            for (int k = 0; k < 4; ++k) {
                lanes[k] += load<W>(a + i + k * W) * load<W>(b + i + k * W);
            }
        }
        for (; i + W <= stop; i += W) {
            lanes[0] += load<W>(a + i) * load<W>(b + i);
        }
        const Vector<W> sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        for (int k = 0; k < W; ++k) {
            total += static_cast<double>(sum[k]);
        }
    }
    for (; i < count; ++i) {
        total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    return total;
}

void dots(const float* a, const float* const* b, int inputs, double* partial, double* result, std::int64_t count,
          int threads) {
    const std::int64_t pieces = dot_partials(count);
    parallel(pieces, threads_for(count * inputs, threads), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t start = piece * dot_piece;
            const std::int64_t size = count - start < dot_piece ? count - start : dot_piece;
            for (int j = 0; j < inputs; ++j) {
                partial[piece * inputs + j] = dot_of_piece(a + start, b[j] + start, size);
            }
        }
    });
    for (int j = 0; j < inputs; ++j) {
        double total = 0.0;
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            total += partial[piece * inputs + j];
        }
        result[j] = total;
    }
}

double sum_of_squares(const float* x, double* partial, std::int64_t count, int threads) {
    double result = 0.0;
    dots(x, &x, 1, partial, &result, count, threads);
    return result;
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
