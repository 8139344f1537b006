// SPDX-License-Identifier: Apache-2.0
#include "nn/parameter_store.h"

#include "base/error.h"
#include "nn/initial_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier {

void ParameterStore::add_missing(const Graph& graph, std::uint64_t seed) {
    for (const Tensor& tensor : graph.tensors()) {
        if (tensor.role != Role::parameter && tensor.role != Role::buffer) {
            continue;
        }
        if (!has(tensor.name)) {
            add({tensor.name,
                 tensor.shape,
                 tensor.role == Role::parameter,
                 initial_values(tensor.initializer, tensor.shape, seed, tensor.name),
                 {}});
        } else if (at(tensor.name).shape != tensor.shape) {
            throw ConfigError("The network needs " + tensor.name + " of shape " + tensor.shape.text() +
                              ", but the stored one is " + at(tensor.name).shape.text() +
                              ". The checkpoint belongs to another network.");
        }
    }
}

void ParameterStore::add(Entry entry) {
    if (has(entry.name)) {
        throw ConfigError("The parameter name " + entry.name +
                          " is taken: two layers of a network have the same path.");
    }
    if (static_cast<std::int64_t>(entry.values.size()) != entry.shape.count()) {
        throw ConfigError("The parameter " + entry.name + " of shape " + entry.shape.text() + " was given " +
                          std::to_string(entry.values.size()) + " values.");
    }
    index_[entry.name] = entries_.size();
    entries_.push_back(std::move(entry));
}

void ParameterStore::erase(const std::string& name) {
    const auto found = index_.find(name);
    if (found == index_.end()) {
        return;
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(found->second));
    index_.clear();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        index_[entries_[i].name] = i;
    }
}

const ParameterStore::Entry& ParameterStore::at(const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) {
        throw ConfigError("The network has no parameter or buffer " + name + ".");
    }
    return entries_[found->second];
}

ParameterStore::Entry& ParameterStore::at(const std::string& name) {
    return const_cast<Entry&>(std::as_const(*this).at(name));
}

std::int64_t ParameterStore::parameter_count() const {
    std::int64_t count = 0;
    for (const Entry& entry : entries_) {
        if (entry.trained && !entry.name.starts_with("alpha")) {
            count += entry.shape.count();
        }
    }
    return count;
}

bool ParameterStore::all_finite() const {
    const auto finite = [](const std::vector<float>& values) {
        return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
    };
    return std::ranges::all_of(entries_, [&](const Entry& entry) {
        return finite(entry.values) &&
               std::ranges::all_of(entry.slots, [&](const auto& slot) { return finite(slot.second); });
    });
}

} // namespace espalier
