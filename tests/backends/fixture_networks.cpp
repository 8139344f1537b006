// SPDX-License-Identifier: Apache-2.0
#include "backends/fixture_networks.h"

#include "graph/step_block.h"
#include "nn/fixture_spec.h"
#include "nn/initial_values.h"
#include "plan/session.h"
#include "train/optimizer.h"

#include <algorithm>
#include <cmath>

namespace espalier::testing {
namespace {

bool is_alpha(const std::string& name) { return name.starts_with("alpha"); }

std::int64_t batch_of(const NetworkFixture& fixture) { return static_cast<std::int64_t>(fixture.labels.size()); }

/// A step of the network as a plan of the session, and where its results are.
struct NetworkStep {
    TensorId logits = no_tensor;
    TensorId loss = no_tensor;
    std::map<std::string, TensorId> gradients; ///< by the parameter's name
    Plan* plan = nullptr;
};

class FixtureRun {
public:
    FixtureRun(const NetworkFixture& fixture, const Toggles& toggles, Backend& backend)
        : fixture_(fixture), toggles_(toggles), session_(backend, {.poison = true}) {}

    NetworkResults results() {
        compute_gradients();
        take_steps();
        if (fixture_.attributes.contains("arch"))
            take_architecture_step();
        return std::move(results_);
    }

private:
    /// `wanted` says of which parameters the gradients are computed.
    template <class Wanted>
    NetworkStep make_step(const std::string& key, NormMode mode, Wanted wanted, const OptimizerConfig* optimizer) {
        auto forward = build_forward(fixture_.spec, batch_of(fixture_), mode);
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
            else if (!values_set_ && fixture_.before.contains(name))
                session_.set(name, fixture_.before.at(name));
        values_set_ = true;
    }

    void run(Plan& plan) {
        plan.set_input("images", fixture_.images.data(), fixture_.images.size() * sizeof(float));
        plan.set_input("labels", fixture_.labels.data(), fixture_.labels.size() * sizeof(std::int32_t));
        plan.run();
    }

    void take_gradients(const std::string& prefix, const NetworkStep& step) {
        for (const auto& [name, gradient] : step.gradients)
            results_[prefix + name] = step.plan->read(gradient);
    }

    template <class Wanted>
    void take_values(const std::string& prefix, Wanted wanted) {
        for (const auto& [name, value] : fixture_.before)
            if (wanted(name))
                results_[prefix + name] = session_.get(name);
    }

    /// All gradients at once, alpha's too; running statistics are left alone.
    void compute_gradients() {
        const auto step = make_step(
            "gradients", NormMode::training_frozen_stats, [](auto&) { return true; }, nullptr);
        set_values(0);
        run(*step.plan);
        results_["logits"] = step.plan->read(step.logits);
        take_gradients("grad/", step);
    }

    void take_steps() {
        const auto& sgd = fixture_.attributes.at("sgd");
        OptimizerConfig optimizer;
        optimizer.kind = "sgd";
        optimizer.momentum = sgd.at("momentum");
        optimizer.nesterov = sgd.value("nesterov", false);
        optimizer.weight_decay = sgd.at("weight_decay");
        optimizer.clip_norm = fixture_.attributes.value("clip_norm", 0.0);
        const auto step = make_step(
            "weights", NormMode::training, [](auto& name) { return !is_alpha(name); }, &optimizer);
        set_values(sgd.at("lr"));
        for (int i = 0; i < 3; ++i) {
            run(*step.plan);
            results_["losses"].push_back(step.plan->read(step.loss)[0]);
        }
        take_values("after3/", [](auto&) { return true; });
    }

    /// Batch statistics, running ones left alone; the weights stay.
    void take_architecture_step() {
        const auto& arch = fixture_.attributes.at("arch");
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
        results_["arch/loss"] = {step.plan->read(step.loss)[0]};
        take_gradients("arch/grad/", step);
        take_values("arch/after/", is_alpha);
    }

    const NetworkFixture& fixture_;
    const Toggles toggles_;
    Session session_;
    bool values_set_ = false;
    NetworkResults results_;
};

Comparison compare_loss(const std::string& name, double expected, double found, double allowed) {
    return {name, std::abs(expected - found) / std::abs(expected), allowed};
}

Comparison compare_tensor(const std::string& name, const std::vector<float>& expected,
                          const std::vector<float>& found) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        difference += std::abs(static_cast<double>(expected[i]) - found.at(i));
        size += std::abs(static_cast<double>(expected[i]));
    }
    const auto count = static_cast<double>(expected.size());
    return {name, difference / count, 1e-4 * size / count + 1e-6};
}

} // namespace

NetworkFixture read_fixture(const safetensors::Reader& file) {
    const auto attributes = Json::parse(file.metadata().at("attrs"));
    NetworkFixture fixture{attributes,
                           fixture_spec(attributes, Shape(file.at("input").shape), file.at("logits").shape.at(1)),
                           {},
                           file.floats("input"),
                           file.integers("labels")};
    for (const auto& entry : file.entries())
        if (entry.name.starts_with("before/"))
            fixture.before[entry.name.substr(7)] = file.floats(entry.name);
    return fixture;
}

NetworkFixture draw_fixture(const NetworkFixture& like, std::uint64_t seed) {
    auto fixture = like;
    for (const auto& tensor : build_forward(like.spec, batch_of(like), NormMode::training).graph.tensors())
        if (fixture.before.contains(tensor.name))
            fixture.before[tensor.name] = initial_values(tensor.initializer, tensor.shape, seed, tensor.name);
    const Initializer normal{Initializer::Kind::normal, 1.0}, uniform{Initializer::Kind::uniform, 1.0};
    fixture.images = initial_values(normal, {static_cast<std::int64_t>(like.images.size())}, seed, "images");
    const auto drawn = initial_values(uniform, {batch_of(like)}, seed, "labels"); // in [-1, 1]
    const auto classes = static_cast<std::int32_t>(like.spec.classes);
    std::ranges::transform(drawn, fixture.labels.begin(), [classes](float value) {
        return std::clamp(static_cast<std::int32_t>((value + 1) / 2 * static_cast<float>(classes)), 0, classes - 1);
    });
    return fixture;
}

NetworkFixture nudge_fixture(const NetworkFixture& like, double relative, std::uint64_t seed) {
    auto fixture = like;
    const auto nudge = [&](const std::string& name, std::vector<float>& values) {
        const auto directions = initial_values({Initializer::Kind::uniform, 1.0},
                                               {static_cast<std::int64_t>(values.size())}, seed, "nudge " + name);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(values[i] * (1 + relative * static_cast<double>(directions[i])));
    };
    for (auto& [name, values] : fixture.before)
        nudge(name, values);
    nudge("images", fixture.images);
    return fixture;
}

NetworkResults read_results(const safetensors::Reader& file) {
    NetworkResults results;
    for (const auto& entry : file.entries())
        if (!entry.name.starts_with("before/") && entry.name != "input" && entry.name != "labels")
            results[entry.name] = file.floats(entry.name);
    return results;
}

NetworkResults compute_results(const NetworkFixture& fixture, const Toggles& toggles, Backend& backend) {
    return FixtureRun(fixture, toggles, backend).results();
}

std::vector<Comparison> compare_results(const NetworkResults& expected, const NetworkResults& found) {
    const double allowed[] = {1e-5, 1e-5, 1e-4};
    std::vector<Comparison> comparisons;
    for (const auto& [name, values] : expected) {
        const auto& other = found.at(name);
        if (name == "losses")
            for (std::size_t i = 0; i < values.size(); ++i)
                comparisons.push_back(compare_loss("loss of step " + std::to_string(i + 1), values[i], other.at(i),
                                                   allowed[std::min<std::size_t>(i, 2)]));
        else if (name == "arch/loss")
            comparisons.push_back(compare_loss("loss of the architecture step", values[0], other.at(0), 1e-4));
        else
            comparisons.push_back(compare_tensor(name, values, other));
    }
    return comparisons;
}

std::optional<double> explaining_roundings(const NetworkFixture& fixture, const NetworkResults& found,
                                           Backend& oracle) {
    constexpr std::uint64_t tries = 5;
    Toggles plain;
    plain.precision = "fp32";
    plain.fused = plain.share = plain.recompute = plain.reapply = false;
    for (const double relative : {0x1p-22, 0x1p-20, 0x1p-18})
        for (std::uint64_t seed = 1; seed <= tries; ++seed) {
            const auto expected = compute_results(nudge_fixture(fixture, relative, seed), plain, oracle);
            if (worst_of(compare_results(expected, found)).ok())
                return relative;
        }
    return std::nullopt;
}

const Comparison& worst_of(const std::vector<Comparison>& comparisons) {
    return *std::ranges::max_element(comparisons, {}, [](const Comparison& c) { return c.error / c.allowed; });
}

} // namespace espalier::testing
