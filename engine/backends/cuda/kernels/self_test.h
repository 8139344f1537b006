// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::cuda {

/// Runs a small kernel on the current device and compares its numbers with the host's. Throws DeviceError.
[[nodiscard]] bool self_test();

/// The architecture whose code the current device runs: 10 * major + minor of a compute capability, that of
/// __CUDA_ARCH__ / 10. It is below the device's own where the program has no code made for that. Throws DeviceError.
[[nodiscard]] int code_architecture();

} // namespace espalier::cuda
