// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/loss.h"
#include "backends/cuda/kernels/typed.cuh"

#include <algorithm>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

__device__ float warp_max(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    return value;
}

/// Rows of a softmax are taken by whole warps where they are contiguous, else by single threads, whose neighbours then
/// read neighbouring elements. `lanes` is the number of threads of one row.
template <int lanes>
__device__ float row_max(float value) {
    if constexpr (lanes == 32)
        value = warp_max(value);
    return value;
}
template <int lanes>
__device__ float row_sum(float value) {
    if constexpr (lanes == 32)
        value = warp_sum(value);
    return value;
}

/// Calls body(address of the first element, this thread's first place) for every row, then zero(address of the
/// padding's element) for the padding.
template <int lanes, class Body, class Zero>
__device__ void for_each_row(const SoftmaxShape& s, Body body, Zero zero) {
    const int lane = lanes == 1 ? 0 : static_cast<int>(threadIdx.x % lanes);
    const auto rows = s.outer * s.inner;
    for (auto row = grid_index() / lanes; row < rows; row += grid_size() / lanes)
        body(row / s.inner * s.pitch + row % s.inner, lane);
    const auto real = s.extent * s.inner, padding = s.pitch - real;
    for (auto i = grid_index(); i < s.outer * padding; i += grid_size())
        zero(i / padding * s.pitch + real + i % padding);
}

template <class T, int lanes>
__global__ void __launch_bounds__(threads) softmax_kernel(const T* x, T* y, SoftmaxShape s) {
    for_each_row<lanes>(
        s,
        [&](std::int64_t at, int lane) {
            float highest = -INFINITY;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                highest = fmaxf(highest, to_float(x[at + i * s.inner]));
            highest = row_max<lanes>(highest);
            float sum = 0;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                sum += expf(to_float(x[at + i * s.inner]) - highest);
            sum = row_sum<lanes>(sum);
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                y[at + i * s.inner] = from_float<T>(expf(to_float(x[at + i * s.inner]) - highest) / sum);
        },
        [&](std::int64_t at) { y[at] = from_float<T>(0.0F); });
}

template <class T, int lanes>
__global__ void __launch_bounds__(threads) softmax_gradient_kernel(const T* y, const T* gy, T* gx, SoftmaxShape s) {
    for_each_row<lanes>(
        s,
        [&](std::int64_t at, int lane) {
            float dot = 0;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                dot += to_float(y[at + i * s.inner]) * to_float(gy[at + i * s.inner]);
            dot = row_sum<lanes>(dot);
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes) {
                const auto place = at + i * s.inner;
                gx[place] = from_float<T>(to_float(y[place]) * (to_float(gy[place]) - dot));
            }
        },
        [&](std::int64_t at) { gx[at] = from_float<T>(0.0F); });
}

template <class Body>
void with_lanes(const SoftmaxShape& s, Body&& body) {
    if (s.inner == 1)
        body(std::integral_constant<int, 32>{}, blocks_for(s.outer * 32, threads));
    else
        body(std::integral_constant<int, 1>{}, blocks_for(s.outer * s.inner, threads));
}

// Losses: a warp takes a row and leaves a value for it in `scratch`. A single block then adds them itself; the values
// of more blocks are added by a second launch.

constexpr int end_threads = 512;

/// *result = factor * the sum of `values`, by one block.
__device__ void finish(const double* values, std::int64_t count, double factor, float* result) {
    __shared__ double shared[32];
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
        sum += values[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        store_scalar(result, static_cast<float>(sum * factor));
}

__global__ void __launch_bounds__(end_threads)
    finish_kernel(const double* values, std::int64_t count, double factor, float* result) {
    finish(values, count, factor, result);
}

/// Calls body(row, lane) in every warp of the grid, whose result in lane 0 is the row's value.
template <class Body>
__device__ void for_each_score_row(const Scores& s, double* scratch, double factor, float* result, Body body) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (auto row = grid_index() / 32; row < s.rows; row += grid_size() / 32) {
        const double value = body(row, lane);
        if (lane == 0)
            scratch[row] = value;
    }
    if (gridDim.x == 1) {
        __syncthreads();
        finish(scratch, s.rows, factor, result);
    }
}

/// sums[0] = the sum of the labels' weights, sums[1] = that of all; one block.
__global__ void __launch_bounds__(end_threads) weight_sums_kernel(const int* labels, ClassWeights weights, Scores s) {
    __shared__ double shared[32];
    double of_labels = 0;
    for (std::int64_t row = threadIdx.x; row < s.rows; row += blockDim.x) {
        const int label = labels[row];
        of_labels += label >= 0 && label < s.classes ? static_cast<double>(weights.values[label]) : nan("");
    }
    of_labels = block_sum(of_labels, shared);
    __syncthreads(); // `shared` is used again
    double of_all = 0;
    for (std::int64_t k = threadIdx.x; k < s.classes; k += blockDim.x)
        of_all += static_cast<double>(weights.values[k]);
    of_all = block_sum(of_all, shared);
    if (threadIdx.x == 0) {
        weights.sums[0] = of_labels;
        weights.sums[1] = of_all;
    }
}

/// Rows of the weighted loss; divided by the sum of weights in the end. As cross_entropy_kernel.
template <class T>
__global__ void __launch_bounds__(threads)
    weighted_cross_entropy_kernel(const T* logits, const int* labels, ClassWeights weights, T* probabilities,
                                  double* scratch, Scores s, float smoothing) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const double rest = static_cast<double>(smoothing) / static_cast<double>(s.classes);
    for (auto row = grid_index() / 32; row < s.rows; row += grid_size() / 32) {
        const T* x = logits + row * s.classes;
        float highest = -INFINITY;
        for (std::int64_t k = lane; k < s.classes; k += 32)
            highest = fmaxf(highest, to_float(x[k]));
        highest = warp_max(highest);
        float exponentials = 0;
        double all = 0; // of weighted logits below the highest
        for (std::int64_t k = lane; k < s.classes; k += 32) {
            const float below = to_float(x[k]) - highest;
            exponentials += expf(below);
            all += static_cast<double>(weights.values[k]) * below;
        }
        exponentials = warp_sum(exponentials);
        if (probabilities != nullptr)
            for (std::int64_t k = lane; k < s.classes; k += 32)
                probabilities[row * s.classes + k] = from_float<T>(expf(to_float(x[k]) - highest) / exponentials);
        all = warp_sum(all);
        if (lane == 0) {
            const int label = labels[row];
            const bool known = label >= 0 && label < s.classes;
            const double weight = known ? (1.0 - smoothing) * weights.values[label] : nan("");
            const double at_label = known ? to_float(x[label]) - highest : nan("");
            const double log_sum = logf(exponentials);
            // Without smoothing a logit of minus infinity costs nothing.
            scratch[row] =
                weight * (log_sum - at_label) + (smoothing == 0.0F ? 0.0 : rest * (weights.sums[1] * log_sum - all));
        }
    }
}

/// *loss = the sum of the rows divided by that of the labels' weights; one block.
__global__ void __launch_bounds__(end_threads)
    weighted_mean_kernel(const double* rows, std::int64_t count, const double* sum_of_weights, float* loss) {
    finish(rows, count, 1.0 / *sum_of_weights, loss);
}

template <class T>
__global__ void __launch_bounds__(threads)
    weighted_cross_entropy_gradient_kernel(const T* probabilities, const int* labels, ClassWeights weights,
                                           const float* gloss, T* glogits, Scores s, float smoothing) {
    const double factor = static_cast<double>(*gloss) / weights.sums[0];
    const double rest = static_cast<double>(smoothing) / static_cast<double>(s.classes);
    for (auto i = grid_index(); i < s.rows * s.classes; i += grid_size()) {
        const auto row = i / s.classes;
        const auto k = i - row * s.classes;
        const int label = labels[row];
        const double at_label = label >= 0 && label < s.classes ? (1.0 - smoothing) * weights.values[label] : nan("");
        const double whole = at_label + rest * weights.sums[1];
        const double target = (k == label ? at_label : 0.0) + rest * weights.values[k];
        glogits[i] = from_float<T>(static_cast<float>(factor * (to_float(probabilities[i]) * whole - target)));
    }
}

template <class T>
__global__ void __launch_bounds__(end_threads)
    cross_entropy_kernel(const T* logits, const int* labels, float* loss, T* probabilities, double* scratch, Scores s,
                         float smoothing) {
    for_each_score_row(s, scratch, 1.0 / static_cast<double>(s.rows), loss, [&](std::int64_t row, int lane) {
        const T* x = logits + row * s.classes;
        float highest = -INFINITY;
        for (std::int64_t k = lane; k < s.classes; k += 32)
            highest = fmaxf(highest, to_float(x[k]));
        highest = warp_max(highest);
        float exponentials = 0;
        double all = 0; // of logits below the highest
        for (std::int64_t k = lane; k < s.classes; k += 32) {
            const float below = to_float(x[k]) - highest;
            exponentials += expf(below);
            all += below;
        }
        exponentials = warp_sum(exponentials);
        if (probabilities != nullptr)
            for (std::int64_t k = lane; k < s.classes; k += 32)
                probabilities[row * s.classes + k] = from_float<T>(expf(to_float(x[k]) - highest) / exponentials);
        all = warp_sum(all);
        const int label = labels[row];
        const double at_label = label >= 0 && label < s.classes ? to_float(x[label]) - highest : nan("");
        const double loss_of_row = static_cast<double>(logf(exponentials)) - (1.0 - smoothing) * at_label;
        // Without smoothing a logit of minus infinity costs nothing.
        return smoothing == 0.0F ? loss_of_row : loss_of_row - smoothing * all / static_cast<double>(s.classes);
    });
}

template <class T>
__global__ void __launch_bounds__(threads)
    cross_entropy_gradient_kernel(const T* probabilities, const int* labels, const float* gloss, T* glogits, Scores s,
                                  float smoothing) {
    const float factor = *gloss / static_cast<float>(s.rows);
    const float rest = smoothing / static_cast<float>(s.classes);
    for (auto i = grid_index(); i < s.rows * s.classes; i += grid_size()) {
        const auto row = i / s.classes;
        const float target = (i - row * s.classes == labels[row] ? 1.0F - smoothing : 0.0F) + rest;
        glogits[i] = from_float<T>(factor * (to_float(probabilities[i]) - target));
    }
}

template <class T>
__global__ void __launch_bounds__(end_threads)
    correct_count_kernel(const T* logits, const int* labels, float* count, double* scratch, Scores s) {
    for_each_score_row(s, scratch, 1.0, count, [&](std::int64_t row, int lane) {
        const T* x = logits + row * s.classes;
        float highest = -INFINITY;
        std::int64_t at = s.classes;
        for (std::int64_t k = lane; k < s.classes; k += 32)
            if (const float value = to_float(x[k]); value > highest || at == s.classes) {
                highest = value;
                at = k;
            }
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) {
            const float other = __shfl_xor_sync(0xffffffffU, highest, offset);
            const auto other_at =
                static_cast<std::int64_t>(__shfl_xor_sync(0xffffffffU, static_cast<long long>(at), offset));
            if (other > highest || (other == highest && other_at < at)) { // ties: the first
                highest = other;
                at = other_at;
            }
        }
        return at == labels[row] ? 1.0 : 0.0;
    });
}

/// Few scores are done by one block, and one launch.
bool by_one_block(const Scores& s) { return s.rows * s.classes <= 16384; }

template <class Launch>
void launch_rows(const Scores& s, double* scratch, double factor, float* result, cudaStream_t stream, Launch launch) {
    if (by_one_block(s)) {
        launch(1U, end_threads);
    } else {
        // At least two blocks, so that none finishes alone.
        launch(std::max(2U, blocks_for(s.rows * 32, threads)), threads);
        finish_kernel<<<1, end_threads, 0, stream>>>(scratch, s.rows, factor, result);
    }
}

} // namespace

void launch_softmax(const void* x, void* y, const SoftmaxShape& shape, cudaStream_t stream) {
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        with_lanes(shape, [&](auto lanes, unsigned blocks) {
            softmax_kernel<T, decltype(lanes)::value>
                <<<blocks, threads, 0, stream>>>(static_cast<const T*>(x), static_cast<T*>(y), shape);
        });
    });
}

void launch_softmax_gradient(const void* y, const void* gy, void* gx, const SoftmaxShape& shape, cudaStream_t stream) {
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        with_lanes(shape, [&](auto lanes, unsigned blocks) {
            softmax_gradient_kernel<T, decltype(lanes)::value><<<blocks, threads, 0, stream>>>(
                static_cast<const T*>(y), static_cast<const T*>(gy), static_cast<T*>(gx), shape);
        });
    });
}

void launch_cross_entropy(const void* logits, const int* labels, const ClassWeights& weights, float* loss,
                          void* probabilities, double* scratch, const Scores& scores, float smoothing,
                          cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        if (weights.values != nullptr) {
            weight_sums_kernel<<<1, end_threads, 0, stream>>>(labels, weights, scores);
            weighted_cross_entropy_kernel<<<blocks_for(scores.rows * 32, threads), threads, 0, stream>>>(
                static_cast<const T*>(logits), labels, weights, static_cast<T*>(probabilities), scratch, scores,
                smoothing);
            weighted_mean_kernel<<<1, end_threads, 0, stream>>>(scratch, scores.rows, weights.sums, loss);
            return;
        }
        launch_rows(scores, scratch, 1.0 / static_cast<double>(scores.rows), loss, stream,
                    [&](unsigned blocks, int block_threads) {
                        cross_entropy_kernel<<<blocks, block_threads, 0, stream>>>(
                            static_cast<const T*>(logits), labels, loss, static_cast<T*>(probabilities), scratch,
                            scores, smoothing);
                    });
    });
}

void launch_cross_entropy_gradient(const void* probabilities, const int* labels, const ClassWeights& weights,
                                   const float* gloss, void* glogits, const Scores& scores, float smoothing,
                                   cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        if (weights.values != nullptr) {
            weight_sums_kernel<<<1, end_threads, 0, stream>>>(labels, weights, scores);
            weighted_cross_entropy_gradient_kernel<<<blocks_for(scores.rows * scores.classes, threads), threads, 0,
                                                     stream>>>(static_cast<const T*>(probabilities), labels, weights,
                                                               gloss, static_cast<T*>(glogits), scores, smoothing);
            return;
        }
        cross_entropy_gradient_kernel<<<blocks_for(scores.rows * scores.classes, threads), threads, 0, stream>>>(
            static_cast<const T*>(probabilities), labels, gloss, static_cast<T*>(glogits), scores, smoothing);
    });
}

void launch_correct_count(const void* logits, const int* labels, float* count, double* scratch, const Scores& scores,
                          cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        launch_rows(scores, scratch, 1.0, count, stream, [&](unsigned blocks, int block_threads) {
            correct_count_kernel<<<blocks, block_threads, 0, stream>>>(static_cast<const T*>(logits), labels, count,
                                                                       scratch, scores);
        });
    });
}

} // namespace espalier::cuda
