// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/registry.h"
#include "plan/backend.h"

#include <memory>
#include <optional>

namespace espalier {

/// Trains on the processor in fp32: dense convolutions by oneDNN, everything else by loops of our own, which exist once
/// for each instruction set. Kernels run in the thread that calls them, with a team of OpenMP threads. `set`: for
/// tests; the best one of this processor if not given.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options,
                                                        std::optional<cpu::InstructionSet> set = {});

/// The backend "cpu".
[[nodiscard]] BackendDefinition cpu_backend();

} // namespace espalier
