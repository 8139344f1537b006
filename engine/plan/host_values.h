// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/backend.h"

#include <cstddef>
#include <span>
#include <vector>

namespace espalier {

/// Bytes of a tensor on the host, as Backend::upload and download have them: float for every floating type, else
/// std::int32_t or std::uint8_t.
[[nodiscard]] std::size_t host_bytes(const Tensor& tensor);
/// Floats as the host values of the tensor's type (rounded where it is an integer).
[[nodiscard]] std::vector<std::byte> to_host_values(const Tensor& tensor, std::span<const float> values);
[[nodiscard]] std::vector<float> from_host_values(const Tensor& tensor, std::span<const std::byte> host);

/// Copies bytes as they are to a device address, whatever the layout there.
void upload_bytes(Backend& backend, std::span<const std::byte> host, std::byte* device);
[[nodiscard]] std::vector<std::byte> download_bytes(Backend& backend, const std::byte* device, std::size_t bytes);

} // namespace espalier
