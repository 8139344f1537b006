// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/loader.h"
#include "train/network_session.h"
#include "train/run_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace espalier {

/// Loss and accuracy of a network over everything that `loader` gives in one epoch. `leave` is asked before each batch,
/// `interrupt` within it; nothing comes back if one says yes.
[[nodiscard]] std::optional<Totals> evaluate(NetworkSession& network, Loader& loader,
                                             const std::function<bool()>& leave = {}, const Interrupt& interrupt = {});

/// Counts of (label, predicted class), row after row of labels, each as long as there are classes.
[[nodiscard]] std::vector<std::int64_t> confusion_matrix(NetworkSession& network, Loader& loader, std::int64_t classes);

} // namespace espalier
