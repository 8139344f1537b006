// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/layout.h"

#include <cstddef>
#include <span>

namespace espalier {

/// One op to be lowered, as every backend looks at it: its tensors by their place, and the layouts that they have.
class OpContext {
public:
    OpContext(const Graph& whole, const Op& one, std::span<const Layout> given, std::span<const Layout> given_outputs)
        : graph(whole), op(one), given_(given), given_outputs_(given_outputs) {}

    const Graph& graph;
    const Op& op;

    [[nodiscard]] bool has_input(std::size_t i) const { return i < op.inputs.size() && op.inputs[i] != no_tensor; }
    [[nodiscard]] bool has_output(std::size_t i) const { return i < op.outputs.size() && op.outputs[i] != no_tensor; }
    [[nodiscard]] const Tensor& input(std::size_t i) const { return graph.tensor(op.inputs.at(i)); }
    [[nodiscard]] const Tensor& output(std::size_t i) const { return graph.tensor(op.outputs.at(i)); }
    /// The layout that an input has now; undefined if it is free.
    [[nodiscard]] Layout given(std::size_t i) const { return i < given_.size() ? given_[i] : Layout{}; }
    /// Of a parameter or buffer that the op writes; undefined for what it computes.
    [[nodiscard]] Layout given_output(std::size_t i) const {
        return i < given_outputs_.size() ? given_outputs_[i] : Layout{};
    }

private:
    std::span<const Layout> given_, given_outputs_;
};

} // namespace espalier
