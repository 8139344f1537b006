// SPDX-License-Identifier: Apache-2.0
// Without Qt, whose keyword `slots` is the name of a member here.
#include "io/checkpoint.h"

#include <cstring>
#include <string>

namespace espalier::test {

std::string difference(const Checkpoint& a, const Checkpoint& b) {
    Json state_a = a.info.run_state;
    Json state_b = b.info.run_state;
    for (Json* state : {&state_a, &state_b})
        for (const char* time : {"seconds", "epoch_seconds"})
            state->erase(time);
    if (state_a != state_b)
        return "run state: " + state_a.dump() + " and " + state_b.dump();
    if (a.store.entries().size() != b.store.entries().size())
        return "number of values";
    const auto same_bits = [](const std::vector<float>& x, const std::vector<float>& y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    for (const auto& entry : a.store.entries()) {
        const auto& other = b.store.at(entry.name);
        if (!same_bits(entry.values, other.values))
            return entry.name;
        if (entry.slots.size() != other.slots.size())
            return "slots of " + entry.name;
        for (const auto& [slot, values] : entry.slots)
            if (!same_bits(values, other.slots.at(slot)))
                return entry.name + ", " + slot;
    }
    return {};
}

} // namespace espalier::test
