// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

/// An event of a run (docs/PROTOCOL.md), read so far that the window's thread has nothing to parse: the per-step values
/// stand in plain arrays, what is rare stays as it came.
struct RunEvent {
    std::string type;
    double time = 0;                            ///< seconds since 1970
    std::int64_t step = 0;                      ///< of a `steps` event: of its first value
    std::vector<float> loss, accuracy, seconds; ///< of a `steps` event, one value a step
    double epoch = 0;
    Json fields = Json::object(); ///< all fields but the arrays above
};

/// Never throws: fields that are missing or of the wrong type have their defaults.
[[nodiscard]] RunEvent read_event(Json event);

} // namespace espalier
