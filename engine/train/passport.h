// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"
#include "train/run_setup.h"

#include <filesystem>
#include <utility>

namespace espalier {

/// Every field under its name.
[[nodiscard]] Json to_json(const Tuning& tuning);

/// What a rerun must match: build, system, backend and threads, device (a GPU's name, UUID, driver and libraries),
/// toggles in force, kernel of each op, seed, hash of the data, every fallback, and whether a rerun gives the same
/// bits; how long the first update took, and how algorithms were chosen (struct Tuning). `earlier`: the run's passport
/// before, whose fallbacks stay in it.
[[nodiscard]] Json make_passport(RunSetup& setup, const Json& earlier);

/// The passport of a run as a file. Where one stands already, and another program holds it, training is worth more: it
/// is told once that the passport is an older one. Throws Error where there is none yet and none can be written.
class PassportFile {
public:
    PassportFile(std::filesystem::path file, EventSink& events) : file_(std::move(file)), events_(events) {}
    void write(RunSetup& setup);

private:
    std::filesystem::path file_;
    EventSink& events_;
    bool stale_told_ = false;
};

} // namespace espalier
