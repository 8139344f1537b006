// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pinned memory, copies and events of CUDA's runtime, without a card: a copy happens when it is waited for, at the
/// latest moment at which it may.
namespace espalier::test::fake_copies {

inline int pinned = 0, events = 0; ///< alive
inline bool gives_pinned = true;   ///< else the system has none left
inline int calls = 0, failing = 0; ///< that could fail so far, and which of them does; 0: none

/// Nothing has happened yet, and that call will fail.
void begin(int failing_call = 0);
/// Does all that was enqueued.
void run();

} // namespace espalier::test::fake_copies
