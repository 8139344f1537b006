// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace espalier {

/// Hash of a stream of fields, each counted in with its length. Fast, not cryptographic.
class ContentHash {
public:
    void add(std::span<const std::uint8_t> bytes);
    void add(std::string_view text) { add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
    void add(std::uint64_t number);
    [[nodiscard]] std::uint64_t value() const noexcept { return state_; }
    /// 16 hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t state_ = 0;
};

} // namespace espalier
