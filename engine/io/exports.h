// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint.h"

namespace espalier {

/// Throws ConfigError if a file cannot be written there because it is a folder.
void check_is_no_folder(const std::filesystem::path& out);

/// Throws ConfigError if an export to `out` would not be a new file of the user's: a folder, or a place among a run's
/// own files other than its exports/.
void check_export_place(const std::filesystem::path& out);

/// Makes the folders above a new file that are not there; returns them, the uppermost first. Throws Error naming the
/// one that cannot be made.
std::vector<std::filesystem::path> make_folders_above(const std::filesystem::path& file);

/// The network alone, for other programs: parameters and buffers without optimizer state, with class names and
/// normalisation in the metadata. Throws Error if the disk refuses.
void export_safetensors(const Checkpoint& checkpoint, const std::filesystem::path& out);

/// The cells of a search or genotype network as JSON {"normal": [[operation, input], ...], "reduce": ...}.
/// Throws ConfigError for other networks.
[[nodiscard]] Json genotype_of(const Checkpoint& checkpoint);
void export_genotype(const Checkpoint& checkpoint, const std::filesystem::path& out);

/// The network without its values, as NetworkSpec::from_json reads it.
void export_network_spec(const Checkpoint& checkpoint, const std::filesystem::path& out);

} // namespace espalier
