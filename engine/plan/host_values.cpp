// SPDX-License-Identifier: Apache-2.0
#include "plan/host_values.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace espalier {
namespace {

template <class T>
std::vector<std::byte> rounded(std::span<const float> values) {
    std::vector<std::byte> host(values.size() * sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<T>(std::lround(values[i]));
        std::memcpy(host.data() + i * sizeof(T), &value, sizeof(T));
    }
    return host;
}

template <class T>
std::vector<float> widened(std::span<const std::byte> host) {
    std::vector<float> values(host.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T value;
        std::memcpy(&value, host.data() + i * sizeof(T), sizeof(T));
        values[i] = static_cast<float>(value);
    }
    return values;
}

} // namespace

std::size_t host_bytes(const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.shape.count()) * (tensor.type == DType::u8 ? 1 : 4);
}

std::vector<std::byte> to_host_values(const Tensor& tensor, std::span<const float> values) {
    switch (tensor.type) {
    case DType::i32:
        return rounded<std::int32_t>(values);
    case DType::u8:
        return rounded<std::uint8_t>(values);
    default:
        break;
    }
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
}

std::vector<float> from_host_values(const Tensor& tensor, std::span<const std::byte> host) {
    switch (tensor.type) {
    case DType::i32:
        return widened<std::int32_t>(host);
    case DType::u8:
        return widened<std::uint8_t>(host);
    default:
        return widened<float>(host);
    }
}

} // namespace espalier
