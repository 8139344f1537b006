// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace espalier::reference {

/// The arrays of one op, row-major, by place among its inputs and outputs. Absent ones are null.
class Arrays {
public:
    Arrays(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs)
        : inputs_(inputs), outputs_(outputs) {}

    [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
    [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
    template <class T = double>
    [[nodiscard]] const T* in(std::size_t index) const {
        return index < inputs_.size() ? reinterpret_cast<const T*>(inputs_[index]) : nullptr;
    }
    template <class T = double>
    [[nodiscard]] T* out(std::size_t index) const {
        return index < outputs_.size() ? reinterpret_cast<T*>(outputs_[index]) : nullptr;
    }

private:
    std::span<std::byte* const> inputs_;
    std::span<std::byte* const> outputs_;
};

/// Computes one op. Holds its shapes and attributes by value: the graph may be gone when it runs.
using Compute = std::function<void(const Arrays&)>;
/// Reads an op's shapes and attributes.
using MakeCompute = std::function<Compute(const Graph&, const Op&)>;
using Kinds = std::map<std::string, MakeCompute>;

// One function a family, each in the file of its name.
void add_activation(Kinds& kinds);
void add_concat(Kinds& kinds);
void add_convolution(Kinds& kinds);
void add_data(Kinds& kinds);
void add_elementwise(Kinds& kinds);
void add_linear(Kinds& kinds);
void add_loss(Kinds& kinds);
void add_normalization(Kinds& kinds);
void add_pooling(Kinds& kinds);
void add_separable(Kinds& kinds);
void add_softmax(Kinds& kinds);
void add_update(Kinds& kinds);
void add_weighted_sum(Kinds& kinds);

/// Extents before, at and after an axis: element (o, i, k) lies at (o * length + i) * inner + k.
struct AxisView {
    std::int64_t outer = 1;
    std::int64_t length = 1;
    std::int64_t inner = 1;

    AxisView(const Shape& shape, std::size_t axis) : length(shape[axis]) {
        for (std::size_t i = 0; i < axis; ++i)
            outer *= shape[i];
        for (std::size_t i = axis + 1; i < shape.rank(); ++i)
            inner *= shape[i];
    }
    [[nodiscard]] std::int64_t at(std::int64_t o, std::int64_t i, std::int64_t k) const {
        return (o * length + i) * inner + k;
    }
};

/// Places in an array of shape [N,C,H,W].
struct Image {
    std::int64_t n, c, h, w;

    explicit Image(const Shape& shape) : n(shape[0]), c(shape[1]), h(shape[2]), w(shape[3]) {}
    [[nodiscard]] std::int64_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
        return ((in * c + ic) * h + ih) * w + iw;
    }
    [[nodiscard]] bool inside(std::int64_t ih, std::int64_t iw) const { return ih >= 0 && ih < h && iw >= 0 && iw < w; }
    [[nodiscard]] std::int64_t count() const { return n * c * h * w; }
};

[[nodiscard]] inline const Shape& input_shape(const Graph& graph, const Op& op, std::size_t index) {
    return graph.shape(op.inputs.at(index));
}
[[nodiscard]] inline const Shape& output_shape(const Graph& graph, const Op& op, std::size_t index) {
    return graph.shape(op.outputs.at(index));
}

} // namespace espalier::reference
