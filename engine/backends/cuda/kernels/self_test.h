// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::cuda {

/// Runs a small kernel on the current device and compares its numbers with the host's. Throws DeviceError.
[[nodiscard]] bool self_test();

} // namespace espalier::cuda
