// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <functional>
#include <memory>
#include <string>

namespace espalier {

/// A kernel of a backend that the reference backend's has to stand in for.
struct KernelFallback {
    std::string kind, layer; ///< of the op; the first of its kind
    std::string kernel;      ///< that gave wrong results; empty: there is none
    std::string reason;      ///< one sentence
};

/// The backend, where an op whose kernel cannot be made ready, or gives wrong results in its check, is computed by the
/// reference backend on the host instead. That is slow (values go to the host and back, and such a step is not
/// recorded), but the run goes on. `tell` hears of each kind of op once. Ops that the backend does not support stay
/// unsupported.
[[nodiscard]] std::unique_ptr<Backend> with_fallback(std::unique_ptr<Backend> backend,
                                                     std::function<void(const KernelFallback&)> tell);

} // namespace espalier
