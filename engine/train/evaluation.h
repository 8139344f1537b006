// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/loader.h"
#include "train/batch_feed.h"
#include "train/run_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace espalier {

/// Loss and accuracy of a network over everything that `feed` gives in one epoch; no batch waits for another's result.
/// `leave` is asked before each batch, `interrupt` within it; nothing comes back if one says yes.
[[nodiscard]] std::optional<Totals> evaluate(NetworkSession& network, BatchFeed& feed,
                                             const std::function<bool()>& leave = {}, const Interrupt& interrupt = {});

/// Counts of (label, predicted class), row after row of labels, each as long as there are classes.
[[nodiscard]] std::vector<std::int64_t> confusion_matrix(NetworkSession& network, Loader& loader, std::int64_t classes);

} // namespace espalier
