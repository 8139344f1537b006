// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "data/dataset.h"

#include <array>

namespace espalier {

/// What a whole data set was found to hold.
struct ScanReport {
    /// Two images that are the same, pixel by pixel (of image files: scaled down to 64 pixels).
    struct Repeated {
        std::string file, same_as;
        bool in_two_classes = false; ///< one of the two labels is wrong
    };

    DatasetInfo info;                                     ///< with the size that most images have
    std::array<std::size_t, 3> images{};                  ///< of each part
    std::vector<std::array<std::size_t, 3>> class_counts; ///< [class][part]
    std::size_t sizes = 0;                                ///< how many different ones
    ImageShape smallest, largest;                         ///< by area
    std::vector<BadFile> bad;
    std::size_t bad_images = 0;     ///< of those, image files that cannot be read: max_bad_share is of them and the images
    bool training_refuses = false;  ///< because of the bad files; image files are left out instead
    std::vector<Repeated> repeated; ///< the first 100, those in two classes before the others
    std::vector<std::string> warnings;

    [[nodiscard]] std::size_t total() const noexcept { return images[0] + images[1] + images[2]; }
    /// The answer of the request `scan` (docs/PROTOCOL.md). It names the first `most_bad` bad files, and how many there
    /// are in all.
    [[nodiscard]] Json to_json(std::size_t most_bad = 1000) const;
    /// The same for people, in lines.
    [[nodiscard]] std::string to_text() const;
};

/// Reads every image of a data set, on several threads. Faults of the data are in the report; what cannot be scanned at
/// all (an unknown SPEC) is thrown as ConfigError. When watch.leave says so, throws Error with ExitCode::stopped.
[[nodiscard]] ScanReport scan_dataset(const std::string& spec, const WorkWatch& watch = {});

} // namespace espalier
