// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/safetensors.h"
#include "plan/backend.h"

#include <map>
#include <string>
#include <vector>

namespace espalier::testing {

/// mean |a - b| / mean |a| of every tensor of a case that the file holds a result for, by its name there.
using CaseErrors = std::map<std::string, double>;

/// Names of the cases in an ops file: one entry each in its metadata.
[[nodiscard]] std::vector<std::string> op_fixture_names(const safetensors::Reader& file);

/// Computes one case on the backend and compares its results (y, gradients g_..., running_..._after) with those in the
/// file. Shapes and attributes come from the file. Throws ConfigError for an op that is not known here.
[[nodiscard]] CaseErrors op_fixture_errors(const safetensors::Reader& file, const std::string& name, Backend& backend);

} // namespace espalier::testing
