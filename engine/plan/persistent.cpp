// SPDX-License-Identifier: Apache-2.0
#include "plan/persistent.h"

#include "base/error.h"
#include "base/faults.h"
#include "plan/host_values.h"
#include "plan/memory_plan.h"

namespace espalier {

std::size_t PersistentTensors::resolved(std::size_t index) const {
    while (entries_[index].same_as != none)
        index = entries_[index].same_as;
    return index;
}

std::size_t PersistentTensors::find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? none : resolved(found->second);
}

std::size_t PersistentTensors::add(Tensor tensor, Layout layout, Purpose purpose) {
    const auto index = entries_.size();
    if (!index_.emplace(tensor.name, index).second)
        throw Error("The parameter or buffer '" + tensor.name + "' exists already.");
    names_.push_back(tensor.name);
    entries_.push_back({std::move(tensor), std::move(layout), purpose});
    return index;
}

void PersistentTensors::shrink(std::size_t size) {
    for (; entries_.size() > size; entries_.pop_back()) {
        index_.erase(entries_.back().tensor.name);
        std::erase(names_, entries_.back().tensor.name);
    }
}

bool PersistentTensors::add_alias(const std::string& name, const std::string& same_as) {
    const auto target = find(same_as);
    if (target == none || find(name) == target)
        return false;
    const auto [position, is_new] = index_.emplace(name, target);
    if (is_new) {
        names_.push_back(name);
        return false;
    }
    auto& entry = entries_[resolved(position->second)];
    if (entry.layout != entries_[target].layout)
        throw Error("The buffers '" + name + "' and '" + same_as +
                    "' hold the same values, but plans of one session store them in different layouts.");
    entry.same_as = target;
    return true;
}

std::size_t PersistentTensors::bytes(Purpose purpose) const {
    std::size_t sum = 0;
    for (const auto& entry : entries_)
        if (entry.purpose == purpose && (entry.same_as == none || entry.address))
            sum += align_up(entry.layout.bytes);
    return sum;
}

std::size_t PersistentTensors::allocated() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_)
        sum += block->bytes();
    return sum;
}

void PersistentTensors::allocate(Backend& backend) {
    const auto wants_memory = [](const Entry& entry) { return !entry.address && entry.same_as == none; };
    std::size_t bytes = 0;
    for (const auto& entry : entries_)
        if (wants_memory(entry))
            bytes += align_up(entry.layout.bytes);
    if (bytes == 0)
        return;
    faults::before_allocation(bytes);
    blocks_.push_back(backend.allocate(bytes));
    auto* address = blocks_.back()->data();
    backend.poison(address, bytes);
    for (auto& entry : entries_) {
        if (!wants_memory(entry))
            continue;
        entry.address = address;
        address += align_up(entry.layout.bytes);
        if (entry.tensor.initializer.kind != Initializer::Kind::constant)
            continue;
        const std::vector<float> values(static_cast<std::size_t>(entry.tensor.shape.count()),
                                        static_cast<float>(entry.tensor.initializer.value));
        backend.upload(entry.tensor, entry.layout, to_host_values(entry.tensor, values).data(), entry.address);
    }
}

void PersistentTensors::release() {
    for (auto& entry : entries_)
        entry.address = nullptr;
    blocks_.clear();
}

} // namespace espalier
