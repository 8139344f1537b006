// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/arena.h"
#include "plan/backend.h"
#include "plan/dependencies.h"
#include "plan/persistent.h"
#include "plan/program.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace espalier {

/// Runs a program whose memory is laid out. Only does arithmetic with addresses: what is there is the backend's alone.
class Executor {
public:
    Executor(Backend& backend, Program program, Arena arena);

    [[nodiscard]] const Program& program() const { return program_; }
    [[nodiscard]] const Arena& arena() const { return arena_; }
    [[nodiscard]] std::span<const PlannedOp> ops() const { return program_.ops; }

    /// Gives every kernel its addresses.
    void bind(std::byte* arena, const PersistentTensors& persistent);
    /// Launches every kernel in order, and does not wait for them. `poison`: what a kernel is about to write (outputs
    /// that take no input's place, workspace) is filled with rubbish before, as is the whole arena but the inputs at
    /// the start.
    /// False if `interrupt` said leave between two kernels. It is asked before the first kernel of the update at the
    /// latest: from there on the step is run to its end.
    bool run(bool poison, const Interrupt& interrupt);
    /// Records the launches, where that has not been tried since bind(); nothing runs. False where the backend records
    /// nothing. Throws DeviceError if they cannot be recorded.
    [[nodiscard]] bool record();
    [[nodiscard]] bool recorded() const { return recording_ != nullptr; }
    void drop_recording() { recording_.reset(); }
    /// The same launches as run(), as one recording, which is not left in the middle.
    void replay();
    /// What is there after a run: the parameters and buffers that it writes, and the kept values; each once.
    [[nodiscard]] std::vector<ValueId> results() const;
    /// As run(), waiting for every kernel and writing its time into its PlannedOp. `one_by_one`: even if the backend
    /// could time them in a recording.
    bool run_profiled(bool one_by_one, const Interrupt& interrupt);
    /// How many of ops() were launched, or about to be, since the last run began: what a device error may be about.
    [[nodiscard]] std::size_t launched() const { return launched_; }
    /// Whether they were launched as a whole, so that it may be about any of them.
    [[nodiscard]] bool launched_as_one() const { return launched_as_one_; }
    /// Address of a value after bind().
    [[nodiscard]] std::byte* address(ValueId value) const { return addresses_[static_cast<std::size_t>(value)]; }

private:
    [[nodiscard]] bool leaves(std::size_t next_step, const Interrupt& interrupt) const {
        return interrupt && next_step <= first_update_ && interrupt();
    }
    /// As the backend does it; one by one where its recording fails, of which nothing has run then.
    [[nodiscard]] std::vector<double> time(const std::function<bool(std::size_t next)>& leave);
    [[nodiscard]] std::vector<Kernel*> kernels() const;
    [[nodiscard]] std::vector<StepAccess> accesses() const;
    void poison_arena();
    void poison_outputs(const Step& step, std::size_t index);

    Backend& backend_;
    Program program_;
    Arena arena_;
    std::unique_ptr<Recording> recording_;
    bool records_nothing_ = false; ///< asked since bind(): the backend has nothing to gain by it
    std::size_t launched_ = 0;
    bool launched_as_one_ = false;
    std::size_t first_update_ = 0; ///< first step that changes parameters; the number of steps if none does
    std::byte* base_ = nullptr;
    std::vector<std::byte*> addresses_; ///< of each value
};

} // namespace espalier
