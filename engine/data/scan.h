// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "data/dataset.h"

#include <array>
#include <functional>
#include <stop_token>

namespace espalier {

/// What a whole data set was found to hold.
struct ScanReport {
    DatasetInfo info;
    std::array<std::size_t, 3> images{};                  ///< of each part
    std::vector<std::array<std::size_t, 3>> class_counts; ///< [class][part]
    std::vector<BadFile> bad;
    std::vector<std::string> warnings;

    [[nodiscard]] std::size_t total() const noexcept { return images[0] + images[1] + images[2]; }
    /// The answer of the request `scan` (docs/PROTOCOL.md). It names the first `most_bad` bad files, and how many there
    /// are in all.
    [[nodiscard]] Json to_json(std::size_t most_bad = 1000) const;
    /// The same for people, in lines.
    [[nodiscard]] std::string to_text() const;
};

/// Called now and then with the number of images read and their total.
using ScanProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Reads every image of a data set. Faults of the data are in the report; what cannot be scanned at all (an unknown
/// SPEC) is thrown as ConfigError. When `stop` is requested, throws Error with ExitCode::stopped.
[[nodiscard]] ScanReport scan_dataset(const std::string& spec, const ScanProgress& progress = {},
                                      std::stop_token stop = {});

} // namespace espalier
