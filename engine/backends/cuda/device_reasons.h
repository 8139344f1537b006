// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <string>

/// Why a card cannot be used, in one sentence each. Takes CUDA's numbers, but needs no CUDA: tests have no card.
namespace espalier::cuda {

/// Oldest compute capability that CUDA 13 serves.
inline constexpr int least_major = 7, least_minor = 5;

/// Whether CUDA still serves cards of that compute capability.
[[nodiscard]] Support served(const std::string& card, int major, int minor);

/// Why a first kernel failed on a card, from CUDA's number (0 where it gave none) and the text of the exception.
[[nodiscard]] std::string kernel_reason(const std::string& card, int error, const std::string& text);

/// Why no card is counted. `error` is CUDA's number and `text` its text; `served` and `needed` are CUDA versions of the
/// driver and of this program ("12.2", empty where there is no driver); `visible` is CUDA_VISIBLE_DEVICES, null where
/// it is not set.
[[nodiscard]] std::string no_device_reason(int error, const std::string& text, const std::string& served,
                                           const std::string& needed, const char* visible);

} // namespace espalier::cuda
