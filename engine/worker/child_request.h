// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/requests.h"

#include <chrono>

namespace espalier {

/// Requests that may ask a device something: serve has each answered by a child, so that a driver that crashes or hangs
/// takes the child down, not the window's connection. Serve itself never opens a device. (The probe has a function of
/// its own, below.)
[[nodiscard]] bool is_for_child(const std::string& request);

/// How long a child may take before it is given up, where a request has an end.
struct ChildPatience {
    std::chrono::milliseconds probe{60'000}; ///< a cold disk and eight cards take seconds
    std::chrono::milliseconds plan{300'000};
};

/// The request's answer from a child (`espalier-train answer`, this same program). The child is killed when the request
/// is cancelled, and left alone if it is not gone a second later. Throws what the child's function threw, and
/// DeviceError in one sentence for a child that crashes, says nothing or takes too long.
[[nodiscard]] Json answer_in_child(const std::string& request, const Json& arguments, const RequestContext& context,
                                   std::chrono::milliseconds patience = std::chrono::milliseconds::zero());

/// The probe of devices in a child. Where the child dies of it, or the driver fails, the answer comes without the
/// GPU, says why, and `complete` becomes false.
[[nodiscard]] Json probe_in_child(const RequestContext& context, std::chrono::milliseconds patience, bool& complete);

/// The child's side: one request from stdin, its replies to stdout. Ends the process at once if stdin ends before: the
/// parent is gone then. Returns the exit code.
int answer_one_request();

} // namespace espalier
