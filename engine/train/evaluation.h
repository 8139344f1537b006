// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/batch_feed.h"
#include "train/run_state.h"

#include <functional>
#include <optional>

namespace espalier {

/// Loss and accuracy of a network over everything that `feed` gives in one epoch; no batch waits for another's result.
/// `leave` is asked before each batch, `interrupt` within it; nothing comes back if one says yes.
[[nodiscard]] std::optional<Totals> evaluate(NetworkSession& network, BatchFeed& feed,
                                             const std::function<bool()>& leave = {}, const Interrupt& interrupt = {});

} // namespace espalier
