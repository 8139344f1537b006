// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"
#include "plan/persistent.h"
#include "plan/session.h"

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier {

class CompiledPlan;

/// What a session's plans share.
struct Session::State {
    struct CachedPlan {
        std::string key;
        std::unique_ptr<CompiledPlan> plan;
    };

    State(Backend& backend, Options options);
    ~State();

    /// Lowers the graph and lays out its memory; allocates nothing. Throws ConfigError, and OutOfMemory above the
    /// limit; the session is then as it was before.
    [[nodiscard]] std::unique_ptr<CompiledPlan> make_plan(const Graph& graph);
    /// Takes memory for every parameter and buffer, and an arena for the largest plan in the cache. Counts up
    /// `generation` if the arena moves.
    void ensure_memory();
    /// Waits for the kernels of a plan that is about to go, and remembers it no longer. Throws DeviceError.
    void prepare_end_of(const CompiledPlan& plan);
    /// No step is replayed from now on, for that reason. Throws DeviceError if the device is lost, not a recording
    /// alone.
    void stop_recording(std::string reason);
    /// Throws ConfigError if no plan has that parameter or buffer.
    [[nodiscard]] const PersistentTensors::Entry& entry(const std::string& name) const;
    [[nodiscard]] std::vector<float> download(const Tensor& tensor, const Layout& layout,
                                              const std::byte* address) const;

    Backend& backend;
    const Options options;
    PersistentTensors persistent;
    std::unique_ptr<Memory> arena;
    std::size_t generation = 1; ///< of addresses: a plan that was bound in an earlier one must be bound again
    const CompiledPlan* arena_user = nullptr;                   ///< the plan whose inputs and results are in the arena
    std::list<CachedPlan> plans;                                ///< most recently used first
    std::map<std::string, std::unique_ptr<Download>> downloads; ///< of begin_get()
    std::string recording_fault;                                ///< why no step is replayed any more

private:
    [[nodiscard]] std::size_t largest_arena() const;
    void check_limit(const CompiledPlan& plan) const;
};

} // namespace espalier
