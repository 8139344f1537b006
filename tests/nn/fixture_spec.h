// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/network_spec.h"

namespace espalier {

/// The spec of a whole-network fixture: `attributes` is the JSON under "attrs" in the file's metadata, `input` the
/// shape of its images. The fixtures call things as PyTorch's side does (width, widths and strides, resnet18).
[[nodiscard]] NetworkSpec fixture_spec(const Json& attributes, const Shape& input, std::int64_t classes = 10);

} // namespace espalier
