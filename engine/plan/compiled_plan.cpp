// SPDX-License-Identifier: Apache-2.0
#include "plan/compiled_plan.h"

#include "base/error.h"
#include "plan/host_values.h"
#include "plan/recording_check.h"

namespace espalier {

CompiledPlan::CompiledPlan(Session::State& session, Executor executor)
    : session_(session), executor_(std::move(executor)) {}

void CompiledPlan::prepare() {
    session_.ensure_memory();
    if (bound_generation_ != session_.generation) {
        executor_.bind(session_.arena ? session_.arena->data() : nullptr, session_.persistent);
        bound_generation_ = session_.generation;
        warm_ = false;
    } else if (session_.arena_user == this) {
        return;
    }
    session_.arena_user = this;
    given_.clear();
    has_run_ = false;
}

void CompiledPlan::prepare_run() {
    if (session_.arena_user != this)
        given_.clear();
    expect_inputs(); // before another plan's inputs are lost in vain
    prepare();
    expect_inputs(); // the arena may have moved
}

void CompiledPlan::expect_inputs() const {
    for (const auto& [name, value] : executor_.program().inputs)
        if (!given_.contains(name))
            throw Error("The step reads the input '" + name +
                        "', which was not set since the plan was made or another plan of the session was used.");
}

void CompiledPlan::set_input(const std::string& name, const void* host, std::size_t bytes) {
    const auto found = executor_.program().inputs.find(name);
    if (found == executor_.program().inputs.end())
        throw ConfigError("The step reads no input named '" + name + "'.");
    const auto& value = executor_.program().values[static_cast<std::size_t>(found->second)];
    if (bytes != host_bytes(value.tensor))
        throw ConfigError("Input '" + name + "' is " + value.tensor.shape.text() + " " +
                          std::string(name_of(value.tensor.type)) + ", " + std::to_string(host_bytes(value.tensor)) +
                          " bytes, but " + std::to_string(bytes) + " bytes were given.");
    prepare();
    session_.backend.upload(value.tensor, value.layout, host, executor_.address(found->second));
    given_.insert(name);
}

bool CompiledPlan::run(const Interrupt& interrupt) {
    prepare_run();
    has_run_ = run_recorded() || executor_.run(session_.options.poison, interrupt);
    warm_ |= has_run_;
    return has_run_;
}

bool CompiledPlan::run_recorded() {
    // The first run after a bind loads modules and makes library contexts, which cannot be recorded.
    if (!warm_ || !session_.options.recorded || session_.options.poison || !session_.recording_fault.empty())
        return false;
    if (executor_.recorded()) {
        executor_.replay();
        return true;
    }
    try {
        if (!executor_.record())
            return false;
    } catch (const DeviceError& error) {
        session_.stop_recording(std::string("The step could not be recorded: ") + error.what());
        return false;
    }
    if (auto fault = check_recording(session_.backend, executor_, session_.options.deterministic); !fault.empty())
        session_.stop_recording(std::move(fault));
    return true;
}

bool CompiledPlan::run_profiled(const Interrupt& interrupt) {
    prepare_run();
    return has_run_ = executor_.run_profiled(!session_.recording_fault.empty(), interrupt);
}

std::vector<float> CompiledPlan::read(TensorId kept) const {
    const auto found = executor_.program().kept.find(kept);
    if (found == executor_.program().kept.end())
        throw ConfigError("Tensor " + std::to_string(kept) +
                          " was not kept by the graph of this plan, so it is gone after the step.");
    if (!has_run_ || bound_generation_ != session_.generation || session_.arena_user != this)
        throw Error(
            "Nothing can be read from a plan before it has run, or after another plan of the session was used.");
    const auto& value = executor_.program().values[static_cast<std::size_t>(found->second)];
    return session_.download(value.tensor, value.layout, executor_.address(found->second));
}

MemoryUse CompiledPlan::memory() const {
    const auto& arena = executor_.arena();
    return {.weights = session_.persistent.bytes(Purpose::weights),
            .optimizer = session_.persistent.bytes(Purpose::optimizer),
            .activations = arena.activation_bytes,
            .workspace = arena.bytes - arena.activation_bytes,
            .data = session_.persistent.bytes(Purpose::data)};
}

} // namespace espalier
