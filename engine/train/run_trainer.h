// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run_folder.h"
#include "train/checkpointing.h"
#include "train/evaluation.h"
#include "train/passport.h"
#include "train/recorder.h"
#include "train/trainer.h"
#include "train/training_loop.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace espalier {

/// One run, as train_run() does it: trainer.cpp has the order of it all, trainer_epochs.cpp what is done between its
/// first update and its last one, trainer_endings.cpp what becomes of it when it is left or something fails.
class Trainer {
public:
    Trainer(const std::filesystem::path& folder, EventSink& events, CommandSource& commands)
        : folder_(folder), checkpoint_folder_(folder_.checkpoints()), events_(folder, events),
          control_(commands, events_), passport_(folder_.passport(), events_) {}

    /// From the data to the last phase. Throws what makes an ending below.
    RunOutcome run();
    RunOutcome fail(const std::string& reason, ExitCode code);
    RunOutcome diverged(const Diverged& error);
    RunOutcome out_of_memory(const std::string& reason);
    RunOutcome device_fault(const std::string& reason);
    void close_files() { events_.close(); }

private:
    void begin_or_resume();
    void tell_setup();
    void tell_backend_faults();
    bool run_epochs();
    bool evaluate_epoch();
    void end_epoch(const std::optional<Totals>& validation);
    bool test();
    bool safe_point();
    bool between_updates();
    bool pause_or_leave();
    void pause();
    [[nodiscard]] CheckpointInfo begin_saving();
    void save();
    bool try_to_save(bool best, bool asked = false);
    RunOutcome leave();
    RunOutcome make_way(const FallbackNote& next, ExitCode code);

    RunFolder folder_;
    CheckpointFolder checkpoint_folder_;
    Recorder events_;
    RunControl control_;
    PassportFile passport_;
    RunSetup setup_;
    RunState state_;
    ParameterStore store_;
    std::optional<Checkpointing> checkpoints_;
    std::optional<TrainingLoop> loop_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool recording_fault_told_ = false;
    bool network_has_the_state_ = false; ///< values that belong to state_, so that they can be saved
};

} // namespace espalier
