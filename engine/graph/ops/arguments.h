// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "graph/op_registry.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace espalier {

/// [height, width].
using Pair = std::array<std::int64_t, 2>;

/// A pair given as a list of two or as one number for both; `otherwise` where it is absent. Throws ConfigError.
[[nodiscard]] Pair read_pair(const Attributes& attributes, const std::string& name, Pair otherwise);

[[nodiscard]] inline std::vector<std::int64_t> to_list(Pair pair) { return {pair[0], pair[1]}; }

/// Whether the attribute "activation" is "relu". Throws ConfigError if it is neither that nor "".
[[nodiscard]] bool reads_relu(const Attributes& attributes);

/// Shape of an image batch [N,C,H,W] whose missing leading dimensions are 1: [H,W] and [C,H,W] are accepted. The
/// elements stand in the same order, so a frontend declares its input with this shape and copies nothing.
/// Throws ConfigError for other ranks.
[[nodiscard]] Shape image_shape(const Shape& shape);

/// The input at that place, or no_tensor where it is absent.
[[nodiscard]] inline TensorId input_at(const Op& op, std::size_t index) {
    return index < op.inputs.size() ? op.inputs[index] : no_tensor;
}

/// Reads and checks what an op was given. Every error names op, layer, argument, limit and value.
class Arguments {
public:
    Arguments(const Graph& graph, const Op& op) : graph_(graph), op_(op) {}

    /// Throws ConfigError "conv2d of layer 'stem': <text>".
    [[noreturn]] void refuse(const std::string& text) const;
    static constexpr auto any_number = std::numeric_limits<std::size_t>::max();
    /// Number of inputs, absent trailing ones counted or not; `most` may be any_number.
    void expect_count(std::size_t least, std::size_t most) const;

    [[nodiscard]] bool given(std::size_t index) const { return input_at(op_, index) != no_tensor; }
    /// Shape of a required input of any rank, at least `least_rank` and at most `most_rank` dimensions, none empty.
    [[nodiscard]] const Shape& shape(std::size_t index, const std::string& name, std::size_t least_rank,
                                     std::size_t most_rank) const;
    [[nodiscard]] const Shape& shape(std::size_t index, const std::string& name, std::size_t rank) const {
        return shape(index, name, rank, rank);
    }
    /// An input of exactly that shape; an absent one passes if it is optional.
    void expect_shape(std::size_t index, const std::string& name, const Shape& expected, bool optional = false) const;
    void expect_type(std::size_t index, const std::string& name, DType expected) const;
    /// f32, f16 or bf16.
    void expect_floating(std::size_t index, const std::string& name) const;

    /// The attribute's f32, f16 or bf16; `otherwise`, if it is not empty, where the attribute is absent.
    [[nodiscard]] DType floating_type(const std::string& name, const std::string& otherwise = "") const;
    /// A shape given as an attribute, of that many dimensions, each at least 1.
    [[nodiscard]] Shape shape_attribute(const std::string& name, std::size_t least_rank, std::size_t most_rank) const;
    [[nodiscard]] std::int64_t axis(std::size_t rank, std::int64_t otherwise) const;
    void expect_at_least(const std::string& name, Pair value, std::int64_t limit) const;
    void expect_at_least(const std::string& name, std::int64_t value, std::int64_t limit) const;
    void expect_between(const std::string& name, double value, double low, double high) const;

    /// Parameters and buffers that the op changes: the last `expected.size()` outputs must be these.
    void expect_changes(const std::vector<TensorId>& expected, const std::string& names) const;

    [[nodiscard]] const Graph& graph() const { return graph_; }
    [[nodiscard]] const Op& op() const { return op_; }
    [[nodiscard]] const Attributes& attributes() const { return op_.attributes; }

private:
    const Graph& graph_;
    const Op& op_;
};

[[nodiscard]] std::string text_of(Pair pair);

} // namespace espalier
