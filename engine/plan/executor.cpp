// SPDX-License-Identifier: Apache-2.0
#include "plan/executor.h"

#include "base/error.h"
#include "base/faults.h"
#include "plan/memory_plan.h"

#include <algorithm>
#include <set>

namespace espalier {

Executor::Executor(Backend& backend, Program program, Arena arena)
    : backend_(backend), program_(std::move(program)), arena_(std::move(arena)), addresses_(program_.values.size()) {
    const auto update = std::ranges::find(program_.ops, Stage::update, &PlannedOp::stage);
    first_update_ = static_cast<std::size_t>(update - program_.ops.begin());
}

void Executor::bind(std::byte* arena, const PersistentTensors& persistent) {
    base_ = arena;
    recording_.reset(); // it holds the old addresses
    records_nothing_ = false;
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
        const auto& value = program_.values[i];
        addresses_[i] = value.place == Value::Place::persistent ? persistent.at(value.persistent).address
                                                                : arena + arena_.values[i];
    }
    std::vector<std::byte*> inputs, outputs;
    const auto collect = [this](std::span<const ValueId> values, std::vector<std::byte*>& addresses) {
        addresses.clear();
        for (auto value : values)
            addresses.push_back(value == no_value ? nullptr : address(value));
    };
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        auto& step = program_.steps[i];
        collect(step.inputs, inputs);
        collect(step.outputs, outputs);
        step.kernel->bind({inputs, outputs, step.workspace ? arena + arena_.workspaces[i] : nullptr});
    }
}

bool Executor::run(bool poison, const Interrupt& interrupt) {
    launched_ = 0;
    launched_as_one_ = false;
    if (poison)
        poison_arena();
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        if (leaves(i, interrupt))
            return false;
        if (poison)
            poison_outputs(program_.steps[i], i);
        launched_ = i + 1; // counts a launch that throws
        faults::before_launch();
        program_.steps[i].kernel->run();
    }
    return true;
}

bool Executor::record() {
    if (!records_nothing_) {
        recording_ = backend_.record(kernels(), find_dependencies(accesses()));
        records_nothing_ = !recording_;
    }
    return recorded();
}

void Executor::replay() {
    launched_ = program_.steps.size();
    launched_as_one_ = true;
    faults::before_launch();
    recording_->replay();
}

std::vector<ValueId> Executor::results() const {
    std::set<ValueId> results;
    for (const auto& step : program_.steps)
        for (const auto output : step.outputs)
            if (output != no_value &&
                program_.values[static_cast<std::size_t>(output)].place == Value::Place::persistent)
                results.insert(output);
    for (const auto& [tensor, value] : program_.kept)
        results.insert(value);
    return {results.begin(), results.end()};
}

bool Executor::run_profiled(bool one_by_one, const Interrupt& interrupt) {
    launched_ = program_.steps.size();
    launched_as_one_ = true; // unless the backend asks between them
    faults::before_launch();
    const auto leave = [&](std::size_t next) {
        launched_ = next;
        launched_as_one_ = false;
        if (leaves(next, interrupt))
            return true;
        ++launched_;
        return false;
    };
    const auto milliseconds = one_by_one ? backend_.Backend::time(kernels(), leave) : time(leave);
    for (std::size_t i = 0; i < milliseconds.size(); ++i)
        program_.ops[i].milliseconds = milliseconds[i];
    return milliseconds.size() == program_.steps.size();
}

std::vector<double> Executor::time(const std::function<bool(std::size_t next)>& leave) {
    try {
        return backend_.time(kernels(), leave);
    } catch (const Error&) {
        if (!launched_as_one_)
            throw;
        backend_.synchronize(); // throws if the device is lost, not the recording alone
        return backend_.Backend::time(kernels(), leave);
    }
}

std::vector<Kernel*> Executor::kernels() const {
    std::vector<Kernel*> result;
    for (const auto& step : program_.steps)
        result.push_back(step.kernel.get());
    return result;
}

std::vector<StepAccess> Executor::accesses() const {
    std::vector<StepAccess> result(program_.steps.size());
    const auto collect = [this](std::span<const ValueId> values, std::vector<Access>& accesses) {
        for (auto value : values)
            if (value != no_value)
                accesses.push_back({address(value), program_.values[static_cast<std::size_t>(value)].layout.bytes});
    };
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const auto& step = program_.steps[i];
        collect(step.inputs, result[i].reads);
        collect(step.outputs, result[i].writes);
        if (step.workspace)
            result[i].writes.push_back({base_ + arena_.workspaces[i], step.workspace});
    }
    return result;
}

void Executor::poison_arena() {
    std::vector<std::pair<std::size_t, std::size_t>> inputs; // begin, end
    for (std::size_t i = 0; i < program_.values.size(); ++i)
        if (program_.values[i].place == Value::Place::input)
            inputs.emplace_back(arena_.values[i], arena_.values[i] + align_up(program_.values[i].layout.bytes));
    std::ranges::sort(inputs);
    inputs.emplace_back(arena_.bytes, arena_.bytes);
    std::size_t from = 0;
    for (const auto& [begin, end] : inputs) {
        if (begin > from)
            backend_.poison(base_ + from, begin - from);
        from = end;
    }
}

void Executor::poison_outputs(const Step& step, std::size_t index) {
    for (auto output : step.outputs) {
        if (output == no_value || program_.values[static_cast<std::size_t>(output)].place != Value::Place::arena)
            continue;
        const bool in_place = std::ranges::any_of(
            step.inputs, [&](ValueId input) { return input != no_value && address(input) == address(output); });
        if (!in_place)
            backend_.poison(address(output), program_.values[static_cast<std::size_t>(output)].layout.bytes);
    }
    if (step.workspace)
        backend_.poison(base_ + arena_.workspaces[index], step.workspace);
}

} // namespace espalier
