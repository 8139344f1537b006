// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint.h"

namespace espalier {

/// Throws ConfigError if an export to `out` would not be a new file of the user's: a folder, or a place among a run's own
/// files other than its exports/.
void check_export_place(const std::filesystem::path& out);

/// The network alone, for other programs: parameters and buffers without optimizer state, with class names and
/// normalisation in the metadata. Throws Error if the disk refuses.
void export_safetensors(const Checkpoint& checkpoint, const std::filesystem::path& out);

/// The cells of a search or genotype network as JSON {"normal": [[operation, input], ...], "reduce": ...}.
/// Throws ConfigError for other networks.
[[nodiscard]] Json genotype_of(const Checkpoint& checkpoint);
void export_genotype(const Checkpoint& checkpoint, const std::filesystem::path& out);

} // namespace espalier
