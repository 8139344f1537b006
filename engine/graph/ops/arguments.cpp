// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/arguments.h"

#include "base/error.h"

#include <algorithm>
#include <sstream>

namespace espalier {
namespace {

std::string dimensions(std::size_t least, std::size_t most) {
    if (least == most)
        return std::to_string(least) + " dimensions";
    return std::to_string(least) + " to " + std::to_string(most) + " dimensions";
}

std::string number(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

} // namespace

std::string text_of(Pair pair) { return "[" + std::to_string(pair[0]) + "," + std::to_string(pair[1]) + "]"; }

Pair read_pair(const Attributes& attributes, const std::string& name, Pair otherwise) {
    const auto found = attributes.values().find(name);
    if (found == attributes.values().end())
        return otherwise;
    if (const auto* both = std::get_if<std::int64_t>(&found->second))
        return {*both, *both};
    const auto list = attributes.integers(name);
    if (list.size() != 2)
        throw ConfigError("Attribute '" + name + "' must be one number or [height, width], but has " +
                          std::to_string(list.size()) + " entries.");
    return {list[0], list[1]};
}

bool reads_relu(const Attributes& attributes) {
    const auto activation = attributes.text("activation");
    if (!activation.empty() && activation != "relu")
        throw ConfigError("Attribute 'activation' must be \"\" or \"relu\", but is \"" + activation + "\".");
    return !activation.empty();
}

Shape image_shape(const Shape& shape) {
    if (shape.rank() < 2 || shape.rank() > 4)
        throw ConfigError("An image batch must have 2 to 4 dimensions ([H,W], [C,H,W] or [N,C,H,W]), but has " +
                          std::to_string(shape.rank()) + " (" + shape.text() + ").");
    std::vector<std::int64_t> extents(4 - shape.rank(), 1);
    extents.insert(extents.end(), shape.extents().begin(), shape.extents().end());
    return Shape(extents);
}

void Arguments::refuse(const std::string& text) const {
    throw ConfigError(op_.kind + (op_.layer.empty() ? "" : " of layer '" + op_.layer + "'") + ": " + text);
}

void Arguments::expect_count(std::size_t least, std::size_t most) const {
    if (op_.inputs.size() < least || op_.inputs.size() > most)
        refuse("takes " + std::to_string(least) + (most == least ? "" : " to " + std::to_string(most)) +
               " inputs, but got " + std::to_string(op_.inputs.size()) + ".");
}

const Shape& Arguments::shape(std::size_t index, const std::string& name, std::size_t least_rank,
                              std::size_t most_rank) const {
    if (!given(index))
        refuse("input " + name + " is required, but absent.");
    const auto& shape = graph_.shape(op_.inputs[index]);
    if (shape.rank() < least_rank || shape.rank() > most_rank)
        refuse("input " + name + " must have " + dimensions(least_rank, most_rank) + ", but is " + shape.text() + ".");
    if (std::ranges::any_of(shape.extents(), [](std::int64_t extent) { return extent < 1; }))
        refuse("every extent of input " + name + " must be at least 1, but it is " + shape.text() + ".");
    return shape;
}

void Arguments::expect_shape(std::size_t index, const std::string& name, const Shape& expected, bool optional) const {
    if (!given(index)) {
        if (optional)
            return;
        refuse("input " + name + " is required, but absent.");
    }
    const auto& shape = graph_.shape(op_.inputs[index]);
    if (shape != expected)
        refuse("input " + name + " must be " + expected.text() + ", but is " + shape.text() + ".");
}

void Arguments::expect_type(std::size_t index, const std::string& name, DType expected) const {
    const auto type = graph_.tensor(op_.inputs[index]).type;
    if (type != expected)
        refuse("input " + name + " must be " + std::string(name_of(expected)) + ", but is " +
               std::string(name_of(type)) + ".");
}

void Arguments::expect_floating(std::size_t index, const std::string& name) const {
    const auto type = graph_.tensor(op_.inputs.at(index)).type;
    if (type != DType::f32 && type != DType::f16 && type != DType::bf16)
        refuse(name + " must be f32, f16 or bf16, but is " + std::string(name_of(type)) + ".");
}

DType Arguments::floating_type(const std::string& name, const std::string& otherwise) const {
    const auto given = attributes().text(name, otherwise);
    for (const auto type : {DType::f32, DType::f16, DType::bf16})
        if (given == name_of(type))
            return type;
    refuse(name + " must be f32, f16 or bf16, but is \"" + given + "\".");
}

Shape Arguments::shape_attribute(const std::string& name, std::size_t least_rank, std::size_t most_rank) const {
    const auto extents = attributes().integers(name);
    if (extents.size() < least_rank || extents.size() > most_rank)
        refuse(name + " must have " + dimensions(least_rank, most_rank) + ", but has " +
               std::to_string(extents.size()) + ".");
    for (auto extent : extents)
        expect_at_least(name, extent, 1);
    return Shape(extents);
}

std::int64_t Arguments::axis(std::size_t rank, std::int64_t otherwise) const {
    const auto axis = attributes().integer("axis", otherwise);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
        refuse("axis must be from 0 to " + std::to_string(rank - 1) + ", but is " + std::to_string(axis) + ".");
    return axis;
}

void Arguments::expect_at_least(const std::string& name, Pair value, std::int64_t limit) const {
    if (value[0] < limit || value[1] < limit)
        refuse(name + " must be at least " + std::to_string(limit) + ", but is " + text_of(value) + ".");
}

void Arguments::expect_at_least(const std::string& name, std::int64_t value, std::int64_t limit) const {
    if (value < limit)
        refuse(name + " must be at least " + std::to_string(limit) + ", but is " + std::to_string(value) + ".");
}

void Arguments::expect_between(const std::string& name, double value, double low, double high) const {
    if (!(value >= low && value <= high))
        refuse(name + " must be from " + number(low) + " to " + number(high) + ", but is " + number(value) + ".");
}

void Arguments::expect_changes(const std::vector<TensorId>& expected, const std::string& names) const {
    const auto& outputs = op_.outputs;
    if (outputs.size() < expected.size() ||
        !std::equal(expected.begin(), expected.end(), outputs.end() - static_cast<std::ptrdiff_t>(expected.size())))
        refuse("must list " + names + " as changed (" + std::to_string(expected.size()) +
               " tensors, the same ones as its inputs).");
    for (auto tensor : expected)
        if (const auto role = graph_.tensor(tensor).role; role != Role::parameter && role != Role::buffer)
            refuse("can change only parameters and buffers, but " + names + " are not all of them.");
}

} // namespace espalier
