// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier::cuda {

/// Division by a number that is known before the launch, as a multiplication; exact for dividends below 2^31.
/// Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994.
class Divisor {
public:
    Divisor() = default;
    explicit Divisor(std::int64_t divisor) : divisor_(static_cast<std::uint32_t>(divisor)) {
        while ((std::uint64_t{1} << shift_) < divisor_)
            ++shift_;
        multiplier_ = static_cast<std::uint32_t>(
            ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift_) - divisor_)) / divisor_ + 1);
    }

    __device__ std::uint32_t value() const { return divisor_; }
    __device__ std::uint32_t quotient(std::uint32_t n) const { return (__umulhi(n, multiplier_) + n) >> shift_; }
    /// Quotient, and the remainder in `n`.
    __device__ std::uint32_t split(std::uint32_t& n) const {
        const auto q = quotient(n);
        n -= q * divisor_;
        return q;
    }

private:
    std::uint32_t divisor_ = 1, multiplier_ = 1, shift_ = 0;
};

} // namespace espalier::cuda
