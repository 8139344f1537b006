// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <string>
#include <vector>

namespace espalier {

/// The words of a command that starts a run of the same configuration: the preset, and what differs from it. Of one
/// that has no preset, or one that is not known here, quick is the beginning. Throws ConfigError if `config` is none.
[[nodiscard]] std::vector<std::string> run_command(const Json& config);

/// For a POSIX shell.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

} // namespace espalier
