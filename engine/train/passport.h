// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_setup.h"

namespace espalier {

/// Every field under its name.
[[nodiscard]] Json to_json(const Tuning& tuning);

/// What a rerun must match: build, system, backend and threads, device (a GPU's name, UUID, driver and libraries),
/// toggles in force, kernel of each op, seed, hash of the data, every fallback, and whether a rerun gives the same
/// bits; how long the first update took, and how algorithms were chosen (struct Tuning). `earlier`: the run's passport
/// before, whose fallbacks stay in it.
[[nodiscard]] Json make_passport(RunSetup& setup, const Json& earlier);

} // namespace espalier
