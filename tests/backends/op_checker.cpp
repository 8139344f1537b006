// SPDX-License-Identifier: Apache-2.0
#include "backends/op_checker.h"

#include "backends/guarded_backend.h"
#include "backends/registry.h"
#include "graph/autodiff.h"
#include "graph/builder.h"
#include "graph/op_registry.h"
#include "passes/passes.h"
#include "plan/session.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace espalier::testing {
namespace {

/// Step of the differences: exact in float next to the values of distinct_values.
constexpr float step = 1.0F / 4096;

/// (i + 1/2) * spacing for i = -count/2 ... count/2, shuffled: distinct, at least half a spacing from zero, within [-2,
/// 2].
std::vector<float> distinct_values(std::int64_t count, unsigned seed) {
    const auto spacing =
        std::max(8 * step, static_cast<float>(std::exp2(std::floor(std::log2(4.0 / static_cast<double>(count))))));
    const auto levels = static_cast<std::int64_t>(4 / spacing);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        values[static_cast<std::size_t>(i)] = (static_cast<float>(i % levels - levels / 2) + 0.5F) * spacing;
    std::shuffle(values.begin(), values.end(), std::mt19937(seed));
    return values;
}

std::vector<float> values_of(const OpCase& op_case, std::size_t input) {
    const auto& given = *op_case.inputs[input];
    return given.values.empty() ? distinct_values(given.shape.count(), static_cast<unsigned>(input + 1)) : given.values;
}

void set(Plan& plan, const CaseInput& input, const std::string& name, const std::vector<float>& values) {
    if (input.type == DType::i32) {
        const std::vector<std::int32_t> integers(values.begin(), values.end());
        plan.set_input(name, integers.data(), integers.size() * sizeof(std::int32_t));
    } else {
        plan.set_input(name, values.data(), values.size() * sizeof(float));
    }
}

std::string input_name(std::size_t index) { return "input " + std::to_string(index); }

bool has_gradient(const OpCase& op_case) {
    return static_cast<bool>(OpRegistry::instance().find(op_case.kind).gradient);
}

std::vector<std::size_t> differentiable_inputs(const OpCase& op_case) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < op_case.inputs.size(); ++i)
        if (op_case.inputs[i] && op_case.inputs[i]->differentiable)
            indices.push_back(i);
    return indices;
}

/// A case as a graph: the op, sum(output 0 * r), and gradients.
struct CaseGraph {
    Graph graph;
    std::vector<TensorId> inputs;
    std::map<std::string, TensorId> kept;
    std::vector<std::string> changed; ///< buffers that the op writes
    TensorId weights = no_tensor;     ///< r, an input named "r"
};

/// Appends the op of the case; `suffix` tells the buffers of two copies apart.
std::vector<TensorId> append_op(GraphBuilder& builder, const OpCase& op_case, std::vector<TensorId> inputs,
                                const std::string& suffix, std::vector<std::string>* changed_names) {
    std::vector<TensorId> changes;
    for (auto index : op_case.changes)
        changes.push_back(inputs[index]);
    for (std::size_t i = 0; i < op_case.written.size(); ++i)
        changes.push_back(builder.buffer("written " + std::to_string(i) + suffix, op_case.written[i], {}));
    if (changed_names)
        for (auto change : changes)
            changed_names->push_back(builder.graph().tensor(change).name);
    return builder.apply(op_case.kind, std::move(inputs), op_case.attributes, changes, op_case.wanted);
}

TensorId declare(GraphBuilder& builder, const CaseInput& input, const std::string& name) {
    switch (input.role) {
    case Role::parameter:
        return builder.parameter(name, input.shape, {});
    case Role::buffer:
        return builder.buffer(name, input.shape, {}, input.type);
    default:
        return builder.input(name, input.shape, input.type);
    }
}

std::vector<TensorId> wanted_gradients(const OpCase& op_case, const std::vector<TensorId>& inputs,
                                       Gradients gradients) {
    std::vector<TensorId> wanted;
    for (auto index : differentiable_inputs(op_case))
        wanted.push_back(inputs[index]);
    if (gradients == Gradients::first_alone)
        wanted.resize(1);
    else if (gradients == Gradients::others_alone)
        wanted.erase(wanted.begin());
    return wanted;
}

/// The inputs of a case with its images and filters cast to `type`, each by itself.
std::vector<TensorId> cast_images(GraphBuilder& builder, std::vector<TensorId> inputs, DType type) {
    for (auto& input : inputs)
        if (input != no_tensor && builder.graph().shape(input).rank() == 4)
            input = builder.apply_one("cast", {input}, {{"type", std::string(name_of(type))}});
    return inputs;
}

/// The inputs of a case with its data cast to `type`; single numbers, parameters and buffers stay as they are.
std::vector<TensorId> cast_data(GraphBuilder& builder, const OpCase& op_case, std::vector<TensorId> inputs,
                                DType type) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (const auto& given = op_case.inputs[i];
            given && given->role == Role::input && given->type == DType::f32 && given->shape.count() > 1)
            inputs[i] = builder.apply_one("cast", {inputs[i]}, {{"type", std::string(name_of(type))}});
    return inputs;
}

/// Made by a pass behind mixed_precision.
bool is_separable(const OpCase& op_case) { return op_case.kind.starts_with("separable_"); }

/// Updates read gradients of any type; no pass casts for them.
bool is_update(const OpCase& op_case) {
    return op_case.kind == "sgd" || op_case.kind == "adam" || op_case.kind == "accumulate" ||
           op_case.kind == "gradient_norm";
}

CaseGraph build(const OpCase& op_case, Gradients gradients, DType type, const Supports& absorbing = {}) {
    CaseGraph result;
    auto& graph = result.graph;
    GraphBuilder builder(graph);
    for (std::size_t i = 0; i < op_case.inputs.size(); ++i)
        result.inputs.push_back(op_case.inputs[i] ? declare(builder, *op_case.inputs[i], input_name(i)) : no_tensor);
    const bool halves = type != DType::f32;
    const auto inputs = !halves                 ? result.inputs
                        : is_separable(op_case) ? cast_images(builder, result.inputs, type)
                                                : cast_data(builder, op_case, result.inputs, type);
    auto outputs = append_op(builder, op_case, inputs, "", &result.changed);
    if (halves && is_separable(op_case)) // casts behind it too
        for (const auto wide : OpRegistry::instance().find(op_case.kind).wide_outputs)
            if (wide < outputs.size() && outputs[wide] != no_tensor)
                outputs[wide] = builder.apply_one("cast", {outputs[wide]}, {{"type", std::string("f32")}});
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] != no_tensor)
            result.kept["output " + std::to_string(i)] = outputs[i];
    auto loss = no_tensor;
    if (gradients != Gradients::none) {
        result.weights = builder.input("r", graph.shape(outputs[0]));
        loss = builder.apply_one("dot", {outputs[0], result.weights});
    }
    if (halves && !is_update(op_case) && !is_separable(op_case))
        graph = mixed_precision(std::move(graph), type);
    if (gradients != Gradients::none) {
        const auto wanted = wanted_gradients(op_case, result.inputs, gradients);
        const auto found = differentiate(graph, loss, wanted);
        for (std::size_t i = 0; i < result.inputs.size(); ++i)
            if (const auto gradient = found.find(result.inputs[i]); gradient != found.end())
                result.kept["gradient of " + input_name(i)] = gradient->second;
    }
    for (const auto& [name, tensor] : result.kept)
        graph.keep(tensor);
    if (absorbing)
        graph = absorb_casts(std::move(graph), absorbing);
    return result;
}

Supports supports_of(const Backend& backend) {
    return [&backend](const Graph& graph, const Op& op) { return bool(backend.supports(graph, op)); };
}

} // namespace

CaseInput labels(Shape shape, std::int64_t classes) {
    CaseInput input{shape, Role::input, DType::i32, false, {}};
    for (std::int64_t i = 0; i < shape.count(); ++i)
        input.values.push_back(static_cast<float>((i * 7 + i / 3) % classes));
    return input;
}

std::vector<OpCase> op_cases() {
    std::vector<OpCase> cases;
    add_convolution_cases(cases);
    add_data_cases(cases);
    add_layer_cases(cases);
    add_update_cases(cases);
    add_separable_cases(cases);
    add_size_cases(cases);
    return cases;
}

bool applies(const OpCase& op_case, Gradients gradients) {
    const auto count = has_gradient(op_case) ? differentiable_inputs(op_case).size() : 0;
    switch (gradients) {
    case Gradients::none:
        return true;
    case Gradients::all:
        return count >= 1;
    default:
        return count >= 2;
    }
}

CaseResult run_case(const OpCase& op_case, Gradients gradients, Backend& backend, DType type, Casts casts) {
    const auto built = build(op_case, gradients, type, casts == Casts::absorbed ? supports_of(backend) : Supports{});
    Session::Options options;
    options.poison = true;
    GuardedBackend guarded(backend);
    Session session(backend.in_host_memory() ? static_cast<Backend&>(guarded) : backend, options);
    auto& plan = session.plan("case", built.graph);
    for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
        if (!op_case.inputs[i])
            continue;
        if (op_case.inputs[i]->role == Role::input)
            set(plan, *op_case.inputs[i], input_name(i), values_of(op_case, i));
        else
            session.set(input_name(i), values_of(op_case, i));
    }
    if (built.weights != no_tensor)
        set(plan, {}, "r", distinct_values(built.graph.shape(built.weights).count(), 1000));
    plan.run();

    CaseResult result;
    for (const auto& [name, tensor] : built.kept)
        result.values[name] = plan.read(tensor);
    for (const auto& name : built.changed)
        result.values["changed " + name] = session.get(name);
    for (const auto& op : built.graph.ops())
        result.kinds.insert(op.kind);
    result.casts = static_cast<int>(std::ranges::count(built.graph.ops(), "cast", &Op::kind));
    result.faults = guarded.faults();
    return result;
}

Support supports_case(const OpCase& op_case, Gradients gradients, const Backend& backend, DType type) {
    return supports_all(backend, build(op_case, gradients, type).graph);
}

double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::abs(static_cast<double>(a[i]) - b[i]);
        size += std::abs(static_cast<double>(a[i]));
    }
    return size > 0 ? difference / size : difference;
}

std::string differences(const CaseResult& expected, const CaseResult& found, double tolerance) {
    std::string text;
    for (const auto& fault : found.faults)
        text += fault + "\n";
    for (const auto& [name, values] : expected.values) {
        const auto other = found.values.find(name);
        if (other == found.values.end() || other->second.size() != values.size()) {
            text += name + ": missing or of another size\n";
            continue;
        }
        const auto error = relative_error(values, other->second);
        if (!(error <= tolerance))
            text += name + ": relative error " + std::to_string(error) + ", first expected " +
                    std::to_string(values[0]) + ", found " + std::to_string(other->second[0]) + "\n";
    }
    return text;
}

std::string gradient_errors(const OpCase& op_case, Backend& reference, std::size_t most) {
    const auto gradients = run_case(op_case, Gradients::all, reference).values;
    std::string text;
    for (auto varied : differentiable_inputs(op_case)) {
        // One graph computes sum(r (f(x + h) - f(x - h))) / 2h, so that the difference is taken in double precision.
        Graph graph;
        GraphBuilder builder(graph);
        std::vector<TensorId> inputs;
        for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
            const bool is_there = op_case.inputs[i].has_value();
            inputs.push_back(is_there ? declare(builder, *op_case.inputs[i], input_name(i)) : no_tensor);
        }
        const auto& shape = op_case.inputs[varied]->shape;
        auto above = inputs, below = inputs;
        above[varied] = builder.input("above", shape);
        below[varied] = builder.input("below", shape);
        const auto f_above = append_op(builder, op_case, above, " above", nullptr)[0];
        const auto f_below = append_op(builder, op_case, below, " below", nullptr)[0];
        const auto r = builder.input("r", graph.shape(f_above));
        const auto minus_r = builder.input("minus r", graph.shape(f_above));
        const auto slope =
            builder.apply_one("scale", {builder.apply_one("add", {builder.apply_one("dot", {f_above, r}),
                                                                  builder.apply_one("dot", {f_below, minus_r})}),
                                        builder.input("1/2h", {1})});
        graph.keep(slope);

        Session session(reference, {});
        auto& plan = session.plan("differences", graph);
        for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
            if (!op_case.inputs[i] || i == varied)
                continue;
            if (op_case.inputs[i]->role == Role::input)
                set(plan, *op_case.inputs[i], input_name(i), values_of(op_case, i));
            else
                session.set(input_name(i), values_of(op_case, i));
        }
        auto weights = distinct_values(graph.shape(r).count(), 1000);
        set(plan, {}, "r", weights);
        for (auto& weight : weights)
            weight = -weight;
        set(plan, {}, "minus r", weights);
        set(plan, {}, "1/2h", {1 / (2 * step)});

        const auto x = values_of(op_case, varied);
        const auto& gradient = gradients.at("gradient of " + input_name(varied));
        const auto size = std::accumulate(gradient.begin(), gradient.end(), 0.0,
                                          [](double sum, float g) { return sum + std::abs(g); }) /
                          static_cast<double>(gradient.size());
        const auto stride = std::max<std::size_t>(1, x.size() / most);
        for (std::size_t i = 0; i < x.size(); i += stride) {
            auto plus = x, minus = x;
            plus[i] += step;
            minus[i] -= step;
            set(plan, {}, "above", plus);
            set(plan, {}, "below", minus);
            plan.run();
            const auto difference = plan.read(slope)[0];
            if (!(std::abs(difference - gradient[i]) <= 1e-5 * size + 1e-5 * std::abs(gradient[i]) + 1e-9))
                text += input_name(varied) + "[" + std::to_string(i) + "]: gradient " + std::to_string(gradient[i]) +
                        ", difference " + std::to_string(difference) + "\n";
        }
    }
    return text;
}

} // namespace espalier::testing
