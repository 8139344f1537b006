// SPDX-License-Identifier: Apache-2.0
#include "plan/arena.h"

#include "plan/memory_plan.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::int32_t never = -1;
/// A step with a larger workspace fills the device by itself: its memory may be used again at once.
constexpr std::size_t small_workspace = std::size_t{4} << 20;
constexpr std::size_t no_block = static_cast<std::size_t>(-1);

/// The memory of one value, or of a chain of values of which each takes the place of the one before.
struct Blocks {
    std::vector<Lifetime> lifetimes;
    std::vector<std::size_t> of_value;
};

std::vector<std::int32_t> last_readers(const Program& program) {
    std::vector<std::int32_t> last(program.values.size(), never);
    for (std::size_t step = 0; step < program.steps.size(); ++step)
        for (auto input : program.steps[step].inputs)
            if (input != no_value)
                last[static_cast<std::size_t>(input)] = static_cast<std::int32_t>(step);
    return last;
}

/// The block that this output may take over, if its op allows it and reads the input's memory for the last time.
std::size_t block_in_place(const Program& program, const Blocks& blocks, const std::vector<std::int32_t>& last,
                           std::size_t step_index, std::size_t output) {
    const auto& step = program.steps[step_index];
    for (const auto& [to, from] : step.in_place) {
        if (to != output || step.inputs[from] == no_value)
            continue;
        const auto input = step.inputs[from];
        const auto& value = program.values[static_cast<std::size_t>(input)];
        // An input that the op reads twice may be needed by it in two places.
        if (value.place != Value::Place::arena || value.kept ||
            last[static_cast<std::size_t>(input)] != static_cast<std::int32_t>(step_index) ||
            std::ranges::count(step.inputs, input) > 1)
            continue;
        const auto block = blocks.of_value[static_cast<std::size_t>(input)];
        const auto& lifetime = blocks.lifetimes[block];
        const auto bytes = program.values[static_cast<std::size_t>(step.outputs[output])].layout.bytes;
        if (bytes <= lifetime.bytes && lifetime.last == static_cast<std::int32_t>(step_index))
            return block;
    }
    return no_block;
}

Blocks find_blocks(const Program& program) {
    const auto last = last_readers(program);
    const auto end = static_cast<std::int32_t>(program.steps.size()) - 1;
    Blocks blocks;
    blocks.of_value.assign(program.values.size(), no_block);
    for (std::size_t i = 0; i < program.values.size(); ++i)
        if (program.values[i].place == Value::Place::input) {
            blocks.of_value[i] = blocks.lifetimes.size();
            blocks.lifetimes.push_back({program.values[i].layout.bytes, 0, end});
        }
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
        const auto now = static_cast<std::int32_t>(step);
        for (std::size_t output = 0; output < program.steps[step].outputs.size(); ++output) {
            const auto id = program.steps[step].outputs[output];
            if (id == no_value || program.values[static_cast<std::size_t>(id)].place != Value::Place::arena)
                continue;
            const auto& value = program.values[static_cast<std::size_t>(id)];
            const auto until = value.kept ? end : std::max(now, last[static_cast<std::size_t>(id)]);
            auto block = block_in_place(program, blocks, last, step, output);
            if (block == no_block) {
                block = blocks.lifetimes.size();
                blocks.lifetimes.push_back({value.layout.bytes, now, until});
            } else {
                // One more than the step itself, or a second output of this step could take the same input.
                blocks.lifetimes[block].last = std::max(until, now + 1);
            }
            blocks.of_value[static_cast<std::size_t>(id)] = block;
        }
    }
    for (auto& lifetime : blocks.lifetimes)
        lifetime.last = std::min(lifetime.last, end);
    return blocks;
}

} // namespace

Arena plan_arena(const Program& program, int rest) {
    auto blocks = find_blocks(program);
    auto& lifetimes = blocks.lifetimes;
    const auto values_end = lifetimes.size();
    for (std::size_t step = 0; step < program.steps.size(); ++step)
        lifetimes.push_back(
            {program.steps[step].workspace, static_cast<std::int32_t>(step), static_cast<std::int32_t>(step)});
    const auto end = static_cast<std::int32_t>(program.steps.size()) - 1;
    for (std::size_t i = 0; i < lifetimes.size(); ++i)
        if (i < values_end || lifetimes[i].bytes <= small_workspace)
            lifetimes[i].last = std::min(lifetimes[i].last + rest, end);
    const auto memory = plan_memory(lifetimes);

    Arena arena;
    arena.bytes = memory.bytes;
    arena.values.resize(program.values.size());
    for (std::size_t i = 0; i < program.values.size(); ++i)
        if (const auto block = blocks.of_value[i]; block != no_block)
            arena.values[i] = memory.offsets[block];
    for (std::size_t i = 0; i < values_end; ++i)
        arena.activation_bytes = std::max(arena.activation_bytes, memory.offsets[i] + align_up(lifetimes[i].bytes));
    arena.workspaces.assign(memory.offsets.begin() + static_cast<std::ptrdiff_t>(values_end), memory.offsets.end());

    const auto live = live_bytes(lifetimes, program.steps.size());
    if (const auto peak = std::ranges::max_element(live); peak != live.end()) {
        arena.live_peak = *peak;
        arena.busiest_step = static_cast<std::size_t>(peak - live.begin());
    }
    return arena;
}

} // namespace espalier
