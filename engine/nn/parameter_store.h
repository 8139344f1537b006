// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace espalier {

/// Values of a network by name: parameters, buffers, and the optimizer's slots of each parameter. Always float32 in
/// row-major NCHW / OIHW order, whatever layout a plan uses; in the order in which the network first named them.
class ParameterStore {
public:
    struct Entry {
        std::string name;
        Shape shape;
        bool trained = true; ///< parameter, not buffer
        std::vector<float> values;
        /// Optimizer state by slot ("momentum", "exp_avg", "exp_avg_sq", "steps"), each of the parameter's shape.
        std::map<std::string, std::vector<float>> slots;
    };

    /// Adds every parameter and buffer of `graph` that is not here yet, with its initial value: a function of (seed,
    /// name) alone. Throws ConfigError if an entry of that name has another shape.
    void add_missing(const Graph& graph, std::uint64_t seed);
    void add(Entry entry);
    void erase(const std::string& name);

    [[nodiscard]] bool has(const std::string& name) const { return index_.contains(name); }
    [[nodiscard]] const Entry& at(const std::string& name) const;
    [[nodiscard]] Entry& at(const std::string& name);
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] std::vector<Entry>& entries() { return entries_; }
    /// Number of trained values, without those whose name begins with "alpha".
    [[nodiscard]] std::int64_t parameter_count() const;

    /// Whether no value and no slot is NaN or infinite.
    [[nodiscard]] bool all_finite() const;

private:
    std::vector<Entry> entries_;
    std::map<std::string, std::size_t> index_;
};

} // namespace espalier
