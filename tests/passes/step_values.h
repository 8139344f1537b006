// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/registry.h"
#include "passes/pipeline.h"
#include "plan/session.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace espalier {

/// Values that depend on the name alone, so that graphs made by different passes get the same.
inline std::vector<float> named_values(const Tensor& tensor) {
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(tensor.name)));
    const bool variance = tensor.name.ends_with("running_var");
    const double deviation = tensor.role == Role::input ? 1.0 : 0.3;
    std::normal_distribution<double> normal(0, deviation);
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.count()));
    for (auto& value : values)
        value = static_cast<float>(variance ? 1.0 : tensor.name.ends_with("running_mean") ? 0.0 : normal(random));
    return values;
}

/// What one step of a graph computes on the reference backend: kept tensors by id, parameters and buffers by name.
struct StepValues {
    std::map<TensorId, std::vector<float>> kept;
    std::map<std::string, std::vector<float>> persistent;
    MemoryUse memory;

    static StepValues of(const Graph& graph, std::int64_t classes = 4) {
        const auto backend = make_backend("reference", {});
        Session session(*backend, {.poison = true});
        auto& plan = session.plan("step", graph);
        const auto names = session.names();
        for (const auto& tensor : graph.tensors()) {
            if (tensor.role == Role::parameter || tensor.role == Role::buffer) {
                if (std::ranges::find(names, tensor.name) != names.end())
                    session.set(tensor.name, named_values(tensor));
            } else if (tensor.role == Role::input && tensor.type == DType::i32) {
                std::vector<std::int32_t> labels(static_cast<std::size_t>(tensor.shape.count()));
                for (std::size_t i = 0; i < labels.size(); ++i)
                    labels[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % classes);
                plan.set_input(tensor.name, labels.data(), labels.size() * sizeof(std::int32_t));
            } else if (tensor.role == Role::input) {
                const auto values = named_values(tensor);
                plan.set_input(tensor.name, values.data(), values.size() * sizeof(float));
            }
        }
        plan.run();
        StepValues result;
        for (auto tensor : graph.kept())
            result.kept[tensor] = plan.read(tensor);
        for (const auto& name : session.names())
            result.persistent[name] = session.get(name);
        result.memory = plan.memory();
        return result;
    }
};

/// mean|a-b| / mean|a|
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double distance = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        distance += std::abs(static_cast<double>(a[i]) - b.at(i));
        size += std::abs(static_cast<double>(a[i]));
    }
    return distance / std::max(size, 1e-30);
}

} // namespace espalier
