// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/optimizer.h"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/tensor_table.cuh"
#include "graph/step_block.h"

#include <cmath>
#include <type_traits>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;
/// Elements that a block updates: eight a thread.
constexpr unsigned chunk = 8 * threads;
/// Elements that a block of the norm reads.
constexpr unsigned norm_chunk = 4 * chunk;

/// The part of a tensor that a thread works on: `size` elements from `begin`, at most eight.
struct Part {
    unsigned begin;
    int size;

    __device__ Part(unsigned first, unsigned count)
        : begin(first), size(first >= count      ? 0
                             : count - first < 8 ? static_cast<int>(count - first)
                                                 : 8) {}

    [[nodiscard]] __device__ Eight load(DType type, const void* data) const {
        if (size == 8)
            return load8_as(type, data, begin);
        Eight e{};
        for (int i = 0; i < 8; ++i)
            if (i < size)
                e.v[i] = load_as(type, data, begin + i);
        return e;
    }
    [[nodiscard]] __device__ Eight load(const void* data) const { return load(DType::f32, data); }
    __device__ void store(void* data, const Eight& e) const {
        auto* target = static_cast<float*>(data) + begin;
        if (size == 8)
            return store8(target, e);
        for (int i = 0; i < 8; ++i)
            if (i < size)
                target[i] = e.v[i];
    }
};

template <class Entry>
__device__ Part part_of(const Entry& entry) {
    return {(blockIdx.x - entry.first_block) * chunk + 8 * threadIdx.x, entry.count};
}

/// What a gradient is multiplied by; false: nothing may be changed.
__device__ bool gradient_factor(const UpdateSettings& s, float& factor) {
    factor = 1.0F / (s.step[step_block::loss_scale] * s.step[step_block::micro_steps]);
    if (s.norm == nullptr)
        return true;
    const float norm = *s.norm;
    if (!isfinite(norm))
        return false;
    if (s.clip_norm > 0.0F)
        factor *= fminf(1.0F, s.clip_norm / (norm + 1e-6F));
    return true;
}

/// Addresses: parameter, gradient, momentum.
template <class Table>
__global__ void __launch_bounds__(threads) sgd_kernel(const __grid_constant__ Table table, SgdSettings s) {
    const auto& entry = table.entry_of_block();
    const auto part = part_of(entry);
    take_turn();
    float factor;
    if (part.size == 0 || !gradient_factor(s.update, factor))
        return;
    Eight p = part.load(entry.at[0]), v = part.load(entry.at[2]);
    const Eight g = part.load(static_cast<DType>(entry.type), entry.at[1]);
    const float rate = s.update.step[step_block::learning_rate];
    const float decay = entry.flag ? s.update.weight_decay : 0.0F;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const float d = g.v[i] * factor + decay * p.v[i];
        v.v[i] = s.momentum * v.v[i] + d;
        p.v[i] -= rate * (s.nesterov ? d + s.momentum * v.v[i] : v.v[i]);
    }
    part.store(entry.at[0], p);
    part.store(entry.at[2], v);
}

/// Constants of Adam, rounded once from double.
struct AdamConstants {
    float beta1, beta2, rest1, rest2;
    float log_beta1, log_beta2;
    float eps;
};

/// Addresses: parameter, gradient, exp_avg, exp_avg_sq, steps. 1 - beta^t is taken as -expm1(t log beta), which has
/// the full precision of a float for a young entry too.
template <class Table>
__global__ void __launch_bounds__(threads)
    adam_kernel(const __grid_constant__ Table table, UpdateSettings s, AdamConstants c, bool decoupled) {
    const auto& entry = table.entry_of_block();
    const auto part = part_of(entry);
    take_turn();
    float factor;
    if (part.size == 0 || !gradient_factor(s, factor))
        return;
    Eight p = part.load(entry.at[0]), m = part.load(entry.at[2]), v = part.load(entry.at[3]),
          steps = part.load(entry.at[4]);
    const Eight gradient = part.load(static_cast<DType>(entry.type), entry.at[1]);
    const float rate = s.step[step_block::learning_rate];
    const float decay = entry.flag ? s.weight_decay : 0.0F;
    float age = -1, correction1 = 1, root_correction2 = 1;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        steps.v[i] += 1.0F;
        if (steps.v[i] != age) { // mostly all of them are of one age
            age = steps.v[i];
            correction1 = -expm1f(age * c.log_beta1);
            root_correction2 = sqrtf(-expm1f(age * c.log_beta2));
        }
        float g = gradient.v[i] * factor;
        if (decoupled)
            p.v[i] -= rate * decay * p.v[i];
        else
            g += decay * p.v[i];
        m.v[i] = c.beta1 * m.v[i] + c.rest1 * g;
        v.v[i] = c.beta2 * v.v[i] + c.rest2 * g * g;
        p.v[i] -= rate * (m.v[i] / correction1) / (sqrtf(v.v[i]) / root_correction2 + c.eps);
    }
    part.store(entry.at[0], p);
    part.store(entry.at[2], m);
    part.store(entry.at[3], v);
    part.store(entry.at[4], steps);
}

/// Addresses: sum, gradient.
template <class Table>
__global__ void __launch_bounds__(threads) accumulate_kernel(const __grid_constant__ Table table, const float* step) {
    const auto& entry = table.entry_of_block();
    const auto part = part_of(entry);
    take_turn();
    if (part.size == 0)
        return;
    Eight sum = part.load(static_cast<DType>(entry.type), entry.at[1]);
    if (step[step_block::micro_step] != 0.0F) {
        const Eight before = part.load(entry.at[0]);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sum.v[i] += before.v[i];
    }
    part.store(entry.at[0], sum);
}

/// Address: gradient. One partial sum a block.
template <class Table>
__global__ void __launch_bounds__(threads) squares_kernel(const __grid_constant__ Table table, double* partials) {
    __shared__ double shared[threads / 32];
    const auto& entry = table.entry_of_block();
    const unsigned begin = (blockIdx.x - entry.first_block) * norm_chunk + 8 * threadIdx.x;
    take_turn();
    double sum = 0;
#pragma unroll
    for (unsigned offset = 0; offset < norm_chunk; offset += chunk) {
        const Part part(begin + offset, entry.count);
        if (part.size == 0)
            continue;
        const Eight g = part.load(static_cast<DType>(entry.type), entry.at[0]);
#pragma unroll
        for (float value : g.v)
            sum += static_cast<double>(value) * value;
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum;
}

constexpr int end_threads = 1024;

__global__ void __launch_bounds__(end_threads)
    norm_end_kernel(const double* partials, unsigned count, const float* step, float* norm) {
    __shared__ double shared[end_threads / 32];
    take_turn();
    double sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += end_threads)
        sum += partials[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) {
        const double scale =
            static_cast<double>(step[step_block::loss_scale]) * static_cast<double>(step[step_block::micro_steps]);
        store_scalar(norm, static_cast<float>(sqrt(sum) / scale));
    }
}

struct Recorded {
    const float* values[most_recorded];
};

__global__ void record_kernel(const __grid_constant__ Recorded recorded, const float* step, float* history,
                              std::int64_t rows, std::int64_t columns, std::int64_t first) {
    take_turn();
    const auto row = static_cast<std::int64_t>(step[step_block::history_row]) % rows;
    history[row * columns + first + threadIdx.x] = *recorded.values[threadIdx.x];
}

template <class Entry>
void fill_update(Entry& entry, const TrainedTensor& tensor, int slots) {
    entry.at[0] = tensor.parameter;
    entry.at[1] = const_cast<void*>(tensor.gradient.data);
    for (int i = 0; i < slots; ++i)
        entry.at[2 + i] = tensor.slots[static_cast<std::size_t>(i)];
    entry.type = static_cast<unsigned>(tensor.gradient.type);
    entry.flag = tensor.decay;
}

std::int64_t count_of_update(const TrainedTensor& tensor) { return tensor.gradient.count; }

} // namespace

void launch_sgd(std::span<const TrainedTensor> tensors, const SgdSettings& settings, const LaunchStream& stream) {
    for_each_table<3>(
        tensors, chunk, count_of_update, [](auto& entry, const TrainedTensor& t) { fill_update(entry, t, 1); },
        [&](const auto& table, unsigned blocks) {
            enqueue(sgd_kernel<std::remove_cvref_t<decltype(table)>>, dim3(blocks), dim3(threads), 0, stream, table,
                    settings);
        });
}

void launch_adam(std::span<const TrainedTensor> tensors, const AdamSettings& settings, const LaunchStream& stream) {
    const AdamConstants constants{static_cast<float>(settings.beta1),
                                  static_cast<float>(settings.beta2),
                                  static_cast<float>(1.0 - settings.beta1),
                                  static_cast<float>(1.0 - settings.beta2),
                                  static_cast<float>(std::log(settings.beta1)),
                                  static_cast<float>(std::log(settings.beta2)),
                                  static_cast<float>(settings.eps)};
    for_each_table<5>(
        tensors, chunk, count_of_update, [](auto& entry, const TrainedTensor& t) { fill_update(entry, t, 3); },
        [&](const auto& table, unsigned blocks) {
            enqueue(adam_kernel<std::remove_cvref_t<decltype(table)>>, dim3(blocks), dim3(threads), 0, stream, table,
                    settings.update, constants, settings.decoupled);
        });
}

void launch_accumulate(std::span<const AccumulatedTensor> tensors, const float* step, const LaunchStream& stream) {
    for_each_table<2>(
        tensors, chunk, [](const AccumulatedTensor& t) { return t.gradient.count; },
        [](auto& entry, const AccumulatedTensor& t) {
            entry.at[0] = t.sum;
            entry.at[1] = const_cast<void*>(t.gradient.data);
            entry.type = static_cast<unsigned>(t.gradient.type);
        },
        [&](const auto& table, unsigned blocks) {
            enqueue(accumulate_kernel<std::remove_cvref_t<decltype(table)>>, dim3(blocks), dim3(threads), 0, stream,
                    table, step);
        });
}

std::int64_t norm_partials(std::int64_t count) { return (count + norm_chunk - 1) / norm_chunk; }

void launch_gradient_norm(std::span<const GradientTensor> gradients, const float* step, double* partials, float* norm,
                          const LaunchStream& stream) {
    unsigned written = 0;
    for_each_table<1>(
        gradients, norm_chunk, [](const GradientTensor& g) { return g.count; },
        [](auto& entry, const GradientTensor& g) {
            entry.at[0] = const_cast<void*>(g.data);
            entry.type = static_cast<unsigned>(g.type);
        },
        [&](const auto& table, unsigned blocks) {
            enqueue(squares_kernel<std::remove_cvref_t<decltype(table)>>, dim3(blocks), dim3(threads), 0, stream, table,
                    partials + written);
            written += blocks;
        });
    enqueue(norm_end_kernel, dim3(1), dim3(end_threads), 0, stream.behind(), partials, written, step, norm);
}

void launch_record(std::span<const float* const> values, const float* step, float* history, std::int64_t rows,
                   std::int64_t columns, std::int64_t first, const LaunchStream& stream) {
    Recorded recorded{};
    std::copy(values.begin(), values.end(), recorded.values);
    enqueue(record_kernel, dim3(1), dim3(static_cast<unsigned>(values.size())), 0, stream, recorded, step, history,
            rows, columns, first);
}

} // namespace espalier::cuda
