// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier::cuda {

/// Division of numbers below 2^31 by one that is known before the launch: a multiplication and a shift. Granlund and
/// Montgomery, "Division by Invariant Integers using Multiplication" (1994).
class Divider {
public:
    Divider() = default;
    explicit Divider(std::uint32_t divisor) : divisor_(divisor) {
        while ((std::uint64_t{1} << shift_) < divisor)
            ++shift_;
        factor_ = static_cast<std::uint32_t>((((std::uint64_t{1} << shift_) - divisor) << 32) / divisor + 1);
    }

    [[nodiscard]] __device__ std::uint32_t divide(std::uint32_t number) const {
        return (__umulhi(number, factor_) + number) >> shift_;
    }
    /// The quotient; `number` becomes the remainder.
    [[nodiscard]] __device__ std::uint32_t split(std::uint32_t& number) const {
        const std::uint32_t quotient = divide(number);
        number -= quotient * divisor_;
        return quotient;
    }

private:
    std::uint32_t divisor_ = 1;
    std::uint32_t factor_ = 1;
    std::uint32_t shift_ = 0;
};

} // namespace espalier::cuda
