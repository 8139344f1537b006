// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"

#include "base/error.h"
#include "graph/op_registry.h"
#include "graph/step_block.h"

#include <algorithm>

namespace espalier {
namespace {

std::string joined(const std::string& path, const std::string& name) {
    if (path.empty() || name.empty())
        return path + name;
    return path + '.' + name;
}

} // namespace

std::vector<TensorId> GraphBuilder::apply(const std::string& kind, std::vector<TensorId> inputs, Attributes attributes,
                                          std::vector<TensorId> changes, const std::vector<bool>& wanted) {
    const auto& definition = OpRegistry::instance().find(kind);
    if (definition.prepare)
        definition.prepare(*this, inputs);
    inputs.resize(std::max(inputs.size(), definition.arity), no_tensor);
    Op op{.kind = kind,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .outputs = changes,
          .layer = layer_,
          .segment = segment_,
          .stage = stage_};
    const auto specs = definition.infer(graph_, op);
    if (!wanted.empty() && wanted.size() != specs.size())
        throw ConfigError("Op " + kind + " computes " + std::to_string(specs.size()) + " outputs, but " +
                          std::to_string(wanted.size()) + " were said to be wanted or not.");
    std::vector<TensorId> computed;
    for (std::size_t i = 0; i < specs.size(); ++i)
        computed.push_back(wanted.empty() || wanted[i]
                               ? graph_.add_tensor({.shape = specs[i].shape,
                                                    .type = output_type(graph_, op, definition, i, specs[i].type)})
                               : no_tensor);
    op.outputs = computed;
    op.outputs.insert(op.outputs.end(), changes.begin(), changes.end());
    graph_.add_op(std::move(op));
    return computed;
}

TensorId GraphBuilder::apply_one(const std::string& kind, std::vector<TensorId> inputs, Attributes attributes) {
    return apply(kind, std::move(inputs), std::move(attributes)).at(0);
}

TensorId GraphBuilder::input(const std::string& name, Shape shape, DType type) {
    return graph_.add_tensor({.name = name, .shape = shape, .type = type, .role = Role::input});
}

TensorId GraphBuilder::parameter(const std::string& name, Shape shape, Initializer initializer) {
    return graph_.add_tensor(
        {.name = joined(layer_, name), .shape = shape, .role = Role::parameter, .initializer = initializer});
}

TensorId GraphBuilder::buffer(const std::string& name, Shape shape, Initializer initializer, DType type) {
    return graph_.add_tensor(
        {.name = joined(layer_, name), .shape = shape, .type = type, .role = Role::buffer, .initializer = initializer});
}

TensorId step_buffer(GraphBuilder& builder) {
    if (const auto known = builder.graph().find(step_block::name))
        return *known;
    return builder.buffer(step_block::name, {step_block::size}, {Initializer::Kind::constant, 0.0});
}

void GraphBuilder::set_place(std::string layer, std::string segment) {
    layer_ = std::move(layer);
    segment_ = std::move(segment);
}

GraphBuilder::Scope::Scope(GraphBuilder& builder, const std::string& name, bool segment)
    : builder_(builder), layer_before_(builder.layer_), segment_before_(builder.segment_) {
    builder.layer_ = joined(builder.layer_, name);
    if (segment)
        builder.segment_ = builder.layer_;
}

GraphBuilder::Scope::~Scope() {
    builder_.layer_ = std::move(layer_before_);
    builder_.segment_ = std::move(segment_before_);
}

} // namespace espalier
