// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier {

/// `espalier-train`: reads the arguments, does what they say, returns the exit code of base/error.h. Needs a
/// QCoreApplication.
int run_command_line(int argc, char** argv);

} // namespace espalier
