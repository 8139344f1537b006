// SPDX-License-Identifier: Apache-2.0
#include "backends/fixture_networks.h"

#include "base/json.h"
#include "graph/step_block.h"
#include "nn/fixture_spec.h"
#include "plan/session.h"
#include "train/optimizer.h"

#include <cmath>
#include <map>

namespace espalier::testing {
namespace {

bool is_alpha(const std::string& name) { return name.starts_with("alpha"); }

/// A step of the network as a plan of the session, and where its results are.
struct NetworkStep {
    TensorId logits = no_tensor;
    TensorId loss = no_tensor;
    std::map<std::string, TensorId> gradients; ///< by the parameter's name
    Plan* plan = nullptr;
};

class NetworkFixture {
public:
    NetworkFixture(const safetensors::Reader& file, const Toggles& toggles, Backend& backend)
        : file_(file), toggles_(toggles), attributes_(Json::parse(file.metadata().at("attrs"))),
          spec_(fixture_spec(attributes_, Shape(file.at("input").shape), file.at("logits").shape.at(1))),
          session_(backend, {.poison = true}) {}

    std::vector<Comparison> compare() {
        compare_gradients();
        compare_steps();
        if (attributes_.contains("arch"))
            compare_architecture_step();
        return std::move(comparisons_);
    }

private:
    /// `wanted` says of which parameters the gradients are computed.
    template <class Wanted>
    NetworkStep make_step(const std::string& key, NormMode mode, Wanted wanted, const OptimizerConfig* optimizer) {
        auto forward = build_forward(spec_, file_.at("input").shape[0], mode);
        std::vector<TensorId> parameters;
        for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i) {
            const auto& tensor = forward.graph.tensors()[i];
            if (tensor.role == Role::parameter && wanted(tensor.name))
                parameters.push_back(static_cast<TensorId>(i));
        }
        NetworkStep step{forward.logits, forward.loss};
        AppendUpdate update;
        if (optimizer)
            update = [&](Graph& graph, const std::map<TensorId, TensorId>& gradients) {
                for (const auto& [parameter, gradient] : gradients)
                    graph.keep(gradient);
                make_update(*optimizer, {}, {forward.loss})(graph, gradients);
            };
        const auto compiled = compile_step(std::move(forward.graph), forward.loss, parameters, toggles_, update);
        for (const auto& [parameter, gradient] : compiled.gradients)
            step.gradients[compiled.graph.tensor(parameter).name] = gradient;
        step.plan = &session_.plan(key, compiled.graph);
        return step;
    }

    void set_values(float learning_rate) {
        std::vector<float> block(step_block::size);
        block[step_block::learning_rate] = learning_rate;
        block[step_block::loss_scale] = block[step_block::micro_steps] = 1;
        for (const auto& name : session_.names())
            if (name == step_block::name)
                session_.set(name, block);
            else if (!values_set_ && file_.has("before/" + name))
                session_.set(name, file_.floats("before/" + name));
        values_set_ = true;
    }

    void run(Plan& plan) {
        const auto images = file_.floats("input");
        const auto labels = file_.integers("labels");
        plan.set_input("images", images.data(), images.size() * sizeof(float));
        plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
        plan.run();
    }

    void compare_loss(const std::string& name, double expected, double found, double allowed) {
        comparisons_.push_back({name, std::abs(expected - found) / std::abs(expected), allowed});
    }

    void compare_tensor(const std::string& name, const std::vector<float>& found) {
        const auto expected = file_.floats(name);
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            difference += std::abs(static_cast<double>(expected[i]) - found.at(i));
            size += std::abs(static_cast<double>(expected[i]));
        }
        const auto count = static_cast<double>(expected.size());
        comparisons_.push_back({name, difference / count, 1e-4 * size / count + 1e-6});
    }

    /// Every tensor of the file whose name begins with `prefix`, next to read(the rest of its name).
    template <class Read>
    void compare_all(const std::string& prefix, Read read) {
        for (const auto& entry : file_.entries())
            if (entry.name.starts_with(prefix))
                compare_tensor(entry.name, read(entry.name.substr(prefix.size())));
    }

    /// All gradients at once, alpha's too; running statistics are left alone.
    void compare_gradients() {
        const auto step = make_step(
            "gradients", NormMode::training_frozen_stats, [](auto&) { return true; }, nullptr);
        set_values(0);
        run(*step.plan);
        compare_tensor("logits", step.plan->read(step.logits));
        compare_all("grad/", [&](const std::string& name) { return step.plan->read(step.gradients.at(name)); });
    }

    void compare_steps() {
        const auto& sgd = attributes_.at("sgd");
        OptimizerConfig optimizer;
        optimizer.kind = "sgd";
        optimizer.momentum = sgd.at("momentum");
        optimizer.nesterov = sgd.value("nesterov", false);
        optimizer.weight_decay = sgd.at("weight_decay");
        optimizer.clip_norm = attributes_.value("clip_norm", 0.0);
        const auto step = make_step(
            "weights", NormMode::training, [](auto& name) { return !is_alpha(name); }, &optimizer);
        set_values(sgd.at("lr"));
        const auto losses = file_.floats("losses");
        const double allowed[] = {1e-5, 1e-5, 1e-4};
        for (std::size_t i = 0; i < losses.size(); ++i) {
            run(*step.plan);
            compare_loss("loss of step " + std::to_string(i + 1), losses[i], step.plan->read(step.loss)[0],
                         allowed[std::min<std::size_t>(i, 2)]);
        }
        compare_all("after3/", [&](const std::string& name) { return session_.get(name); });
    }

    /// Batch statistics, running ones left alone; the weights stay.
    void compare_architecture_step() {
        const auto& arch = attributes_.at("arch");
        OptimizerConfig optimizer;
        optimizer.kind = arch.at("optimizer");
        optimizer.beta1 = arch.at("betas").at(0);
        optimizer.beta2 = arch.at("betas").at(1);
        optimizer.eps = arch.value("eps", 1e-8);
        optimizer.weight_decay = arch.at("weight_decay");
        optimizer.clip_norm = 0;
        const auto step = make_step("alpha", NormMode::training_frozen_stats, is_alpha, &optimizer);
        set_values(arch.at("lr"));
        run(*step.plan);
        compare_loss("loss of the architecture step", file_.floats("arch/loss")[0], step.plan->read(step.loss)[0],
                     1e-4);
        compare_all("arch/grad/", [&](const std::string& name) { return step.plan->read(step.gradients.at(name)); });
        compare_all("arch/after/", [&](const std::string& name) { return session_.get(name); });
    }

    const safetensors::Reader& file_;
    const Toggles toggles_;
    const Json attributes_;
    const NetworkSpec spec_;
    Session session_;
    bool values_set_ = false;
    std::vector<Comparison> comparisons_;
};

} // namespace

std::vector<Comparison> compare_network(const safetensors::Reader& file, const Toggles& toggles, Backend& backend) {
    return NetworkFixture(file, toggles, backend).compare();
}

} // namespace espalier::testing
