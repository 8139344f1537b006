// SPDX-License-Identifier: Apache-2.0
#include "plan/session.h"

#include "base/error.h"
#include "plan/compiled_plan.h"
#include "plan/host_values.h"
#include "plan/session_state.h"

#include <algorithm>
#include <iterator>

namespace espalier {

Session::Session(Backend& backend, Options options) : state_(std::make_unique<State>(backend, options)) {}

Session::~Session() = default;

Plan& Session::plan(const std::string& key, const Graph& graph) {
    auto& plans = state_->plans;
    const auto found = std::ranges::find(plans, key, &State::CachedPlan::key);
    if (found != plans.end()) {
        plans.splice(plans.begin(), plans, found);
        return *plans.front().plan;
    }
    plans.push_front({key, state_->make_plan(graph)});
    if (plans.size() > std::max<std::size_t>(1, state_->options.plans)) {
        state_->prepare_end_of(*plans.back().plan);
        plans.pop_back();
    }
    return *plans.front().plan;
}

void Session::replan(const std::string& key, const Graph& graph) {
    const auto found = std::ranges::find(state_->plans, key, &State::CachedPlan::key);
    if (found == state_->plans.end())
        return;
    auto plan = state_->make_plan(graph);
    state_->prepare_end_of(*found->plan);
    found->plan = std::move(plan);
}

void Session::set(const std::string& name, std::span<const float> values) {
    const auto& entry = state_->entry(name);
    if (static_cast<std::int64_t>(values.size()) != entry.tensor.shape.count())
        throw ConfigError("'" + name + "' has the shape " + entry.tensor.shape.text() + ", but " +
                          std::to_string(values.size()) + " values were given.");
    state_->persistent.allocate(state_->backend);
    state_->backend.upload(entry.tensor, entry.layout, to_host_values(entry.tensor, values).data(), entry.address);
}

std::vector<float> Session::get(const std::string& name) const {
    const auto& entry = state_->entry(name);
    if (!entry.address)
        throw Error("'" + name +
                    "' has no value: nothing was set and no plan has run since the session began or was released.");
    return state_->download(entry.tensor, entry.layout, entry.address);
}

void Session::begin_get(const std::string& name) {
    const auto& entry = state_->entry(name);
    state_->persistent.allocate(state_->backend);
    auto& download = state_->downloads[name];
    if (!download)
        download = state_->backend.make_download(entry.tensor, entry.layout);
    download->start(entry.address);
}

std::optional<std::vector<float>> Session::finish_get(const std::string& name) {
    const auto& tensor = state_->entry(name).tensor;
    const auto& download = state_->downloads.at(name);
    if (!download->ready())
        return std::nullopt;
    std::vector<std::byte> host(host_bytes(tensor));
    download->finish(host.data());
    return from_host_values(tensor, host);
}

void Session::set_rows(const std::string& name, std::int64_t first, std::span<const std::byte> rows) {
    const auto& entry = state_->entry(name);
    const auto& shape = entry.tensor.shape;
    const bool integers = entry.tensor.type == DType::u8 || entry.tensor.type == DType::i32;
    if (!integers || entry.layout != state_->backend.plain(shape, entry.tensor.type))
        throw ConfigError("'" + name + "' cannot be filled by rows: it is no row-major buffer of integers.");
    const auto whole = host_bytes(entry.tensor);
    const auto offset = static_cast<std::size_t>(first) * (whole / static_cast<std::size_t>(shape[0]));
    if (first < 0 || offset + rows.size() > whole)
        throw ConfigError("'" + name + "' has the shape " + shape.text() + ", but " + std::to_string(rows.size()) +
                          " bytes were given for its rows from " + std::to_string(first) + " on.");
    state_->persistent.allocate(state_->backend);
    upload_bytes(state_->backend, rows, entry.address + offset);
}

std::vector<std::string> Session::names() const { return state_->persistent.names(); }

const std::string& Session::recording_fault() const { return state_->recording_fault; }

MemoryUse Session::memory() const {
    MemoryUse use;
    for (const auto& cached : state_->plans)
        if (const auto planned = cached.plan->memory();
            planned.activations + planned.workspace > use.activations + use.workspace)
            use = planned;
    // The arena does not shrink when the plan that needed it is gone.
    const auto arena = state_->arena ? state_->arena->bytes() : 0;
    use.activations += arena - std::min(arena, use.activations + use.workspace);
    use.weights = state_->persistent.bytes(Purpose::weights);
    use.optimizer = state_->persistent.bytes(Purpose::optimizer);
    use.data = state_->persistent.bytes(Purpose::data);
    return use;
}

std::size_t Session::allocated() const {
    return state_->persistent.allocated() + (state_->arena ? state_->arena->bytes() : 0);
}

void Session::release() {
    state_->backend.synchronize();
    state_->arena.reset();
    state_->downloads.clear();
    state_->persistent.release();
    ++state_->generation;
}

} // namespace espalier
