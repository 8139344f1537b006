// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <map>
#include <string>

namespace espalier {

/// Checks kernels where it is cheap: of each implementation of a convolution, matrix product, pool or pointwise op the
/// first that is small enough runs once on random values and is compared with the reference backend. No more than a
/// second is spent so in the life of a backend. What is larger is an algorithm of the GPU's library: its first
/// recommendation is trusted, and what timing puts in its place was compared with that recommendation before it was
/// chosen, here or in the process that left it on disk (cudnn/tuning.h).
class KernelCheck {
public:
    KernelCheck(Backend& backend, Backend& reference) : backend_(backend), reference_(reference) {}

    /// Why the kernel's results are wrong, in one sentence; empty if they are right, or are not checked.
    [[nodiscard]] std::string fault(const Graph& graph, const Op& op, const Lowered& lowered);

private:
    [[nodiscard]] bool is_cheap(const Graph& graph, const Op& op) const;
    [[nodiscard]] std::string compare(const Graph& graph, const Op& op, const Lowered& lowered);

    Backend& backend_;
    Backend& reference_;
    std::map<std::string, std::string> verdicts_; ///< by kind and kernel: the fault, or nothing
    double seconds_ = 0;
};

} // namespace espalier
