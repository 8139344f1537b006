// SPDX-License-Identifier: Apache-2.0
#include "plan/small_network.h"

#include "graph/autodiff.h"
#include "graph/builder.h"
#include "graph/step_block.h"

namespace espalier::testing {
namespace {

const Initializer zero{Initializer::Kind::constant, 0};
const Initializer one{Initializer::Kind::constant, 1};
const Initializer random{Initializer::Kind::normal, 0.1};

TensorId convolution(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    const GraphBuilder::Scope scope(builder, name);
    const auto w = builder.parameter("weight", {out, in, 3, 3}, random);
    return builder.apply_one("conv2d", {x, w}, {{"padding", std::vector<std::int64_t>{1, 1}}});
}

TensorId batch_norm(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t channels, bool training) {
    const GraphBuilder::Scope scope(builder, name);
    const auto weight = builder.parameter("weight", {channels}, one),
               bias = builder.parameter("bias", {channels}, zero);
    const auto mean = builder.buffer("running_mean", {channels}, zero),
               var = builder.buffer("running_var", {channels}, one);
    if (!training)
        return builder.apply_one("batch_norm_inference", {x, mean, var, weight, bias});
    return builder.apply("batch_norm", {x, weight, bias, mean, var}, {}, {mean, var})[0];
}

} // namespace

SmallNetwork small_network(std::int64_t batch, bool training) {
    SmallNetwork network;
    auto& graph = network.graph;
    GraphBuilder builder(graph);
    const auto images = builder.input("images", {batch, 3, 6, 6});
    const auto labels = builder.input("labels", {batch}, DType::i32);

    auto x = convolution(builder, "stem", images, 3, 5);
    x = builder.apply_one("relu", {batch_norm(builder, "norm", x, 5, training)});
    const auto y = builder.apply_one("relu", {convolution(builder, "block", x, 5, 5)});
    x = builder.apply_one("add", {x, y});
    x = builder.apply_one("global_avg_pool", {x});
    {
        const GraphBuilder::Scope scope(builder, "classifier");
        const auto w = builder.parameter("weight", {4, 5}, random), bias = builder.parameter("bias", {4}, zero);
        network.logits = builder.apply_one("linear", {x, w, bias});
    }
    network.loss = builder.apply("cross_entropy", {network.logits, labels})[0];
    graph.keep(network.logits);
    graph.keep(network.loss);
    network.forward_ops = graph.ops().size();
    if (!training)
        return network;

    std::vector<TensorId> parameters;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            parameters.push_back(static_cast<TensorId>(i));
    const auto gradients = differentiate(graph, network.loss, parameters);
    builder.set_stage(Stage::update);
    const auto step = builder.buffer(step_block::name, {step_block::size}, zero);
    std::vector<TensorId> inputs{step, no_tensor}, changes;
    for (auto parameter : parameters) {
        const auto momentum = builder.buffer(graph.tensor(parameter).name + "/momentum", graph.shape(parameter), zero);
        inputs.insert(inputs.end(), {parameter, gradients.at(parameter), momentum});
        changes.insert(changes.end(), {parameter, momentum});
    }
    builder.apply("sgd", inputs, {{"momentum", 0.9}, {"weight_decay", 1e-4}}, changes);
    return network;
}

} // namespace espalier::testing
