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

/// So many bytes as a tensor. Two dimensions: backends may pad the only one.
Tensor as_bytes(std::size_t bytes) { return {.shape = {1, static_cast<std::int64_t>(bytes)}, .type = DType::u8}; }

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

void upload_bytes(Backend& backend, std::span<const std::byte> host, std::byte* device) {
    const auto tensor = as_bytes(host.size());
    backend.upload(tensor, backend.plain(tensor.shape, tensor.type), host.data(), device);
}

std::vector<std::byte> download_bytes(Backend& backend, const std::byte* device, std::size_t bytes) {
    const auto tensor = as_bytes(bytes);
    std::vector<std::byte> host(bytes);
    backend.download(tensor, backend.plain(tensor.shape, tensor.type), device, host.data());
    return host;
}

} // namespace espalier
