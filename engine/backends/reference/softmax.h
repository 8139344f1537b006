// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/reference/family.h"

namespace espalier::reference {

/// y = exp(x) / sum over the axis of exp(x), shifted by the largest x so that nothing overflows.
void softmax_over(const AxisView& view, const double* x, double* y);

/// gx = y (gy - sum over the axis of y gy).
void softmax_gradient_over(const AxisView& view, const double* y, const double* gy, double* gx);

} // namespace espalier::reference
