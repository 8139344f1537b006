// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"

#include <set>
#include <vector>

/// Streams, events and graphs of CUDA's runtime, without a card: a capture becomes a list of nodes and of what each
/// waits for. One capture at a time.
namespace espalier::test::fake_capture {

struct Node {
    std::set<int> after; ///< places of nodes before
    int kernel = -1;     ///< number of the launch, or none: an event
    bool early = false;
};

inline std::vector<Node> captured; ///< by the last capture
inline bool capturing = false;
inline int alive = 0;   ///< events, graphs and executable graphs, not streams
inline int calls = 0;   ///< that could fail, so far
inline int failing = 0; ///< which of them fails; 0: none

/// Nothing has happened yet, and that call will fail.
void begin(int failing_call = 0);
/// What a kernel does. Throws Error where the stream is not captured.
void launch(const cuda::LaunchStream& stream, int kernel);

} // namespace espalier::test::fake_capture
