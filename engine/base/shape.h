// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// Extents of a tensor, outermost first: activations are [N, C, H, W] or [N, C], convolution weights [K, C/groups, R, S].
/// At most `max_rank` dimensions; a scalar is [1].
class Shape {
public:
    static constexpr std::size_t max_rank = 6;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
    /// Throws ConfigError if there are more than max_rank extents or one is negative.
    explicit Shape(std::span<const std::int64_t> extents);

    [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
    [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return extents_[axis]; }
    [[nodiscard]] std::span<const std::int64_t> extents() const noexcept { return {extents_.data(), rank_}; }
    [[nodiscard]] std::vector<std::int64_t> vector() const { return {extents_.begin(), extents_.begin() + rank_}; }
    /// Number of elements; 1 for rank 0.
    [[nodiscard]] std::int64_t count() const noexcept;
    /// For example "32x512x7x7".
    [[nodiscard]] std::string text() const;

    friend bool operator==(const Shape&, const Shape&) = default;

private:
    std::array<std::int64_t, max_rank> extents_{};
    std::size_t rank_ = 0;
};

} // namespace espalier
