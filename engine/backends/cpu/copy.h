// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernels.h"

#include <cstddef>
#include <cstdint>

namespace espalier::cpu {

/// Copies `channels` channels from `from` (beginning with its channel `from_channel`) into `to` (from `to_channel` on),
/// element by element of `element` bytes (1 or 4), whatever the blocks of the two. n, h and w must be equal.
void copy_channels(const ActivationShape& from, std::int64_t from_channel, const std::byte* source,
                   const ActivationShape& to, std::int64_t to_channel, std::byte* target, std::int64_t channels,
                   std::size_t element, int threads);

/// Zeroes the channels [first, last) of an activation; last may be padded_channels().
void zero_channels(const ActivationShape& shape, std::int64_t first, std::int64_t last, std::byte* target,
                   std::size_t element, int threads);

} // namespace espalier::cpu
