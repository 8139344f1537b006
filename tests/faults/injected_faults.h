// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::test {

/// A file with faults to come, one a line (docs/CONTRIBUTING.md).
inline constexpr const char* faults_variable = "ESPALIER_FAULTS";

} // namespace espalier::test
