// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/separable_half.h"

namespace espalier {

/// Makes the joined ops (graph/ops/separable.h) that take the place of a half. Reads the halves and their graph as they
/// are at each call, and outlives neither.
class SeparableOps {
public:
    SeparableOps(const Graph& graph, const std::vector<SeparableHalf>& halves) : graph_(graph), halves_(halves) {}

    [[nodiscard]] Op forward(const SeparableHalf& half) const;
    /// `gweight`, `gbias`: the sums over the batch that the gradient of the half's batch norm needs.
    [[nodiscard]] Op pointwise_gradient(const SeparableHalf& half, TensorId gweight, TensorId gbias) const;
    [[nodiscard]] Op depthwise_gradient(const SeparableHalf& half) const;
    /// Of a half with a depthwise_weight.
    [[nodiscard]] Op filter_gradient(const SeparableHalf& half) const;

private:
    [[nodiscard]] const Op& at(OpId op) const { return graph_.ops()[static_cast<std::size_t>(op)]; }
    [[nodiscard]] Op like(OpId place, std::string kind) const;
    [[nodiscard]] TensorId input_of(const SeparableHalf& half) const;
    /// The batch norm that goes into a half's input: mean, inv_std, weight, bias; none of them without one.
    [[nodiscard]] std::vector<TensorId> norm_of_input(const SeparableHalf& half) const;

    const Graph& graph_;
    const std::vector<SeparableHalf>& halves_;
};

} // namespace espalier
