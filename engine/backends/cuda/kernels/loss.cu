// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/loss.h"
#include "backends/cuda/kernels/typed.cuh"
#include "backends/cuda/kernels/warp_max.cuh"

#include <algorithm>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

// A warp takes a row and leaves a value for it in `scratch`. A single block then adds them itself; the values of more
// blocks are added by a second launch.

constexpr int end_threads = 512;

/// What the sum of all rows is divided by: a number, or one that is on the device.
struct Denominator {
    double number = 1;
    const double* on_device = nullptr;
    [[nodiscard]] __device__ double value() const { return on_device != nullptr ? *on_device : number; }
};

/// *result = the sum of `values` / denominator, by one block.
__device__ void finish(const double* values, std::int64_t count, Denominator denominator, float* result) {
    __shared__ double shared[32];
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
        sum += values[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        store_scalar(result, static_cast<float>(sum / denominator.value()));
}

__global__ void __launch_bounds__(end_threads)
    finish_kernel(const double* values, std::int64_t count, Denominator denominator, float* result) {
    finish(values, count, denominator, result);
}

/// Calls body(row, lane) in every warp of the grid, whose result in lane 0 is the row's value.
template <class Body>
__device__ void for_each_row(const Scores& s, double* scratch, Denominator denominator, float* result, Body body) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (auto row = grid_index() / 32; row < s.rows; row += grid_size() / 32) {
        const double value = body(row, lane);
        if (lane == 0)
            scratch[row] = value;
    }
    if (gridDim.x == 1) {
        __syncthreads();
        finish(scratch, s.rows, denominator, result);
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

/// Weights as the kernels read them: without any, all are 1.
template <bool weighted>
struct Weights {
    ClassWeights given;
    std::int64_t rows, classes;
    [[nodiscard]] __device__ double of_class(std::int64_t k) const {
        return weighted ? static_cast<double>(given.values[k]) : 1.0;
    }
    /// Not a number for a label that is no class.
    [[nodiscard]] __device__ double of_label(int label) const {
        return label >= 0 && label < classes ? of_class(label) : nan("");
    }
    [[nodiscard]] __device__ double of_all_classes() const {
        return weighted ? given.sums[1] : static_cast<double>(classes);
    }
    [[nodiscard]] __device__ double of_all_labels() const {
        return weighted ? given.sums[0] : static_cast<double>(rows);
    }
};

/// With weights w, log-probabilities l and smoothing s a row costs -(1 - s) w(label) l(label) - s / classes sum w l.
template <class T, bool weighted>
__global__ void __launch_bounds__(end_threads)
    cross_entropy_kernel(const T* logits, const int* labels, Weights<weighted> weights, float* loss, T* probabilities,
                         double* scratch, Scores s, float smoothing, Denominator denominator) {
    for_each_row(s, scratch, denominator, loss, [&](std::int64_t row, int lane) {
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
            all += weights.of_class(k) * below;
        }
        exponentials = warp_sum(exponentials);
        if (probabilities != nullptr)
            for (std::int64_t k = lane; k < s.classes; k += 32)
                probabilities[row * s.classes + k] = from_float<T>(expf(to_float(x[k]) - highest) / exponentials);
        all = warp_sum(all);
        const int label = labels[row];
        const double weight = (1.0 - smoothing) * weights.of_label(label);
        const double at_label = isnan(weight) ? weight : to_float(x[label]) - highest;
        const double log_sum = logf(exponentials);
        // Without smoothing a logit of minus infinity costs nothing.
        const double rest = smoothing == 0.0F ? 0.0
                                              : static_cast<double>(smoothing) / static_cast<double>(s.classes) *
                                                    (weights.of_all_classes() * log_sum - all);
        return weight * (log_sum - at_label) + rest;
    });
}

template <class T, bool weighted>
__global__ void __launch_bounds__(threads)
    cross_entropy_gradient_kernel(const T* probabilities, const int* labels, Weights<weighted> weights,
                                  const float* gloss, T* glogits, Scores s, float smoothing) {
    const double factor = static_cast<double>(*gloss) / weights.of_all_labels();
    const double rest = static_cast<double>(smoothing) / static_cast<double>(s.classes);
    for (auto i = grid_index(); i < s.rows * s.classes; i += grid_size()) {
        const auto row = i / s.classes;
        const auto k = i - row * s.classes;
        const int label = labels[row];
        const double at_label = (1.0 - smoothing) * weights.of_label(label);
        const double whole = at_label + rest * weights.of_all_classes();
        const double target = (k == label ? at_label : 0.0) + rest * weights.of_class(k);
        glogits[i] = from_float<T>(static_cast<float>(factor * (to_float(probabilities[i]) * whole - target)));
    }
}

template <class T>
__global__ void __launch_bounds__(end_threads)
    correct_count_kernel(const T* logits, const int* labels, float* count, double* scratch, Scores s) {
    for_each_row(s, scratch, {}, count, [&](std::int64_t row, int lane) {
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
void launch_rows(const Scores& s, double* scratch, Denominator denominator, float* result, cudaStream_t stream,
                 Launch launch) {
    if (by_one_block(s)) {
        launch(1U, end_threads);
    } else {
        // At least two blocks, so that none finishes alone.
        launch(std::max(2U, blocks_for(s.rows * 32, threads)), threads);
        finish_kernel<<<1, end_threads, 0, stream>>>(scratch, s.rows, denominator, result);
    }
}

/// Calls launch(Weights<weighted>, what the loss is divided by); the weights' sums are there by then.
template <class Launch>
void with_weights(const int* labels, const ClassWeights& weights, const Scores& s, cudaStream_t stream, Launch launch) {
    if (weights.values == nullptr)
        return launch(Weights<false>{weights, s.rows, s.classes}, Denominator{static_cast<double>(s.rows)});
    weight_sums_kernel<<<1, end_threads, 0, stream>>>(labels, weights, s);
    launch(Weights<true>{weights, s.rows, s.classes}, Denominator{1, weights.sums});
}

} // namespace

void launch_cross_entropy(const void* logits, const int* labels, const ClassWeights& weights, float* loss,
                          void* probabilities, double* scratch, const Scores& scores, float smoothing,
                          cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        with_weights(labels, weights, scores, stream, [&](auto weights_read, Denominator denominator) {
            launch_rows(scores, scratch, denominator, loss, stream, [&](unsigned blocks, int block_threads) {
                cross_entropy_kernel<<<blocks, block_threads, 0, stream>>>(
                    static_cast<const T*>(logits), labels, weights_read, loss, static_cast<T*>(probabilities), scratch,
                    scores, smoothing, denominator);
            });
        });
    });
}

void launch_cross_entropy_gradient(const void* probabilities, const int* labels, const ClassWeights& weights,
                                   const float* gloss, void* glogits, const Scores& scores, float smoothing,
                                   cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        with_weights(labels, weights, scores, stream, [&](auto weights_read, Denominator) {
            cross_entropy_gradient_kernel<<<blocks_for(scores.rows * scores.classes, threads), threads, 0, stream>>>(
                static_cast<const T*>(probabilities), labels, weights_read, gloss, static_cast<T*>(glogits), scores,
                smoothing);
        });
    });
}

void launch_correct_count(const void* logits, const int* labels, float* count, double* scratch, const Scores& scores,
                          cudaStream_t stream) {
    with_type(scores.type, [&](auto element) {
        using T = decltype(element);
        launch_rows(scores, scratch, {}, count, stream, [&](unsigned blocks, int block_threads) {
            correct_count_kernel<<<blocks, block_threads, 0, stream>>>(static_cast<const T*>(logits), labels, count,
                                                                       scratch, scores);
        });
    });
}

} // namespace espalier::cuda
