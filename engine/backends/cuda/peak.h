// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace espalier::cuda {

/// FLOP/s that a GPU reaches at best in dense products, by precision ("fp16", "bf16", "tf32": tensor cores that sum in
/// fp32; "fp32": its plain cores), a multiplication with its addition counted as two: FLOPs of a multiprocessor in a
/// cycle, times multiprocessors, times `core_hertz`, the highest clock that the card allows. (A data sheet may count
/// with a lower one: 1,830 instead of 1,980 MHz, 989 instead of 1,071 TFLOP/s for an H100 in fp16.) GeForce cards sum
/// in fp32 at half the rate of others from the same generation. Empty for a compute capability that is not in the
/// table: no share of a peak is shown that is not known.
///
/// Rates from NVIDIA's architecture white papers (Turing, Ampere GA100 and GA102, Ada, Hopper, Blackwell).
[[nodiscard]] std::map<std::string, double> peak_flops(int major, int minor, int multiprocessors, double core_hertz,
                                                       const std::string& name);

} // namespace espalier::cuda
