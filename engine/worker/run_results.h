// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// What a checkpoint made of each image of a part, kept in a run's folder as results/CHECKPOINT-PART.json so that it is
/// there at once the next time.
struct RunResults {
    Json summary = Json::object(); ///< as the request `confusion` answers it
    std::string data;              ///< SPEC
    std::string part_of_data;      ///< of the data set, where the images are
    std::vector<std::string> left_out;
    // Of each image:
    std::vector<std::uint32_t> index; ///< in that part, files that are left out not counted
    std::vector<std::uint32_t> truth, predicted;
    std::vector<float> probability; ///< of the truth
};

/// Written whole or not at all. Throws Error if the folder cannot be written.
void save_results(const std::filesystem::path& file, const std::filesystem::path& checkpoint,
                  const RunResults& results);
/// Nothing if there is no such file, if it is damaged, or if the checkpoint is another one by now.
[[nodiscard]] std::optional<RunResults> load_results(const std::filesystem::path& file,
                                                     const std::filesystem::path& checkpoint);

} // namespace espalier
