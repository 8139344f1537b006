// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_operations.h"
#include "base/json.h"
#include "nn/network_spec.h"
#include "nn/parameter_store.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

/// What a checkpoint says besides the values. In the file it is the safetensors metadata, each field a JSON text.
struct CheckpointInfo {
    NetworkSpec network;
    std::int64_t step = 0;           ///< updates done
    Json run_state = Json::object(); ///< train/run_state.h: all that a run needs to go on
    std::vector<std::string> class_names;
    /// Of the training set, one a channel, in units of the images' 0 to 1: x is fed as (x - mean) / deviation.
    std::vector<double> mean, deviation;
    std::string precision = "fp32"; ///< in force when it was written
    std::string build;              ///< of the program that wrote it; filled in by save_checkpoint
};

struct Checkpoint {
    CheckpointInfo info;
    ParameterStore store;
};

/// A checkpoint is a safetensors file: parameters and buffers under their names, optimizer slots as
/// "optimizer/<slot>/<name>", all float32. Metadata: format "espalier", format_version, and CheckpointInfo; a CRC-32 of
/// the data lets the loader find damage that keeps the size.
inline constexpr int checkpoint_format_version = 1;

/// Written whole or not at all. Returns the name in force: another than `path` where the system would not let it be
/// taken. Throws Error if the disk refuses.
std::filesystem::path save_checkpoint(const std::filesystem::path& path, const CheckpointInfo& info,
                                      const ParameterStore& store,
                                      FileOperations& operations = FileOperations::system());

/// Throws CheckpointError if the file is damaged, is no checkpoint, or is of a newer format version than this program
/// knows.
[[nodiscard]] Checkpoint load_checkpoint(const std::filesystem::path& path);
/// The same without values: reads the header alone and does not look for damage in the data.
[[nodiscard]] CheckpointInfo read_checkpoint_info(const std::filesystem::path& path);

} // namespace espalier
