// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <vector>

namespace espalier::test {

// What the stand-in says of machine, data and networks: made up, but whole, and in itself without contradiction.

[[nodiscard]] Json devices(); ///< as `probe` answers; which ones, Behaviour says
[[nodiscard]] Json presets();
[[nodiscard]] Json scan();
[[nodiscard]] Json photos(const std::string& data); ///< a scan of a folder as people have them: of many sizes, and with
                                                    ///< files that cannot be read
[[nodiscard]] Json thumbnails(const std::string& data); ///< of a folder; throws what is said of other data
[[nodiscard]] Json plan(const Json& config);
[[nodiscard]] Json quick_part(Json plan);    ///< what the fit check knows at once
[[nodiscard]] std::vector<Json> long_past(); ///< all events of a run that went on for weeks
[[nodiscard]] Json overview();               ///< of a million steps, in a hundred buckets
/// Of a stretch of these steps, as the request's arguments want it; throws what the error should say.
[[nodiscard]] Json stretch(const Json& arguments);

} // namespace espalier::test
