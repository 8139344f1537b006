// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

namespace espalier::reference {

/// A value as a tensor of that type holds it, ties to even. f32 is kept as double here; halves are rounded, so that
/// their rounding can be seen without a GPU.
[[nodiscard]] double rounded(double x, DType type);

} // namespace espalier::reference
