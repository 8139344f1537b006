// SPDX-License-Identifier: Apache-2.0
#include "plan/session_state.h"

#include "base/error.h"
#include "base/faults.h"
#include "plan/compiled_plan.h"
#include "plan/host_values.h"
#include "plan/lower.h"
#include "plan/plan_too_large.h"

#include <algorithm>
#include <cstdio>

namespace espalier {
namespace {

std::string size_text(std::size_t bytes) {
    constexpr double kib = 1024;
    const auto mebibytes = static_cast<double>(bytes) / (kib * kib);
    char text[32];
    std::snprintf(text, sizeof text, mebibytes < kib ? "%.1f MiB" : "%.1f GiB",
                  mebibytes < kib ? mebibytes : mebibytes / kib);
    return text;
}

} // namespace

Session::State::State(Backend& backend_, Options options_) : backend(backend_), options(options_) {}

Session::State::~State() = default;

std::unique_ptr<CompiledPlan> Session::State::make_plan(const Graph& graph) {
    const auto known = persistent.size();
    std::unique_ptr<CompiledPlan> plan;
    try {
        auto program = lower(graph, backend, persistent);
        auto layout = plan_arena(program, options.recorded ? backend.steps_side_by_side() : 0);
        plan = std::make_unique<CompiledPlan>(*this, Executor(backend, std::move(program), std::move(layout)));
        check_limit(*plan);
    } catch (...) {
        persistent.shrink(known);
        throw;
    }
    for (const auto& alias : graph.aliases())
        if (persistent.add_alias(graph.tensor(alias.buffer).name, graph.tensor(alias.same_as).name))
            ++generation;
    return plan;
}

std::size_t Session::State::largest_arena() const {
    std::size_t bytes = arena ? arena->bytes() : 0;
    for (const auto& cached : plans)
        bytes = std::max(bytes, cached.plan->executor().arena().bytes);
    return bytes;
}

void Session::State::check_limit(const CompiledPlan& plan) const {
    const auto& planned = plan.executor().arena();
    const auto weights = persistent.bytes(Purpose::weights);
    const auto optimizer = persistent.bytes(Purpose::optimizer);
    const auto data = persistent.bytes(Purpose::data);
    const auto arena_bytes = std::max(largest_arena(), planned.bytes);
    const auto total = weights + optimizer + data + arena_bytes;
    if (options.memory_limit == 0 || total <= options.memory_limit)
        return;
    std::string text = "This step needs " + size_text(total) + " (weights " + size_text(weights) + ", optimizer " +
                       size_text(optimizer) + ", activations and workspace " + size_text(arena_bytes) +
                       (data > 0 ? ", the data set " + size_text(data) : std::string()) + "), but the limit is " +
                       size_text(options.memory_limit) + ".";
    PlannedOp busiest;
    if (const auto ops = plan.ops(); !ops.empty()) {
        busiest = ops[planned.busiest_step];
        text += " Most is in use at " + busiest.kind + " of layer '" + busiest.layer + "', with " +
                size_text(planned.live_peak) + ".";
    }
    const auto activations = std::min(planned.activation_bytes, arena_bytes);
    throw PlanTooLarge(text, {weights, optimizer, activations, arena_bytes - activations, data}, std::move(busiest));
}

void Session::State::ensure_memory() {
    persistent.allocate(backend);
    const auto bytes = largest_arena();
    if (bytes == 0 || (arena && arena->bytes() >= bytes))
        return;
    backend.synchronize();
    arena.reset(); // before the larger one is taken, or both would have to fit
    ++generation;
    faults::before_allocation(bytes);
    arena = backend.allocate(bytes);
}

void Session::State::prepare_end_of(const CompiledPlan& plan) {
    backend.synchronize();
    if (arena_user == &plan)
        arena_user = nullptr;
}

void Session::State::stop_recording(std::string reason) {
    backend.synchronize(); // recordings may still be running
    recording_fault = std::move(reason);
    for (const auto& cached : plans)
        cached.plan->drop_recording();
}

const PersistentTensors::Entry& Session::State::entry(const std::string& name) const {
    const auto index = persistent.find(name);
    if (index == PersistentTensors::none)
        throw ConfigError("No plan of this session has a parameter or buffer named '" + name + "'.");
    return persistent.at(index);
}

std::vector<float> Session::State::download(const Tensor& tensor, const Layout& layout,
                                            const std::byte* address) const {
    std::vector<std::byte> host(host_bytes(tensor));
    backend.download(tensor, layout, address, host.data());
    return from_host_values(tensor, host);
}

} // namespace espalier
