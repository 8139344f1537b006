// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "graph/builder.h"
#include "graph/op_registry.h"

#include <QTest>
#include <string>
#include <vector>

namespace espalier {

/// An input of an op under test; an absent one is made by OpCase::absent().
struct Given {
    Shape shape;
    DType type = DType::f32;
    Role role = Role::input;
    bool present = true;
};

inline Given absent() { return {.present = false}; }
inline Given labels(Shape shape) { return {shape, DType::i32}; }
inline Given parameter(Shape shape) { return {shape, DType::f32, Role::parameter}; }
inline Given buffer(Shape shape) { return {shape, DType::f32, Role::buffer}; }

/// One op on fresh inputs; those at the places `changed` are changed by it.
struct OpCase {
    std::string kind;
    std::vector<Given> inputs;
    Attributes attributes;
    std::vector<std::size_t> changed;

    /// Builds it; throws what inference throws.
    std::vector<TensorId> build(Graph& graph) const {
        GraphBuilder builder(graph);
        std::vector<TensorId> ids;
        for (const auto& given : inputs)
            ids.push_back(given.present ? graph.add_tensor({.name = "in" + std::to_string(ids.size()),
                                                            .shape = given.shape,
                                                            .type = given.type,
                                                            .role = given.role})
                                        : no_tensor);
        std::vector<TensorId> changes;
        for (auto place : changed)
            changes.push_back(ids.at(place));
        const GraphBuilder::Scope scope(builder, "layer");
        return builder.apply(kind, ids, attributes, changes);
    }

    [[nodiscard]] std::vector<Shape> shapes() const {
        Graph graph;
        std::vector<Shape> shapes;
        for (auto output : build(graph))
            shapes.push_back(graph.shape(output));
        return shapes;
    }
    [[nodiscard]] std::string error() const {
        try {
            Graph graph;
            static_cast<void>(build(graph));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return {};
    }
};

using List = std::vector<std::int64_t>;

} // namespace espalier

Q_DECLARE_METATYPE(espalier::OpCase)
Q_DECLARE_METATYPE(std::vector<espalier::Shape>)
