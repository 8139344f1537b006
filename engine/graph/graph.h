// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"
#include "base/shape.h"
#include "graph/attributes.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace espalier {

using TensorId = std::int32_t;
using OpId = std::int32_t;
/// Stands where an optional input is not given, or an optional output is not wanted.
inline constexpr TensorId no_tensor = -1;

/// What a tensor is to the network. Parameters and buffers outlive a step and are found by name in the ParameterStore;
/// they alone may be written by more than one op, in the order of the ops.
enum class Role {
    input,      ///< given from outside before every step: images, labels
    parameter,  ///< trained
    buffer,     ///< kept between steps, not trained: running statistics, optimizer slots, the step block, histories
    activation, ///< computed in a step by exactly one op
};

/// How a parameter or buffer gets its first value, a function of (seed, name) alone.
struct Initializer {
    enum class Kind { constant, kaiming_normal, uniform, normal, identity };
    Kind kind = Kind::constant;
    /// constant: the value. kaiming_normal: the fan. uniform: the bound. normal: the standard deviation. identity (a
    /// 1x1 convolution that passes the channels it has): not used.
    double value = 0.0;
};

struct Tensor {
    std::string name; ///< parameters and buffers: the path of NETWORKS.md, such as "blocks.0.conv1.weight"
    Shape shape;
    DType type = DType::f32;
    Role role = Role::activation;
    Initializer initializer; ///< parameters and buffers only
};

/// Part of the step that an op belongs to: costs are summed and recomputation is placed by it.
enum class Stage { forward, backward, update };

/// One operation. docs/OPS.md lists every kind with its inputs, outputs and attributes. An op that changes a parameter
/// or buffer lists it among its outputs (and among its inputs if it reads it too).
struct Op {
    std::string kind;
    Attributes attributes;
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    std::string
        layer; ///< path of the layer that made it, such as "blocks.0.conv1": time, FLOPs and memory are summed by it
    std::string
        segment; ///< block or cell that it belongs to ("blocks.0"), the unit of recomputation; empty outside of any
    Stage stage = Stage::forward;
    bool recomputed = false; ///< repeats a forward op during the backward: its FLOPs are not the model's
};

/// A network's step as data: tensors, and ops in an order in which they can run. Passes are functions from Graph to
/// Graph.
class Graph {
public:
    TensorId add_tensor(Tensor tensor);
    /// Appends an op; its activations must already be produced. Throws ConfigError if a tensor does not exist or an
    /// activation would be produced twice.
    OpId add_op(Op op);

    [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_.at(static_cast<std::size_t>(id)); }
    [[nodiscard]] Tensor& tensor(TensorId id) { return tensors_.at(static_cast<std::size_t>(id)); }
    [[nodiscard]] const Shape& shape(TensorId id) const { return tensor(id).shape; }
    [[nodiscard]] std::span<const Tensor> tensors() const { return tensors_; }
    [[nodiscard]] std::span<const Op> ops() const { return ops_; }
    [[nodiscard]] const Op& op(OpId id) const { return ops_.at(static_cast<std::size_t>(id)); }

    /// The parameter or buffer or input of that name.
    [[nodiscard]] std::optional<TensorId> find(const std::string& name) const;
    /// The op that computes an activation; nothing for the other roles.
    [[nodiscard]] std::optional<OpId> producer(TensorId id) const;
    /// Ops that read a tensor, in order.
    [[nodiscard]] std::vector<std::vector<OpId>> readers() const;

    /// Replaces all ops (their tensors stay). Used by passes; checks the same rules as add_op.
    void set_ops(std::vector<Op> ops);

    /// Tensors that must be there after a step (loss, logits, gradients asked for): never pruned, never overwritten.
    void keep(TensorId id);
    [[nodiscard]] std::span<const TensorId> kept() const { return kept_; }
    /// Follows a replacement made by a pass.
    void replace_kept(TensorId from, TensorId to);

    /// A buffer that holds, after every step, the same values as another (see passes/share): its values are stored
    /// under both names.
    struct Alias {
        TensorId buffer;
        TensorId same_as;
    };
    void add_alias(TensorId buffer, TensorId same_as) { aliases_.push_back({buffer, same_as}); }
    [[nodiscard]] std::span<const Alias> aliases() const { return aliases_; }

    /// One op a line, for tests and bug reports.
    [[nodiscard]] std::string text() const;

private:
    std::vector<Tensor> tensors_;
    std::vector<Op> ops_;
    std::vector<OpId> producers_;
    std::vector<TensorId> kept_;
    std::vector<Alias> aliases_;
};

} // namespace espalier
