// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <cstdint>
#include <map>
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
    /// Of a packed `resources` event: its samples, "step", "gflops", "memory.weights" ..., all of one length.
    std::map<std::string, std::vector<double>> samples;
    double epoch = 0;
    Json fields = Json::object(); ///< all fields but the arrays above
};

/// The numbers of a column in base64, little endian; none if it is damaged or no text.
[[nodiscard]] std::vector<float> unpacked_floats(const Json& column);

/// Never throws: fields that are missing or of the wrong type have their defaults.
[[nodiscard]] RunEvent read_event(Json event);

} // namespace espalier
