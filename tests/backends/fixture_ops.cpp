// SPDX-License-Identifier: Apache-2.0
#include "backends/fixture_ops.h"

#include "backends/op_checker.h"
#include "base/error.h"
#include "base/json.h"
#include "graph/autodiff.h"
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "plan/session.h"

#include <functional>

namespace espalier::testing {
namespace {

const Initializer zero{Initializer::Kind::constant, 0};
const Initializer one{Initializer::Kind::constant, 1};

/// A case being built: the tensors of the file become inputs and parameters of a graph as the op asks for them.
class OpFixture {
public:
    OpFixture(const safetensors::Reader& file, std::string name)
        : file_(file), name_(std::move(name)), attributes_(Json::parse(file.metadata().at(name_))) {}

    [[nodiscard]] bool has(const std::string& tensor) const { return file_.has(path(tensor)); }
    [[nodiscard]] std::string path(const std::string& tensor) const { return name_ + "/" + tensor; }
    [[nodiscard]] Shape shape(const std::string& tensor) const { return Shape(file_.at(path(tensor)).shape); }
    [[nodiscard]] std::string op() const { return attributes_.at("op"); }

    /// The attributes of the file as an op's, without those that name the case.
    [[nodiscard]] Attributes attributes() const {
        Attributes attributes;
        for (const auto& [key, value] : attributes_.items()) {
            if (key == "op" || key == "training")
                continue;
            if (value.is_boolean())
                attributes.set(key, value.get<bool>());
            else if (value.is_number_integer())
                attributes.set(key, value.get<std::int64_t>());
            else if (value.is_number())
                attributes.set(key, value.get<double>());
            else if (value.is_array())
                attributes.set(key, value.get<std::vector<std::int64_t>>());
            else
                attributes.set(key, value.get<std::string>());
        }
        return attributes;
    }

    TensorId data(const std::string& tensor) { return add(tensor, builder.input(tensor, shape(tensor))); }
    /// With leading dimensions of 1 where they are missing.
    TensorId image(const std::string& tensor) { return add(tensor, builder.input(tensor, image_shape(shape(tensor)))); }
    TensorId labels(const std::string& tensor) { return add(tensor, builder.input(tensor, shape(tensor), DType::i32)); }
    /// no_tensor if the case has none of that name.
    TensorId parameter(const std::string& tensor) {
        return has(tensor) ? add(tensor, builder.parameter(tensor, shape(tensor), zero)) : no_tensor;
    }

    CaseErrors run(TensorId y, Backend& backend);

    Graph graph;
    GraphBuilder builder{graph};
    std::map<std::string, TensorId> tensors; ///< by their names in the file

private:
    TensorId add(const std::string& tensor, TensorId id) { return tensors[tensor] = id; }
    void give(const std::string& tensor, TensorId id, Session& session, Plan& plan) const;

    const safetensors::Reader& file_;
    std::string name_;
    Json attributes_;
};

void OpFixture::give(const std::string& tensor, TensorId id, Session& session, Plan& plan) const {
    if (graph.tensor(id).role == Role::parameter) {
        session.set(tensor, file_.floats(path(tensor)));
    } else if (graph.tensor(id).type == DType::i32) {
        const auto values = file_.integers(path(tensor));
        plan.set_input(tensor, values.data(), values.size() * sizeof(std::int32_t));
    } else {
        const auto values = file_.floats(path(tensor));
        plan.set_input(tensor, values.data(), values.size() * sizeof(float));
    }
}

CaseErrors OpFixture::run(TensorId y, Backend& backend) {
    // y is a loss by itself where no gradient of y is given.
    const auto loss = has("gy") ? builder.apply_one("dot", {y, add("gy", builder.input("gy", graph.shape(y)))}) : y;
    std::vector<TensorId> wanted;
    for (const auto& [tensor, id] : tensors)
        if (has("g_" + tensor))
            wanted.push_back(id);
    const auto gradients = differentiate(graph, loss, wanted);
    graph.keep(y);
    for (const auto& [tensor, gradient] : gradients)
        graph.keep(gradient);

    Session::Options options;
    options.poison = true;
    Session session(backend, options);
    auto& plan = session.plan(name_, graph);
    for (const auto& [tensor, id] : tensors)
        give(tensor, id, session, plan);
    plan.run();

    CaseErrors errors;
    errors["y"] = relative_error(file_.floats(path("y")), plan.read(y));
    for (const auto& [tensor, id] : tensors)
        if (has("g_" + tensor))
            errors["g_" + tensor] = relative_error(file_.floats(path("g_" + tensor)), plan.read(gradients.at(id)));
    for (const auto& buffer : {"running_mean", "running_var"})
        if (const auto after = std::string(buffer) + "_after"; has(after))
            errors[after] = relative_error(file_.floats(path(after)), session.get(buffer));
    return errors;
}

TensorId batch_norm(OpFixture& fixture, TensorId x, TensorId weight, TensorId bias, const Attributes& attributes) {
    const Shape channels{fixture.graph.shape(x)[1]};
    const auto mean = fixture.builder.buffer("running_mean", channels, zero);
    const auto var = fixture.builder.buffer("running_var", channels, one);
    return fixture.builder.apply("batch_norm", {x, weight, bias, mean, var}, attributes, {mean, var})[0];
}

/// ReLU, two 1x1 convolutions of stride 2 of which the second reads the input shifted by one pixel, batch norm.
TensorId factorized_reduce(OpFixture& fixture) {
    auto& builder = fixture.builder;
    const std::vector<std::int64_t> two{2, 2}, by_one{1, 1};
    const auto x = builder.apply_one("relu", {fixture.image("x")});
    const auto shifted = builder.apply_one("shifted_slice", {x}, {{"offset", by_one}, {"stride", two}});
    const auto a = builder.apply_one("conv2d", {x, fixture.parameter("conv_a")}, {{"stride", two}});
    const auto b = builder.apply_one("conv2d", {shifted, fixture.parameter("conv_b")});
    return batch_norm(fixture, builder.apply_one("concat", {a, b}), no_tensor, no_tensor, fixture.attributes());
}

/// Builds the case's op; returns its first output.
using Build = std::function<TensorId(OpFixture&)>;

const std::map<std::string, Build>& builds() {
    const auto convolution = [](const std::string& kind) {
        return [kind](OpFixture& f) {
            return f.builder.apply_one(kind, {f.image("x"), f.parameter("w"), f.parameter("b")}, f.attributes());
        };
    };
    const auto of_image = [](const std::string& kind) {
        return [kind](OpFixture& f) { return f.builder.apply(kind, {f.image("x")}, f.attributes())[0]; };
    };
    const auto of_any = [](const std::string& kind) {
        return [kind](OpFixture& f) { return f.builder.apply(kind, {f.data("x")}, f.attributes())[0]; };
    };
    const auto loss = [](const std::string& kind) {
        return [kind](OpFixture& f) {
            return f.builder.apply(kind, {f.data("x"), f.labels("labels")}, f.attributes())[0];
        };
    };
    static const std::map<std::string, Build> all{
        {"conv2d", convolution("conv2d")},
        {"conv_transpose2d", convolution("conv_transpose2d")},
        {"linear",
         [](OpFixture& f) {
             return f.builder.apply_one("linear", {f.data("x"), f.parameter("w"), f.parameter("b")});
         }},
        {"batch_norm",
         [](OpFixture& f) {
             return batch_norm(f, f.data("x"), f.parameter("weight"), f.parameter("bias"), f.attributes());
         }},
        {"factorized_reduce", factorized_reduce},
        {"max_pool2d", of_image("max_pool2d")},
        {"avg_pool2d", of_image("avg_pool2d")},
        {"global_avg_pool", of_image("global_avg_pool")},
        {"relu", of_any("relu")},
        {"softmax", of_any("softmax")},
        {"softmax_cross_entropy", loss("cross_entropy")},
        {"generalized_dice", loss("generalized_dice")},
    };
    return all;
}

} // namespace

std::vector<std::string> op_fixture_names(const safetensors::Reader& file) {
    std::vector<std::string> names;
    for (const auto& [name, attributes] : file.metadata())
        if (file.has(name + "/y"))
            names.push_back(name);
    return names;
}

CaseErrors op_fixture_errors(const safetensors::Reader& file, const std::string& name, Backend& backend) {
    OpFixture fixture(file, name);
    const auto build = builds().find(fixture.op());
    if (build == builds().end())
        throw ConfigError("Case '" + name + "' is of the op '" + fixture.op() +
                          "', which the fixture test does not know.");
    return fixture.run(build->second(fixture), backend);
}

} // namespace espalier::testing
