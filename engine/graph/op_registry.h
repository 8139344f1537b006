// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace espalier {

class GraphBuilder;

/// Work of one op by the rules of NETWORKS.md section 4: a multiply-add counts 2, only convolutions and matrix products
/// count. Bytes are those that must cross memory once: inputs read, outputs written.
struct Cost {
    double flops = 0;
    double bytes = 0;
};

/// What an op's output looks like: the shape (and element type) of each output slot, in order.
struct OutputSpec {
    Shape shape;
    DType type = DType::f32;
};

/// Asked for the gradient of one op during autodiff.
struct GradientRequest {
    GraphBuilder& builder;                      ///< appends backward ops; stage, layer and segment are already set
    const Op& op;                               ///< the forward op
    std::span<const TensorId> output_gradients; ///< one an output, no_tensor where nothing flows back
    std::span<const char> wanted;               ///< one an input: whether its gradient is asked for
};

/// One kind of op: everything that the compiler knows of it. One file in graph/ops a family; docs/OPS.md lists them
/// all.
struct OpDefinition {
    std::string kind;
    /// Checks inputs and attributes and gives the outputs that are *computed* (parameters and buffers that the op
    /// changes follow after them in Op::outputs and are not listed). Throws ConfigError naming the argument, the limit
    /// and the value.
    std::function<std::vector<OutputSpec>(const Graph&, const Op&)> infer;
    /// Gradient of every wanted input (no_tensor elsewhere). Empty: the op has none, and asking for one is an error.
    std::function<std::vector<TensorId>(const GradientRequest&)> gradient;
    /// FLOPs; the bytes are counted from the tensors unless the op counts them itself. Empty: no FLOPs.
    std::function<Cost(const Graph&, const Op&)> cost;
    /// The same inputs and attributes always give the same outputs: may be shared or pruned if it changes no parameter
    /// or buffer (see is_pure).
    bool pure = true;
    /// Number of inputs with all optional ones; the builder fills absent trailing ones with no_tensor. 0: as many as
    /// given.
    std::size_t arity = 0;
    /// For each computed output the input whose floating type it takes (the last entry goes for all further outputs);
    /// -1, or an empty list: the type that infer() gave. Statistics, losses and parameters' sums stay f32.
    std::vector<int> type_of;
    /// Places of inputs that may be f32 beside halves, and are rounded to them as they are read, and of outputs that
    /// may be, and are then not rounded: where a backend says so (Backend::supports).
    std::vector<std::size_t> wide_inputs, wide_outputs;
    /// Called by the builder before the op is appended: may append ops that bring inputs into the shape this one takes.
    std::function<void(GraphBuilder&, std::vector<TensorId>& inputs)> prepare;
};

/// Every registered kind. A second registration of a name throws.
class OpRegistry {
public:
    /// The registry of the program, filled with all families (ops/register.cpp) when it is first used.
    static OpRegistry& instance();
    /// Throws ConfigError if the kind is taken.
    void add(OpDefinition definition);
    /// Throws ConfigError for an unknown kind.
    [[nodiscard]] const OpDefinition& find(const std::string& kind) const;
    [[nodiscard]] std::vector<std::string> kinds() const;

private:
    std::map<std::string, OpDefinition> definitions_;
};

/// Fills the registry now instead of at its first use.
void register_all_ops();

/// Type of computed output `index` of an op: infer()'s, or by OpDefinition::type_of that of an input.
[[nodiscard]] DType output_type(const Graph& graph, const Op& op, const OpDefinition& definition, std::size_t index,
                                DType inferred);

/// Whether the op may be shared with an equal one, or dropped when nothing reads its outputs.
[[nodiscard]] bool is_pure(const Graph& graph, const Op& op);

/// Work of an op, bytes counted from its tensors.
[[nodiscard]] Cost cost_of(const Graph& graph, const Op& op);

} // namespace espalier
