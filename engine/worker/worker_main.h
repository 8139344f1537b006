// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace espalier {

/// The process `espalier-train worker RUN_DIR`: trains the run in that folder; events go to stdout, commands come from
/// stdin, each one JSON object a line. The end of stdin is the supervisor's death: the worker saves and leaves within
/// 10 s. Returns the exit code (base/error.h).
int worker_main(const std::filesystem::path& run);

} // namespace espalier
