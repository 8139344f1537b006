// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier::testing {

/// One input of an op under test.
struct CaseInput {
    Shape shape;
    Role role = Role::input;
    DType type = DType::f32;
    bool differentiable = true;
    /// Empty: distinct values of both signs, none near zero, in random order, so that no maximum is tied and no relu is
    /// at its kink.
    std::vector<float> values;
};

/// One op with everything it is given.
struct OpCase {
    std::string name;
    std::string kind;
    std::vector<std::optional<CaseInput>> inputs; ///< nothing: an optional input that is absent
    Attributes attributes;
    std::vector<std::size_t> changes; ///< inputs that the op changes too
    std::vector<Shape> written;       ///< buffers that it changes without reading them
    std::vector<bool> wanted;         ///< computed outputs that are wanted; empty: all
    /// Allowed mean |a - b| / mean |a| between a backend in single precision and the reference.
    double tolerance = 1e-6;
};

/// Cases of every kind of op, apart from the gradients: those are run behind the ops whose gradients they are.
[[nodiscard]] std::vector<OpCase> op_cases();

[[nodiscard]] inline CaseInput data(Shape shape) { return {shape}; }
[[nodiscard]] inline CaseInput parameter(Shape shape) { return {shape, Role::parameter}; }
/// Read by the op as it is; no gradient flows to it.
[[nodiscard]] inline CaseInput given(Shape shape, std::vector<float> values = {}, Role role = Role::input) {
    return {shape, role, DType::f32, false, std::move(values)};
}
/// Labels 0, 1, 2 ... modulo `classes`, stirred.
[[nodiscard]] CaseInput labels(Shape shape, std::int64_t classes);

// One function a file.
void add_convolution_cases(std::vector<OpCase>& cases);
void add_data_cases(std::vector<OpCase>& cases);
void add_layer_cases(std::vector<OpCase>& cases);
void add_separable_cases(std::vector<OpCase>& cases);
void add_large_separable_cases(std::vector<OpCase>& cases);  ///< several tiles, bands and images a block
void add_joined_separable_cases(std::vector<OpCase>& cases); ///< forward, in one launch and in two
void add_size_cases(std::vector<OpCase>& cases);
void add_update_cases(std::vector<OpCase>& cases);

} // namespace espalier::testing
