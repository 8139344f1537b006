// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"
#include "train/run_setup.h"
#include "train/run_state.h"

#include <string>

namespace espalier {

/// The toggles as safe mode and the device leave them.
[[nodiscard]] Json toggles_in_force(const RunSetup& setup);
/// Events of docs/PROTOCOL.md that the trainer makes from values.
[[nodiscard]] Json plan_event(RunSetup& setup);
[[nodiscard]] Json fallback_event(const FallbackNote& note);
/// Of the epoch whose evaluation has just been done: state.epoch counts it already, state.training is its own still.
[[nodiscard]] Json epoch_event(const RunState& state);
[[nodiscard]] Json evaluation_event(const RunState& state, const std::string& set, const Totals& totals, bool best);
[[nodiscard]] Json error_event(const std::string& text, int code);

} // namespace espalier
