// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/dice.h"
#include "backends/cuda/kernels/typed.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 264;
/// Sums of a class: of its probabilities, of those at its labels, and its labels.
constexpr int sums_of_class = 3;

unsigned blocks_of(const Dice& dice) { return blocks_for(dice.pixels, threads, most_blocks); }

/// Scratch memory: partial sums [class][3][block], sums [class][3], and two coefficients of each class.
__device__ double* sums_of(double* scratch, const Dice& d, unsigned blocks) {
    return scratch + d.classes * sums_of_class * blocks;
}
__device__ const double* coefficients_of(const double* scratch, const Dice& d, unsigned blocks) {
    return scratch + d.classes * sums_of_class * (blocks + 1);
}

/// Largest logit of a pixel, and one over the sum of exp(logit - largest).
template <class T>
__device__ void softmax_terms(const T* x, std::int64_t classes, float& highest, float& scale) {
    highest = -INFINITY;
    for (std::int64_t k = 0; k < classes; k += 8) {
        const Eight e = load8(x + k);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            if (k + j < classes)
                highest = fmaxf(highest, e.v[j]);
    }
    float sum = 0;
    for (std::int64_t k = 0; k < classes; k += 8) {
        const Eight e = load8(x + k);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            if (k + j < classes)
                sum += expf(e.v[j] - highest);
    }
    scale = 1.0F / sum;
}

/// Sums of the eight classes from 8 blockIdx.y on.
template <class T>
__global__ void __launch_bounds__(threads) sums_kernel(const T* logits, const int* labels, double* partials, Dice d) {
    __shared__ double shared[threads / 32];
    const auto first = static_cast<std::int64_t>(blockIdx.y) * 8;
    double all[8] = {}, overlap[8] = {};
    int count[8] = {};
    for (auto pixel = grid_index(); pixel < d.pixels; pixel += grid_size()) {
        const T* x = logits + pixel * d.pitch;
        float highest, scale;
        softmax_terms(x, d.classes, highest, scale);
        const auto label = labels[pixel] - first;
        const Eight e = load8(x + first);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const float p = expf(e.v[j] - highest) * scale;
            all[j] += p;
            if (label == j) {
                overlap[j] += p;
                ++count[j];
            }
        }
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        if (first + j >= d.classes)
            break;
        double* target = partials + (first + j) * sums_of_class * gridDim.x + blockIdx.x;
        const double sums[sums_of_class] = {block_sum(all[j], shared), block_sum(overlap[j], shared),
                                            block_sum(static_cast<double>(count[j]), shared)};
        if (threadIdx.x == 0)
            for (int i = 0; i < sums_of_class; ++i)
                target[i * gridDim.x] = sums[i];
    }
}

constexpr int end_threads = 512;

/// One block adds the partial sums. Writes the loss, or (gloss given) what the gradient needs of each class: d loss / d
/// p is the first coefficient, and the second besides where the label is that class.
__global__ void __launch_bounds__(end_threads)
    end_kernel(double* scratch, unsigned blocks, const float* gloss, float* loss, Dice d) {
    __shared__ double shared[end_threads / 32];
    double* sums = sums_of(scratch, d, blocks);
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (std::int64_t i = threadIdx.x / 32; i < d.classes * sums_of_class; i += end_threads / 32) {
        double sum = 0;
        for (unsigned block = static_cast<unsigned>(lane); block < blocks; block += 32)
            sum += scratch[i * blocks + block];
        sum = warp_sum(sum);
        if (lane == 0)
            sums[i] = sum;
    }
    __syncthreads();
    const auto weight = [&](std::int64_t k) {
        const double count = sums[k * sums_of_class + 2];
        return k < d.first ? 0.0 : 1.0 / (count * count + d.eps);
    };
    double overlap = 0, total = 0;
    for (std::int64_t k = threadIdx.x; k < d.classes; k += end_threads) {
        const double* s = sums + k * sums_of_class;
        overlap += weight(k) * s[1];
        total += weight(k) * (s[0] + s[2]);
    }
    overlap = block_sum(overlap, shared) + d.eps / 2;
    total = block_sum(total, shared) + d.eps;
    if (gloss == nullptr) {
        if (threadIdx.x == 0)
            store_scalar(loss, static_cast<float>(1.0 - 2.0 * overlap / total));
        return;
    }
    double* coefficients = sums + d.classes * sums_of_class;
    for (std::int64_t k = threadIdx.x; k < d.classes; k += end_threads) {
        const double factor = 2.0 * static_cast<double>(*gloss) * weight(k);
        coefficients[2 * k] = factor * overlap / (total * total);
        coefficients[2 * k + 1] = -factor / total;
    }
}

/// Through the softmax: gx_k = p_k (g_k - sum_j p_j g_j).
template <class T>
__global__ void __launch_bounds__(threads) gradient_kernel(const T* logits, const int* labels, T* glogits,
                                                           const double* scratch, unsigned sum_blocks, Dice d) {
    const double* coefficients = coefficients_of(scratch, d, sum_blocks);
    for (auto pixel = grid_index(); pixel < d.pixels; pixel += grid_size()) {
        const T* x = logits + pixel * d.pitch;
        float highest, scale;
        softmax_terms(x, d.classes, highest, scale);
        const int label = labels[pixel];
        const auto by_probability = [&](std::int64_t k) {
            return coefficients[2 * k] + (k == label ? coefficients[2 * k + 1] : 0.0);
        };
        double mean = 0;
        for (std::int64_t k = 0; k < d.classes; k += 8) {
            const Eight e = load8(x + k);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                if (k + j < d.classes)
                    mean += expf(e.v[j] - highest) * scale * by_probability(k + j);
        }
        for (std::int64_t k = 0; k < d.pitch; k += 8) {
            Eight e = load8(x + k);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                e.v[j] = k + j < d.classes
                             ? static_cast<float>(expf(e.v[j] - highest) * scale * (by_probability(k + j) - mean))
                             : 0.0F;
            store8(glogits + pixel * d.pitch + k, e);
        }
    }
}

void launch_sums(const void* logits, const int* labels, double* scratch, const float* gloss, float* loss,
                 const Dice& dice, cudaStream_t stream) {
    const auto blocks = blocks_of(dice);
    with_type(dice.type, [&](auto element) {
        using T = decltype(element);
        sums_kernel<<<dim3(blocks, static_cast<unsigned>((dice.classes + 7) / 8)), threads, 0, stream>>>(
            static_cast<const T*>(logits), labels, scratch, dice);
    });
    end_kernel<<<1, end_threads, 0, stream>>>(scratch, blocks, gloss, loss, dice);
}

} // namespace

std::size_t dice_workspace(const Dice& dice) {
    return static_cast<std::size_t>(dice.classes * (sums_of_class * (blocks_of(dice) + 1) + 2)) * sizeof(double);
}

void launch_dice(const void* logits, const int* labels, float* loss, double* scratch, const Dice& dice,
                 cudaStream_t stream) {
    launch_sums(logits, labels, scratch, nullptr, loss, dice, stream);
}

void launch_dice_gradient(const void* logits, const int* labels, const float* gloss, void* glogits, double* scratch,
                          const Dice& dice, cudaStream_t stream) {
    launch_sums(logits, labels, scratch, gloss, nullptr, dice, stream);
    with_type(dice.type, [&](auto element) {
        using T = decltype(element);
        gradient_kernel<<<blocks_for(dice.pixels, threads), threads, 0, stream>>>(
            static_cast<const T*>(logits), labels, static_cast<T*>(glogits), scratch, blocks_of(dice), dice);
    });
}

} // namespace espalier::cuda
