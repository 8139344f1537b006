// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace espalier {

/// Appends ops to a graph: infers the shapes of outputs by the op's definition, and keeps the path of the layer being
/// built.
class GraphBuilder {
public:
    explicit GraphBuilder(Graph& graph) : graph_(graph) {}

    [[nodiscard]] Graph& graph() { return graph_; }

    /// Appends `kind`; returns its computed outputs. `changes` are parameters and buffers that the op writes; they
    /// follow the computed outputs in Op::outputs. `wanted`, if not empty, says which computed outputs are wanted
    /// (others: no_tensor).
    std::vector<TensorId> apply(const std::string& kind, std::vector<TensorId> inputs, Attributes attributes = {},
                                std::vector<TensorId> changes = {}, const std::vector<bool>& wanted = {});
    /// The same for ops with one computed output.
    TensorId apply_one(const std::string& kind, std::vector<TensorId> inputs, Attributes attributes = {});

    TensorId input(const std::string& name, Shape shape, DType type = DType::f32);
    /// Named by the current path: within scope "blocks.0" a parameter "conv1.weight" is "blocks.0.conv1.weight".
    TensorId parameter(const std::string& name, Shape shape, Initializer initializer);
    TensorId buffer(const std::string& name, Shape shape, Initializer initializer, DType type = DType::f32);

    /// Path of layers while it lives. `segment`: this scope is a block or cell, the unit of recomputation.
    class Scope {
    public:
        Scope(GraphBuilder& builder, const std::string& name, bool segment = false);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        GraphBuilder& builder_;
        std::string layer_before_;
        std::string segment_before_;
    };

    void set_stage(Stage stage) { stage_ = stage; }
    /// Sets path and segment outright, as autodiff does for the backward of a forward op.
    void set_place(std::string layer, std::string segment);
    [[nodiscard]] const std::string& layer() const { return layer_; }

private:
    Graph& graph_;
    std::string layer_;
    std::string segment_;
    Stage stage_ = Stage::forward;
};

} // namespace espalier
