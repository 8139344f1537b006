// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/executor.h"
#include "plan/session_state.h"

#include <set>
#include <string>
#include <vector>

namespace espalier {

/// A plan of a session: its program, bound to the session's memory as soon as it is needed.
class CompiledPlan final : public Plan {
public:
    CompiledPlan(Session::State& session, Executor executor);

    void set_input(const std::string& name, const void* host, std::size_t bytes) override;
    bool run(const Interrupt& interrupt) override;
    bool run_profiled(const Interrupt& interrupt) override;
    [[nodiscard]] std::vector<float> read(TensorId kept) const override;
    [[nodiscard]] std::span<const PlannedOp> ops() const override { return executor_.ops(); }
    [[nodiscard]] std::size_t launched() const override { return executor_.launched(); }
    [[nodiscard]] bool launched_as_one() const override { return executor_.launched_as_one(); }
    [[nodiscard]] MemoryUse memory() const override;
    [[nodiscard]] double model_flops() const override { return executor_.program().model_flops; }

    [[nodiscard]] const Executor& executor() const { return executor_; }
    void drop_recording() { executor_.drop_recording(); }

private:
    /// Memory is there, the kernels know where, and from now on the arena holds this plan's tensors.
    void prepare();
    void prepare_run();
    /// False, and nothing has run, if the step is not to be replayed.
    bool run_recorded();
    /// Throws Error naming an input that was not given since another plan used the arena.
    void expect_inputs() const;

    Session::State& session_;
    Executor executor_;
    std::size_t bound_generation_ = 0;
    std::set<std::string> given_; ///< inputs that are in the arena
    bool has_run_ = false;
    bool warm_ = false; ///< has run since it was bound
};

} // namespace espalier
