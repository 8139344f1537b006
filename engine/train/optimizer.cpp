// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer.h"

#include "graph/builder.h"
#include "graph/step_block.h"

namespace espalier {
namespace {

constexpr char separator = '#';
constexpr const char* layer_name = "optimizer";
constexpr Initializer zero{Initializer::Kind::constant, 0.0};

struct Trained {
    TensorId parameter;
    TensorId gradient;
};

TensorId slot_buffer(GraphBuilder& builder, TensorId parameter, std::string_view slot) {
    const Graph& graph = builder.graph();
    const Shape shape = graph.shape(parameter);
    return builder.buffer(slot_tensor_name(graph.tensor(parameter).name, slot), shape, zero);
}

/// Adds every gradient to its sum and puts the sums in the gradients' place.
void accumulate(GraphBuilder& builder, TensorId step, std::vector<Trained>& trained) {
    std::vector<TensorId> inputs{step};
    std::vector<TensorId> sums;
    for (auto& [parameter, gradient] : trained) {
        const TensorId sum = slot_buffer(builder, parameter, gradient_sum_slot);
        inputs.insert(inputs.end(), {gradient, sum});
        sums.push_back(sum);
        gradient = sum;
    }
    const GraphBuilder::Scope scope(builder, layer_name);
    builder.apply("accumulate", std::move(inputs), {}, std::move(sums));
}

Attributes attributes_of(const OptimizerConfig& config) {
    Attributes attributes{{"weight_decay", config.weight_decay}, {"clip_norm", config.clip_norm}};
    if (config.kind == "sgd") {
        attributes.set("momentum", config.momentum);
        attributes.set("nesterov", config.nesterov);
    } else {
        attributes.set("beta1", config.beta1);
        attributes.set("beta2", config.beta2);
        attributes.set("eps", config.eps);
        attributes.set("decoupled", config.kind == "adamw");
    }
    return attributes;
}

TensorId gradient_norm(GraphBuilder& builder, TensorId step, const std::vector<Trained>& trained) {
    std::vector<TensorId> inputs{step};
    for (const auto& each : trained)
        inputs.push_back(each.gradient);
    const GraphBuilder::Scope scope(builder, layer_name);
    return builder.apply_one("gradient_norm", std::move(inputs));
}

void apply(GraphBuilder& builder, const OptimizerConfig& config, TensorId step, TensorId norm,
           const std::vector<Trained>& trained) {
    std::vector<TensorId> inputs{step, norm};
    std::vector<TensorId> changes;
    for (const auto& [parameter, gradient] : trained) {
        inputs.insert(inputs.end(), {parameter, gradient});
        changes.push_back(parameter);
        for (const auto& slot : slots_of(config)) {
            const TensorId buffer = slot_buffer(builder, parameter, slot);
            inputs.push_back(buffer);
            changes.push_back(buffer);
        }
    }
    const GraphBuilder::Scope scope(builder, layer_name);
    builder.apply(config.kind == "sgd" ? "sgd" : "adam", std::move(inputs), attributes_of(config), std::move(changes));
}

} // namespace

std::string slot_tensor_name(std::string_view parameter, std::string_view slot) {
    return std::string(parameter) + separator + std::string(slot);
}

std::pair<std::string, std::string> parameter_and_slot(std::string_view tensor_name) {
    const auto at = tensor_name.rfind(separator);
    if (at == std::string_view::npos)
        return {std::string(tensor_name), {}};
    return {std::string(tensor_name.substr(0, at)), std::string(tensor_name.substr(at + 1))};
}

std::vector<std::string> slots_of(const OptimizerConfig& config) {
    if (config.kind == "sgd")
        return {"momentum"};
    return {"exp_avg", "exp_avg_sq", "steps"};
}

AppendUpdate make_update(const OptimizerConfig& config, UpdateParts parts, std::vector<TensorId> recorded) {
    return [=](Graph& graph, const std::map<TensorId, TensorId>& gradients) {
        GraphBuilder builder(graph);
        builder.set_stage(Stage::update);
        builder.set_place("", ""); // buffers are named by the path
        const TensorId step = step_buffer(builder);

        std::vector<Trained> trained;
        for (const auto& [parameter, gradient] : gradients)
            trained.push_back({parameter, gradient});
        if (parts.accumulate)
            accumulate(builder, step, trained);

        std::vector<TensorId> values = recorded;
        if (parts.apply) {
            // The norm is computed even where nothing is clipped: an update by a gradient that is not finite is left
            // out.
            const TensorId norm = gradient_norm(builder, step, trained);
            apply(builder, config, step, norm, trained);
            values.push_back(norm);
        } else {
            values.push_back(recorded.front()); // every part writes as many columns
        }

        const auto columns = static_cast<std::int64_t>(values.size());
        const TensorId history = builder.buffer(history_name, {history_rows, columns}, zero);
        values.insert(values.begin(), step);
        const GraphBuilder::Scope scope(builder, layer_name);
        builder.apply("record", std::move(values), {}, {history});
    };
}

} // namespace espalier
