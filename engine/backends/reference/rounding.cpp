// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::reference {
namespace {

/// To the nearest value with `digits` binary digits after the leading one, normal numbers from 2^least up to `largest`.
double nearest(double x, int digits, int least, double largest) {
    if (x == 0 || !std::isfinite(x))
        return x;
    const int exponent = std::max(std::ilogb(x), least);
    const double unit = std::ldexp(1.0, exponent - digits);
    const double value = std::nearbyint(x / unit) * unit;
    return std::abs(value) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : value;
}

} // namespace

double rounded(double x, DType type) {
    return type == DType::f16    ? nearest(x, 10, -14, 65504.0)
           : type == DType::bf16 ? nearest(x, 7, -126, 3.3895313892515355e38)
                                 : x;
}

} // namespace espalier::reference
