// SPDX-License-Identifier: Apache-2.0
#include "io/onnx_import.h"

#include "base/error.h"
#include "graph/builder.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <functional>
#include <limits>

namespace espalier {
namespace {

using Values = std::vector<std::int64_t>;

[[noreturn]] void refuse(const std::string& what) { throw Error("The ONNX file cannot be read back: " + what + "."); }

/// A node with its attributes, each of which must be asked for: one that nobody knows could change what is meant.
class Node {
public:
    explicit Node(const ::onnx::NodeProto& proto) : proto_(proto) {}

    [[nodiscard]] const std::string& type() const { return proto_.op_type(); }
    [[nodiscard]] std::size_t input_count() const { return static_cast<std::size_t>(proto_.input_size()); }
    [[nodiscard]] const std::string& input(std::size_t i) const {
        if (i >= input_count())
            refuse(text() + " lacks input " + std::to_string(i));
        return proto_.input(static_cast<int>(i));
    }
    [[nodiscard]] const std::string& output() const {
        if (proto_.output_size() != 1)
            refuse(text() + " must have one output");
        return proto_.output(0);
    }
    [[nodiscard]] std::string text() const { return "the node '" + proto_.name() + "' (" + type() + ")"; }

    [[nodiscard]] std::int64_t integer(const char* name, std::int64_t otherwise) const {
        const auto* attribute = find(name, ::onnx::AttributeProto::INT);
        return attribute ? attribute->i() : otherwise;
    }
    [[nodiscard]] double real(const char* name, double otherwise) const {
        const auto* attribute = find(name, ::onnx::AttributeProto::FLOAT);
        return attribute ? double{attribute->f()} : otherwise;
    }
    [[nodiscard]] Values integers(const char* name, const Values& otherwise) const {
        const auto* attribute = find(name, ::onnx::AttributeProto::INTS);
        return attribute ? Values(attribute->ints().begin(), attribute->ints().end()) : otherwise;
    }
    /// Of four numbers, equal at both ends of each axis.
    [[nodiscard]] Values padding() const {
        const auto pads = integers("pads", {0, 0, 0, 0});
        if (pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3])
            refuse(text() + " has other pads at one end than at the other");
        return {pads[0], pads[1]};
    }
    void expect(const char* name, std::int64_t value, std::int64_t otherwise) const {
        if (const auto found = integer(name, otherwise); found != value)
            refuse(text() + " has " + name + " = " + std::to_string(found) + ", but only " + std::to_string(value) +
                   " is known");
    }
    /// Throws if there are attributes that nobody has asked for.
    void finish() const {
        if (seen_ != proto_.attribute_size())
            refuse(text() + " has attributes that are not known");
    }

private:
    const ::onnx::AttributeProto* find(const char* name, ::onnx::AttributeProto::AttributeType type) const {
        for (const auto& attribute : proto_.attribute())
            if (attribute.name() == name) {
                if (attribute.type() != type)
                    refuse(text() + " has an attribute " + name + " of another type");
                ++seen_;
                return &attribute;
            }
        return nullptr;
    }

    const ::onnx::NodeProto& proto_;
    mutable int seen_ = 0;
};

class Reader {
public:
    Reader(const ::onnx::GraphProto& proto, OnnxNetwork& network)
        : proto_(proto), network_(network), builder_(network.graph) {}

    void read(std::int64_t batch);

private:
    struct Constant {
        Shape shape;
        std::vector<float> values;       ///< of a FLOAT tensor
        std::vector<std::int64_t> whole; ///< of an INT64 one
    };
    struct Padded {
        TensorId tensor;
        std::int64_t below, right; ///< rows and columns of zeros behind the image
    };

    void read_constants();
    void read_node(const Node& node);
    TensorId apply(const Node& node);
    [[nodiscard]] TensorId tensor(const Node& node, std::size_t input) const;
    [[nodiscard]] const Constant& constant(const Node& node, std::size_t input) const;
    [[nodiscard]] const Values& whole(const Node& node, std::size_t input) const;
    TensorId parameter(const Node& node, std::size_t input);
    TensorId add_parameter(const std::string& name, const Shape& shape, const std::vector<float>& values);

    TensorId convolution(const Node& node);
    TensorId batch_norm(const Node& node);
    TensorId pool(const Node& node);
    TensorId linear(const Node& node);
    TensorId slice(const Node& node);
    /// (x - mean) / deviation with a number for each channel: a batch norm whose statistics are these.
    TensorId per_channel(const Node& node);
    void pad(const Node& node);

    const ::onnx::GraphProto& proto_;
    OnnxNetwork& network_;
    GraphBuilder builder_;
    std::map<std::string, Constant> constants_;
    std::map<std::string, TensorId> tensors_;
    std::map<std::string, Padded> padded_;
};

template <class T>
std::vector<T> raw_values(const ::onnx::TensorProto& tensor, std::int64_t count) {
    const std::string& bytes = tensor.raw_data();
    if (bytes.size() != static_cast<std::size_t>(count) * sizeof(T))
        refuse("the constant '" + tensor.name() + "' has " + std::to_string(bytes.size()) + " bytes, not " +
               std::to_string(static_cast<std::size_t>(count) * sizeof(T)));
    std::vector<T> values(static_cast<std::size_t>(count));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Throws instead of overflowing.
std::int64_t count_of(const ::onnx::TensorProto& tensor) {
    std::int64_t count = 1;
    for (const auto extent : tensor.dims()) {
        if (extent < 0 || (extent > 0 && count > std::numeric_limits<std::int32_t>::max() / extent))
            refuse("the constant '" + tensor.name() + "' has a shape that no file can hold");
        count *= extent;
    }
    return count;
}

void Reader::read_constants() {
    for (const auto& tensor : proto_.initializer()) {
        const auto count = count_of(tensor);
        Constant constant{.shape = Shape(Values(tensor.dims().begin(), tensor.dims().end()))};
        if (tensor.data_type() == ::onnx::TensorProto::FLOAT)
            constant.values = raw_values<float>(tensor, count);
        else if (tensor.data_type() == ::onnx::TensorProto::INT64)
            constant.whole = raw_values<std::int64_t>(tensor, count);
        else
            refuse("the constant '" + tensor.name() + "' is of a type that is not known");
        constants_[tensor.name()] = std::move(constant);
    }
}

TensorId Reader::tensor(const Node& node, std::size_t input) const {
    const auto found = tensors_.find(node.input(input));
    if (found == tensors_.end())
        refuse(node.text() + " reads '" + node.input(input) + "', which is no result of a node before it");
    return found->second;
}

const Reader::Constant& Reader::constant(const Node& node, std::size_t input) const {
    const auto found = constants_.find(node.input(input));
    if (found == constants_.end())
        refuse(node.text() + " reads '" + node.input(input) + "', which is no constant");
    return found->second;
}

const Values& Reader::whole(const Node& node, std::size_t input) const { return constant(node, input).whole; }

TensorId Reader::parameter(const Node& node, std::size_t input) {
    const auto& found = constant(node, input);
    return add_parameter(node.input(input), found.shape, found.values);
}

TensorId Reader::add_parameter(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    if (const auto known = network_.graph.find(name))
        return *known;
    network_.values[name] = values;
    return builder_.parameter(name, shape, {});
}

TensorId Reader::convolution(const Node& node) {
    const auto x = tensor(node, 0), weight = parameter(node, 1);
    const auto bias = node.input_count() > 2 ? parameter(node, 2) : no_tensor;
    const auto& shape = network_.graph.shape(weight);
    if (shape.rank() != 4 || node.integers("kernel_shape", {shape[2], shape[3]}) != Values{shape[2], shape[3]})
        refuse(node.text() + " has another kernel_shape than its weight");
    return builder_.apply_one("conv2d", {x, weight, bias},
                              {{"stride", node.integers("strides", {1, 1})},
                               {"padding", node.padding()},
                               {"dilation", node.integers("dilations", {1, 1})},
                               {"groups", node.integer("group", 1)}});
}

TensorId Reader::batch_norm(const Node& node) {
    const auto weight = parameter(node, 1), bias = parameter(node, 2);
    return builder_.apply_one("batch_norm_inference",
                              {tensor(node, 0), parameter(node, 3), parameter(node, 4), weight, bias},
                              {{"eps", node.real("epsilon", 1e-5)}});
}

TensorId Reader::pool(const Node& node) {
    node.expect("ceil_mode", 0, 0);
    Attributes attributes{{"kernel", node.integers("kernel_shape", {})},
                          {"stride", node.integers("strides", {1, 1})},
                          {"padding", node.padding()}};
    const bool average = node.type() == "AveragePool";
    if (average)
        attributes.set("count_include_pad", node.integer("count_include_pad", 0) != 0);
    return builder_.apply(average ? "avg_pool2d" : "max_pool2d", {tensor(node, 0)}, attributes).front();
}

TensorId Reader::linear(const Node& node) {
    node.expect("transB", 1, 0);
    node.expect("transA", 0, 0);
    const auto bias = node.input_count() > 2 ? parameter(node, 2) : no_tensor;
    return builder_.apply_one("linear", {tensor(node, 0), parameter(node, 1), bias});
}

TensorId Reader::per_channel(const Node& node) {
    constexpr double eps = 1e-12; // far below what a float of this size can tell
    const auto& number = constant(node, 1);
    const auto x = tensor(node, 0);
    const auto channels = network_.graph.shape(x)[1];
    if (number.shape != Shape{1, channels, 1, 1})
        refuse(node.text() + " must have one number for each channel");
    auto mean = number.values, variance = number.values;
    const bool divides = node.type() == "Div";
    for (auto& value : divides ? mean : variance)
        value = divides ? 0.0F : 1.0F;
    if (divides)
        for (auto& value : variance) {
            if (!(value > 0))
                refuse(node.text() + " must divide by numbers above zero");
            value *= value;
        }
    const auto name = node.input(1);
    return builder_.apply_one(
        "batch_norm_inference",
        {x, add_parameter(name + ".mean", {channels}, mean), add_parameter(name + ".variance", {channels}, variance)},
        {{"eps", eps}});
}

void Reader::pad(const Node& node) {
    const auto& pads = whole(node, 1);
    if (pads.size() != 8)
        refuse(node.text() + " must pad four axes");
    for (const std::size_t i : {0, 1, 2, 3, 4, 5})
        if (pads[i] != 0)
            refuse(node.text() + " may pad below and at the right alone");
    padded_[node.output()] = {tensor(node, 0), pads[6], pads[7]};
}

/// The slice that begins at an offset and takes every second (third ...) row and column, all of them to the last.
TensorId Reader::slice(const Node& node) {
    const auto found = padded_.find(node.input(0));
    const Padded from = found != padded_.end() ? found->second : Padded{tensor(node, 0), 0, 0};
    const auto &starts = whole(node, 1), &ends = whole(node, 2), &axes = whole(node, 3), &steps = whole(node, 4);
    if (axes != Values{2, 3} || starts.size() != 2 || ends.size() != 2 || steps.size() != 2)
        refuse(node.text() + " must cut height and width");
    const auto sliced = builder_.apply_one("shifted_slice", {from.tensor}, {{"offset", starts}, {"stride", steps}});
    const auto& x = network_.graph.shape(from.tensor);
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto extent = std::min(ends[axis], x[axis + 2] + (axis == 0 ? from.below : from.right));
        const auto taken = (extent - starts[axis] + steps[axis] - 1) / steps[axis];
        if (taken != network_.graph.shape(sliced)[axis + 2])
            refuse(node.text() + " must take rows and columns up to the edge");
    }
    return sliced;
}

TensorId Reader::apply(const Node& node) {
    using Rule = std::function<TensorId()>;
    const auto all = [&](const char* kind, const Attributes& attributes = {}) {
        std::vector<TensorId> inputs;
        for (std::size_t i = 0; i < node.input_count(); ++i)
            inputs.push_back(tensor(node, i));
        return builder_.apply_one(kind, inputs, attributes);
    };
    const std::map<std::string, Rule> rules = {
        {"Cast", [&] { return node.expect("to", ::onnx::TensorProto::FLOAT, 0), tensor(node, 0); }},
        {"Sub", [&] { return per_channel(node); }},
        {"Div", [&] { return per_channel(node); }},
        {"Conv", [&] { return convolution(node); }},
        {"BatchNormalization", [&] { return batch_norm(node); }},
        {"MaxPool", [&] { return pool(node); }},
        {"AveragePool", [&] { return pool(node); }},
        {"GlobalAveragePool", [&] { return all("global_avg_pool"); }},
        {"Flatten", [&] { return node.expect("axis", 1, 1), tensor(node, 0); }}, // the engine's pool leaves no window
        {"Gemm", [&] { return linear(node); }},
        {"Relu", [&] { return all("relu"); }},
        {"Add", [&] { return all("add"); }},
        {"Sum", [&] { return all("add"); }},
        {"Mul",
         [&] {
             return builder_.apply_one("scale", {tensor(node, 0), parameter(node, 1)});
         }},
        {"Concat",
         [&] {
             return all("concat", {{"axis", node.integer("axis", 1)}});
         }},
        {"Slice", [&] { return slice(node); }},
        {"Softmax",
         [&] {
             return all("softmax", {{"axis", node.integer("axis", -1)}});
         }},
    };
    const auto rule = rules.find(node.type());
    if (rule == rules.end())
        refuse(node.text() + " is of a type that is not known");
    return rule->second();
}

void Reader::read_node(const Node& node) {
    if (node.type() == "Pad")
        pad(node);
    else
        tensors_[node.output()] = apply(node);
    node.finish();
}

void Reader::read(std::int64_t batch) {
    if (proto_.input_size() != 1 || proto_.output_size() != 1)
        refuse("it must have one input and one output");
    const auto& input = proto_.input(0);
    const auto& shape = input.type().tensor_type().shape();
    if (shape.dim_size() != 4)
        refuse("its input must be images [batch, channels, height, width]");
    Values extents{batch};
    for (int i = 1; i < 4; ++i)
        extents.push_back(shape.dim(i).dim_value());
    read_constants();
    network_.image = tensors_[input.name()] = builder_.input("image", Shape(extents));
    for (const auto& proto : proto_.node())
        read_node(Node(proto));
    const auto result = tensors_.find(proto_.output(0).name());
    if (result == tensors_.end())
        refuse("no node computes its output");
    network_.output = result->second;
    network_.graph.keep(network_.output);
}

} // namespace

OnnxNetwork read_onnx(const std::string& bytes, std::int64_t batch) {
    ::onnx::ModelProto model;
    if (!model.ParseFromString(bytes))
        throw Error("The ONNX file is damaged: its bytes are no ONNX model. Export it again.");
    OnnxNetwork network;
    for (const auto& entry : model.metadata_props())
        network.metadata[entry.key()] = entry.value();
    Reader(model.graph(), network).read(batch);
    return network;
}

} // namespace espalier
