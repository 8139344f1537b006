// SPDX-License-Identifier: Apache-2.0
#include "nn/whole_network.h"

#include "graph/step_block.h"
#include "nn/fixture_spec.h"
#include "plan/session.h"
#include "train/optimizer.h"

#include <cmath>

namespace espalier {

namespace {

OptimizerConfig optimizer_of(const Json& attributes) {
    const Json& sgd = attributes.at("sgd");
    OptimizerConfig config;
    config.kind = "sgd";
    config.learning_rate = sgd.at("lr");
    config.momentum = sgd.at("momentum");
    config.weight_decay = sgd.at("weight_decay");
    config.clip_norm = attributes.value("clip_norm", 0.0);
    return config;
}

void compare(Distance& worst, const std::string& name, const std::vector<float>& expected,
             const std::vector<float>& actual) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        difference += std::abs(static_cast<double>(expected[i]) - actual.at(i));
        size += std::abs(static_cast<double>(expected[i]));
    }
    const double count = static_cast<double>(expected.size());
    const double share = difference / count / (1e-4 * size / count + 1e-6);
    if (worst.name.empty() || !(share <= worst.share)) { // a NaN is the worst
        worst = {share, name};
    }
}

/// The step of the fixture: gradients of all parameters are kept, all but the alphas are moved.
struct Step {
    CompiledStep compiled;
    std::map<std::string, TensorId> gradients;
};

Step compile(const ForwardGraph& forward, const OptimizerConfig& optimizer, const Toggles& toggles) {
    std::vector<TensorId> parameters;
    for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i) {
        if (forward.graph.tensors()[i].role == Role::parameter) {
            parameters.push_back(static_cast<TensorId>(i));
        }
    }
    const AppendUpdate update = make_update(optimizer, {}, {forward.loss});
    const auto keep_and_update = [&](Graph& graph, const std::map<TensorId, TensorId>& gradients) {
        std::map<TensorId, TensorId> of_weights;
        for (const auto& [parameter, gradient] : gradients) {
            graph.keep(gradient);
            if (!graph.tensor(parameter).name.starts_with("alpha")) {
                of_weights[parameter] = gradient;
            }
        }
        update(graph, of_weights);
    };
    Step step{compile_step(forward.graph, forward.loss, parameters, toggles, keep_and_update), {}};
    for (const auto& [parameter, gradient] : step.compiled.gradients) {
        step.gradients[step.compiled.graph.tensor(parameter).name] = gradient;
    }
    return step;
}

} // namespace

WholeNetworkErrors run_whole_network(const safetensors::Reader& fixture, Backend& backend, const Toggles& toggles) {
    const Json attributes = Json::parse(fixture.metadata().at("attrs"));
    const Shape input(fixture.at("input").shape);
    const ForwardGraph forward = build_forward(fixture_spec(attributes, input), input[0], NormMode::training);
    const OptimizerConfig optimizer = optimizer_of(attributes);
    const Step step = compile(forward, optimizer, toggles);
    // build_forward keeps logits, loss and correct, in this order; a pass may have replaced them.
    const TensorId logits = step.compiled.graph.kept()[0];
    const TensorId loss = step.compiled.graph.kept()[1];

    Session session(backend, {.poison = true});
    Plan& plan = session.plan("step", step.compiled.graph);
    const std::string before = "before/";
    for (const std::string& name : session.names()) {
        if (fixture.has(before + name)) {
            session.set(name, fixture.floats(before + name));
        } else if (name != step_block::name) {
            const Shape& shape = step.compiled.graph.shape(*step.compiled.graph.find(name));
            session.set(name, std::vector<float>(static_cast<std::size_t>(shape.count()), 0.0F));
        }
    }
    const std::vector<float> images = fixture.floats("input");
    const std::vector<std::int32_t> labels = fixture.integers("labels");
    const std::vector<float> losses = fixture.floats("losses");

    WholeNetworkErrors errors;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        std::vector<float> block(step_block::size, 0.0F);
        block[step_block::learning_rate] = static_cast<float>(optimizer.learning_rate);
        block[step_block::step] = static_cast<float>(i + 1);
        block[step_block::loss_scale] = 1.0F;
        block[step_block::micro_steps] = 1.0F;
        session.set(step_block::name, block);
        plan.set_input("images", images.data(), images.size() * sizeof(float));
        plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
        plan.run();
        errors.loss[i] = std::abs(plan.read(loss).at(0) - losses[i]) / std::abs(losses[i]);
        if (i != 0) {
            continue;
        }
        compare(errors.logits, "logits", fixture.floats("logits"), plan.read(logits));
        for (const auto& [name, gradient] : step.gradients) {
            compare(errors.gradient, name, fixture.floats("grad/" + name), plan.read(gradient));
            ++errors.compared;
        }
    }
    const std::string after = "after3/";
    for (const safetensors::Entry& entry : fixture.entries()) {
        if (entry.name.starts_with(after)) {
            const std::string name = entry.name.substr(after.size());
            compare(errors.parameter, name, fixture.floats(entry.name), session.get(name));
            ++errors.compared;
        }
    }
    return errors;
}

} // namespace espalier
