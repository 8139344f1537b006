// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier {

/// The exponentially weighted mean of a column of steps, as the window draws it: m = w m + (1 - w) x over the values x
/// that are finite, divided by 1 - w^n of so many, since it begins with nothing.
class SmoothedSteps {
public:
    static constexpr double largest_weight = 0.9999;

    /// Of steps `first` to `last`, from values of `begin(weight, first)` on.
    SmoothedSteps(double weight, std::int64_t first, std::int64_t last);
    /// The first step that is needed: what came before it has less than a ten-millionth of the weight.
    [[nodiscard]] static std::int64_t begin(double weight, std::int64_t first);

    /// float32 of `count` steps that follow each other, as they stand in a column. In any order; steps outside of what
    /// is needed are passed over.
    void put(std::int64_t step, std::int64_t count, std::string_view bytes);

    /// The means of `buckets` buckets of `width` steps; NaN where there is none.
    [[nodiscard]] std::vector<float> reduced(std::size_t buckets, std::int64_t width) const;

private:
    double weight_;
    std::int64_t begin_, first_;
    std::vector<float> values_;
    std::vector<char> known_; ///< 0 or 1: of bits, a write would read, too
};

} // namespace espalier
