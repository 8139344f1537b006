// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/lowering/lowering.h"

#include <cstddef>

namespace espalier::cuda {

/// Statistics of an op that takes them from the batch: running mean and variance are inputs from place `running` on;
/// mean, inv_std and, where they are updated, the running ones are outputs from place `mean` on. `Norm`: its
/// attributes.
template <class Norm>
BatchStatistics batch_statistics(const Arguments& a, const Norm& norm, std::size_t running, std::size_t mean) {
    BatchStatistics statistics{.mean = a.out_f32(mean), .inv_std = a.out_f32(mean + 1)};
    statistics.eps = static_cast<float>(norm.eps);
    statistics.momentum = static_cast<float>(norm.momentum);
    if (norm.update_running) {
        statistics.old_mean = a.in_f32(running);
        statistics.old_var = a.in_f32(running + 1);
        statistics.running_mean = a.out_f32(mean + 2);
        statistics.running_var = a.out_f32(mean + 3);
    }
    return statistics;
}

} // namespace espalier::cuda
