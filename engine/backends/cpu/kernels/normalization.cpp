// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

#include <math.h> // the C functions: std:: has inline ones, see kernels.h

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

// All kernels here share out planes (one image, one block of channels) between the threads. Sums are kept one a plane
// and added over the images afterwards, in order, so that they do not depend on the number of threads. Within a plane
// floats are added over `run` pixels in four chains, then doubles (or means) over the runs.

static constexpr std::int64_t run = 256; // 16 KiB of a block of 16: the second look at it finds it in the first cache

/// Mean and sum of squared differences from it of one plane's vector of channels: each run by two passes, runs joined
/// by Chan's formula. One pass with E[x^2] - E[x]^2 would cancel.
template <int W>
static void moments(const float* x, std::int64_t pixels, std::int64_t stride, float* mean_out, float* square_out) {
    Vector<W> mean = {};
    Vector<W> square = {};
    for (std::int64_t start = 0; start < pixels; start += run) {
        const std::int64_t size = pixels - start < run ? pixels - start : run;
        const float* p = x + start * stride;
        Vector<W> sums[4] = {};
        std::int64_t i = 0;
        for (; i + 4 <= size; i += 4) {
            for (int k = 0; k < 4; ++k) {
                sums[k] += load<W>(p + (i + k) * stride);
            }
        }
        for (; i < size; ++i) {
            sums[0] += load<W>(p + i * stride);
        }
        const Vector<W> local = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<float>(size);
        Vector<W> squares[4] = {};
        Vector<W> rest = {}; // of the mean's own rounding
        for (i = 0; i + 4 <= size; i += 4) {
            for (int k = 0; k < 4; ++k) {
                const Vector<W> d = load<W>(p + (i + k) * stride) - local;
                squares[k] += d * d;
                rest += d;
            }
        }
        for (; i < size; ++i) {
            const Vector<W> d = load<W>(p + i * stride) - local;
            squares[0] += d * d;
            rest += d;
        }
        const Vector<W> correction = rest / static_cast<float>(size);
        const Vector<W> local_mean = local + correction;
        const Vector<W> local_square = ((squares[0] + squares[1]) + (squares[2] + squares[3])) - rest * correction;
        const float before = static_cast<float>(start);
        const float share = static_cast<float>(size) / static_cast<float>(start + size);
        const Vector<W> delta = local_mean - mean;
        mean += delta * share;
        square += local_square + delta * delta * (before * share);
    }
    store<W>(mean_out, mean);
    store<W>(square_out, square);
}

/// Joins the planes' moments of one channel; returns the mean, `variance` is the biased one.
static double joined_mean(const float* means, const float* squares, std::int64_t n, std::int64_t stride,
                          std::int64_t pixels, double& variance) {
    double mean = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        mean += static_cast<double>(means[i * stride]);
    }
    mean /= static_cast<double>(n);
    double square = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(means[i * stride]) - mean;
        square += static_cast<double>(squares[i * stride]) + d * d * static_cast<double>(pixels);
    }
    variance = square / static_cast<double>(n * pixels);
    return mean;
}

/// y = act((x - mean) factor + bias (+ residual)) over one plane, vectors of channels.
template <int W, bool Relu, bool Residual>
static void apply_plane(const float* x, const float* residual, float* y, std::int64_t pixels, std::int64_t stride,
                        Vector<W> mean, Vector<W> factor, Vector<W> bias) {
    for (std::int64_t i = 0; i < pixels; ++i) {
        Vector<W> v = (load<W>(x + i * stride) - mean) * factor + bias;
        if constexpr (Residual) {
            v += load<W>(residual + i * stride);
        }
        store<W>(y + i * stride, Relu ? positive<W>(v) : v);
    }
}

template <int W>
static void apply_plane(bool relu, const float* x, const float* residual, float* y, std::int64_t pixels,
                        std::int64_t stride, Vector<W> mean, Vector<W> factor, Vector<W> bias) {
    if (relu && residual != nullptr) {
        apply_plane<W, true, true>(x, residual, y, pixels, stride, mean, factor, bias);
    } else if (relu) {
        apply_plane<W, true, false>(x, nullptr, y, pixels, stride, mean, factor, bias);
    } else if (residual != nullptr) {
        apply_plane<W, false, true>(x, residual, y, pixels, stride, mean, factor, bias);
    } else {
        apply_plane<W, false, false>(x, nullptr, y, pixels, stride, mean, factor, bias);
    }
}

/// Applies to the planes [begin, end), the last first: that one was read most recently.
static void apply_planes(const BatchNorm& norm, std::int64_t begin, std::int64_t end, const float* x,
                         const float* residual, float* y, const float* means, const float* factors,
                         const float* biases) {
    const ActivationShape& s = norm.shape;
    with_width(s.block, [&]<int W>() {
        for (std::int64_t plane = end; plane-- > begin;) {
            const std::int64_t channel = plane % s.blocks() * s.block;
            for (std::int64_t b = 0; b < s.block; b += W) {
                const std::int64_t at = plane * s.plane() + b;
                apply_plane<W>(norm.relu, x + at, residual == nullptr ? nullptr : residual + at, y + at, s.pixels(),
                               s.block, load<W>(means + channel + b), load<W>(factors + channel + b),
                               load<W>(biases + channel + b));
            }
        }
    });
}

void batch_norm_forward(const BatchNorm& norm, const float* x, const float* residual, float* y, float* mean,
                        float* inv_std, float* running_mean, float* running_var, float* partial) {
    const ActivationShape& s = norm.shape;
    const std::int64_t channels = s.padded_channels();
    float* plane_means = partial;
    float* plane_squares = partial + s.n * channels;
    float* means = plane_squares + s.n * channels; // padded copies of what the op gives out
    float* factors = means + channels;
    float* biases = factors + channels;
    const int threads = threads_for(s.floats(), norm.threads);
#pragma omp parallel num_threads(threads)
    {
        const Share planes = share_of(s.planes());
        with_width(s.block, [&]<int W>() {
            for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
                for (std::int64_t b = 0; b < s.block; b += W) {
                    const std::int64_t at = plane * s.block + b;
                    moments<W>(x + plane * s.plane() + b, s.pixels(), s.block, plane_means + at, plane_squares + at);
                }
            }
        });
#pragma omp barrier
        const Share mine = share_of(channels);
        for (std::int64_t c = mine.begin; c < mine.end; ++c) {
            if (c >= s.c) { // padding
                means[c] = factors[c] = biases[c] = 0.0f;
                continue;
            }
            double variance = 0.0;
            const double m = joined_mean(plane_means + c, plane_squares + c, s.n, channels, s.pixels(), variance);
            const double inverse = 1.0 / sqrt(variance + static_cast<double>(norm.eps));
            mean[c] = means[c] = static_cast<float>(m);
            inv_std[c] = static_cast<float>(inverse);
            factors[c] = norm.weight == nullptr ? inv_std[c] : inv_std[c] * norm.weight[c];
            biases[c] = norm.bias == nullptr ? 0.0f : norm.bias[c];
            if (running_mean != nullptr) {
                const double count = static_cast<double>(s.n * s.pixels());
                const double unbiased = count > 1.0 ? variance * count / (count - 1.0) : variance;
                const double momentum = static_cast<double>(norm.momentum);
                running_mean[c] =
                    static_cast<float>((1.0 - momentum) * static_cast<double>(running_mean[c]) + momentum * m);
                running_var[c] =
                    static_cast<float>((1.0 - momentum) * static_cast<double>(running_var[c]) + momentum * unbiased);
            }
        }
#pragma omp barrier
        apply_planes(norm, planes.begin, planes.end, x, residual, y, means, factors, biases);
    }
}

void batch_norm_apply(const BatchNorm& norm, const float* x, const float* mean, const float* statistic, bool variance,
                      const float* residual, float* y, float* partial) {
    const ActivationShape& s = norm.shape;
    const std::int64_t channels = s.padded_channels();
    float* means = partial;
    float* factors = means + channels;
    float* biases = factors + channels;
    for (std::int64_t c = 0; c < channels; ++c) {
        if (c >= s.c) {
            means[c] = factors[c] = biases[c] = 0.0f;
            continue;
        }
        const float inverse =
            variance ? static_cast<float>(1.0 / sqrt(static_cast<double>(statistic[c]) + static_cast<double>(norm.eps)))
                     : statistic[c];
        means[c] = mean[c];
        factors[c] = norm.weight == nullptr ? inverse : inverse * norm.weight[c];
        biases[c] = norm.bias == nullptr ? 0.0f : norm.bias[c];
    }
    parallel(s.planes(), threads_for(s.floats(), norm.threads), [&](std::int64_t begin, std::int64_t end) {
        apply_planes(norm, begin, end, x, residual, y, means, factors, biases);
    });
}

/// Sums of g and g (x - mean) of one plane, g masked by y > 0 and written to gresidual where these are given.
template <int W, bool Mask>
static void gradient_sums(const float* x, const float* gy, const float* y, float* gresidual, std::int64_t pixels,
                          std::int64_t stride, Vector<W> mean, float* sum_out, float* product_out) {
    Vector<W> sum = {};
    Vector<W> product = {};
    for (std::int64_t start = 0; start < pixels; start += run) {
        const std::int64_t stop = start + run < pixels ? start + run : pixels;
        Vector<W> sums[2] = {};
        Vector<W> products[2] = {};
        for (std::int64_t i = start; i < stop; ++i) {
            Vector<W> g = load<W>(gy + i * stride);
            if constexpr (Mask) {
                g = masked<W>(g, load<W>(y + i * stride));
            }
            if (gresidual != nullptr) {
                store<W>(gresidual + i * stride, g);
            }
            sums[i & 1] += g;
            products[i & 1] += g * (load<W>(x + i * stride) - mean);
        }
        sum += sums[0] + sums[1];
        product += products[0] + products[1];
    }
    store<W>(sum_out, sum);
    store<W>(product_out, product);
}

/// gx = factor g - a - b (x - mean)
template <int W, bool Mask>
static void gradient_apply(const float* x, const float* gy, const float* y, float* gx, std::int64_t pixels,
                           std::int64_t stride, Vector<W> mean, Vector<W> factor, Vector<W> a, Vector<W> b) {
    for (std::int64_t i = 0; i < pixels; ++i) {
        Vector<W> g = load<W>(gy + i * stride);
        if constexpr (Mask) {
            g = masked<W>(g, load<W>(y + i * stride));
        }
        store<W>(gx + i * stride, (factor * g - a) - b * (load<W>(x + i * stride) - mean));
    }
}

void batch_norm_gradient(const BatchNorm& norm, const float* x, const float* gy, const float* mean,
                         const float* inv_std, const float* y, float* gx, float* gweight, float* gbias,
                         float* gresidual, float* partial) {
    const ActivationShape& s = norm.shape;
    const std::int64_t channels = s.padded_channels();
    float* plane_sums = partial;
    float* plane_products = partial + s.n * channels;
    float* means = plane_products + s.n * channels;
    float* factors = means + channels;
    float* a = factors + channels;
    float* b = a + channels;
    for (std::int64_t c = 0; c < channels; ++c) {
        means[c] = c < s.c ? mean[c] : 0.0f;
    }
    // The masked gradient is read back from gresidual, if that is written anyway: one tensor less in the second pass.
    const bool mask_again = norm.relu && gresidual == nullptr;
    const float* second = norm.relu && gresidual != nullptr ? gresidual : gy;
    const int threads = threads_for(s.floats(), norm.threads);
#pragma omp parallel num_threads(threads)
    {
        const Share planes = share_of(s.planes());
        with_width(s.block, [&]<int W>() {
            for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) {
                for (std::int64_t k = 0; k < s.block; k += W) {
                    const std::int64_t at = plane * s.plane() + k;
                    const std::int64_t sums = plane * s.block + k;
                    const Vector<W> m = load<W>(means + plane % s.blocks() * s.block + k);
                    float* masked_out = gresidual == nullptr ? nullptr : gresidual + at;
                    if (norm.relu) {
                        gradient_sums<W, true>(x + at, gy + at, y + at, masked_out, s.pixels(), s.block, m,
                                               plane_sums + sums, plane_products + sums);
                    } else {
                        gradient_sums<W, false>(x + at, gy + at, nullptr, masked_out, s.pixels(), s.block, m,
                                                plane_sums + sums, plane_products + sums);
                    }
                }
            }
        });
#pragma omp barrier
        const Share mine = share_of(channels);
        const double count = static_cast<double>(s.n * s.pixels());
        for (std::int64_t c = mine.begin; c < mine.end; ++c) {
            if (c >= s.c) {
                factors[c] = a[c] = b[c] = 0.0f;
                continue;
            }
            double sum = 0.0;
            double product = 0.0;
            for (std::int64_t i = 0; i < s.n; ++i) {
                sum += static_cast<double>(plane_sums[i * channels + c]);
                product += static_cast<double>(plane_products[i * channels + c]);
            }
            const double inverse = static_cast<double>(inv_std[c]);
            const double factor = norm.weight == nullptr ? inverse : inverse * static_cast<double>(norm.weight[c]);
            if (gweight != nullptr) {
                gweight[c] = static_cast<float>(product * inverse);
            }
            if (gbias != nullptr) {
                gbias[c] = static_cast<float>(sum);
            }
            factors[c] = static_cast<float>(factor);
            a[c] = static_cast<float>(factor * sum / count);
            b[c] = static_cast<float>(factor * product * inverse * inverse / count);
        }
        if (gx != nullptr) {
#pragma omp barrier
            with_width(s.block, [&]<int W>() {
                for (std::int64_t plane = planes.end; plane-- > planes.begin;) {
                    for (std::int64_t k = 0; k < s.block; k += W) {
                        const std::int64_t at = plane * s.plane() + k;
                        const std::int64_t c = plane % s.blocks() * s.block + k;
                        if (mask_again) {
                            gradient_apply<W, true>(x + at, second + at, y + at, gx + at, s.pixels(), s.block,
                                                    load<W>(means + c), load<W>(factors + c), load<W>(a + c),
                                                    load<W>(b + c));
                        } else {
                            gradient_apply<W, false>(x + at, second + at, nullptr, gx + at, s.pixels(), s.block,
                                                     load<W>(means + c), load<W>(factors + c), load<W>(a + c),
                                                     load<W>(b + c));
                        }
                    }
                }
            });
        }
    }
}

void channel_sum(const ActivationShape& s, const float* x, float* result, double* partial, int threads) {
    parallel(s.planes(), threads_for(s.floats(), threads), [&](std::int64_t begin, std::int64_t end) {
        with_width(s.block, [&]<int W>() {
            for (std::int64_t plane = begin; plane < end; ++plane) {
                for (std::int64_t k = 0; k < s.block; k += W) {
                    double total[W] = {};
                    for (std::int64_t start = 0; start < s.pixels(); start += run) {
                        const std::int64_t stop = start + run < s.pixels() ? start + run : s.pixels();
                        Vector<W> sums[4] = {};
                        for (std::int64_t i = start; i < stop; ++i) {
                            sums[i & 3] += load<W>(x + plane * s.plane() + i * s.block + k);
                        }
                        float lanes[W];
                        store<W>(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
                        for (int j = 0; j < W; ++j) {
                            total[j] += static_cast<double>(lanes[j]);
                        }
                    }
                    for (int j = 0; j < W; ++j) {
                        partial[plane * s.block + k + j] = total[j];
                    }
                }
            }
        });
    });
    for (std::int64_t c = 0; c < s.c; ++c) {
        double total = 0.0;
        for (std::int64_t i = 0; i < s.n; ++i) {
            total += partial[i * s.padded_channels() + c];
        }
        result[c] = static_cast<float>(total);
    }
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
