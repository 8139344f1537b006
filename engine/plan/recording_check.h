// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/executor.h"

#include <string>

namespace espalier {

/// Does a step twice from the same state, as it was recorded and kernel by kernel, and compares what they leave: the
/// parameters and buffers that it writes, and what it keeps. Ends with what the kernels left, so that the step counts
/// once, whatever the recording did. Returns why the recording cannot be trusted, in a sentence; empty if it can.
///
/// `exact`: the bits must be the same. Otherwise sums may be taken in another order: the change of one tensor may
/// differ by a tenth (2-norm), that of all of them together by a hundredth.
///
/// Takes host memory for three copies of what the step writes while it works.
[[nodiscard]] std::string check_recording(Backend& backend, Executor& executor, bool exact);

} // namespace espalier
