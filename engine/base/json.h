// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace espalier {

/// Objects keep the order in which they were written, so that files and documents read as people wrote them.
using Json = nlohmann::ordered_json;

} // namespace espalier
