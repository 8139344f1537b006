// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier::commands {

/// Options that `bench conv` and `bench sepconv` share.
struct ConvolutionBenchOptions {
    std::string backend = "cuda";
    std::string only; ///< cases with this in their names ("32x512x7x7", "fp16")
    int threads = 0;
    bool tune = true;
    bool deterministic = false;
    bool json = false;
};

/// Eight convolutions, forward and both gradients, in every precision. Returns the exit code.
int bench_convolution(const ConvolutionBenchOptions& options);
/// Separable blocks as in the search networks, forward and backward.
int bench_separable(const ConvolutionBenchOptions& options);

} // namespace espalier::commands
