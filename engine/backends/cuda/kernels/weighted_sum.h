// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

/// Sums of candidates by weights of a table that lives on the device. Flat arrays: any order, all tensors in the same
/// one.
namespace espalier::cuda {

/// Candidates of one launch; the lowering splits more.
inline constexpr std::size_t most_candidates = 128;

/// y = sum_i w[places[i]] x_i, added to what y holds if `add`. y may be x[0].
void launch_weighted_sum(const float* w, std::span<const int> places, std::span<const void* const> x, void* y, bool add,
                         std::int64_t count, DType type, const LaunchStream& stream);

/// gx_i = w[places[i]] gy; a null gx_i is left out.
void launch_weighted_sum_gradient(const float* w, std::span<const int> places, const void* gy,
                                  std::span<void* const> gx, std::int64_t count, DType type,
                                  const LaunchStream& stream);

/// Doubles that launch_weighted_sum_dots needs for each candidate.
[[nodiscard]] std::int64_t weighted_sum_partials(std::int64_t count);
/// First stage of the weights' gradient: partials of sum gy x_i, weighted_sum_partials(count) for each candidate.
void launch_weighted_sum_dots(const void* gy, std::span<const void* const> x, double* partials, std::int64_t count,
                              DType type, const LaunchStream& stream);
/// Second stage: gw[places[i]] = the sum of candidate i. With `clear` all `table` elements of gw become zero first.
void launch_weighted_sum_dots_end(const double* partials, std::span<const int> places, float* gw, std::int64_t table,
                                  bool clear, std::int64_t count, const LaunchStream& stream);

} // namespace espalier::cuda
