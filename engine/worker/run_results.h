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
    std::string images; ///< hash of that part's files and classes in their order, those that are left out not counted
    std::vector<std::string> left_out;
    // Of each image:
    std::vector<std::uint32_t> index; ///< in that part, files that are left out not counted
    std::vector<std::uint32_t> truth, predicted;
    std::vector<float> probability; ///< of the truth
};

/// Tells a checkpoint's file from another one of that name: best.safetensors is replaced after each better epoch.
struct CheckpointStamp {
    std::uintmax_t size = 0; ///< bytes
    std::int64_t time = 0;   ///< of its last change, in ticks of the file system's clock

    friend bool operator==(const CheckpointStamp&, const CheckpointStamp&) = default;
};

/// To be taken before anything of the checkpoint is read: a trainer may replace it at any time. Throws Error if there
/// is no such file.
[[nodiscard]] CheckpointStamp stamp_of(const std::filesystem::path& checkpoint);

/// `checkpoint`: of that which gave the results. Written whole or not at all. Throws Error if the folder cannot be
/// written.
void save_results(const std::filesystem::path& file, const CheckpointStamp& checkpoint, const RunResults& results);
/// Nothing if there is no such file, if it is damaged, or if the checkpoint is another one by now.
[[nodiscard]] std::optional<RunResults> load_results(const std::filesystem::path& file,
                                                     const std::filesystem::path& checkpoint);

} // namespace espalier
