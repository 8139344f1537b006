// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace espalier {

/// Whether serve has a request answered by a child (AnswerChildren), since it may ask a device something. So it does
/// the probe, in a way of its own.
[[nodiscard]] bool is_for_child(const std::string& request);

/// How long a child may take before it is given up, where a request has an end.
struct ChildPatience {
    std::chrono::milliseconds probe{60'000}; ///< a cold disk and eight cards take seconds
    std::chrono::milliseconds plan{300'000};
};

/// The child's side: requests from stdin, one after the other, their replies to stdout. Ends the process at once when
/// stdin ends: the parent is gone then. Does not return.
[[noreturn]] void answer_requests();

} // namespace espalier
