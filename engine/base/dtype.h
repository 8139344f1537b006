// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace espalier {

/// Element type of a tensor in the graph. A backend may store it otherwise (the reference backend keeps f32 as double).
enum class DType { f32, f16, bf16, i32, u8 };

[[nodiscard]] constexpr std::size_t size_of(DType type) {
    switch (type) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::u8: return 1;
    }
    return 0;
}

[[nodiscard]] constexpr std::string_view name_of(DType type) {
    switch (type) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::i32: return "i32";
    case DType::u8: return "u8";
    }
    return "?";
}

} // namespace espalier
