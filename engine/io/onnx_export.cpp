// SPDX-License-Identifier: Apache-2.0
#include "io/onnx_export.h"

#include "base/error.h"
#include "graph/ops/convolution.h"
#include "graph/ops/pooling.h"

#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace espalier {
namespace {

constexpr std::int64_t opset = 13;
constexpr std::int64_t ir_version = 7; ///< the oldest that knows that opset: for the most readers
static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

using Values = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Of equal padding at both ends of each axis.
Values pads_of(const Pair& padding) { return {padding[0], padding[1], padding[0], padding[1]}; }

/// Writes the ops that an output needs as nodes.
class GraphWriter {
public:
    GraphWriter(const Graph& graph, const ParameterStore& store, ::onnx::GraphProto& out)
        : graph_(graph), store_(store), out_(out) {}

    /// Cast, Sub, Div: (x - mean) / deviation on the scale of the bytes.
    void write_normalization(TensorId images, const CheckpointInfo& info);
    void write(const Op& op);
    void write_softmax(TensorId logits);
    /// What `wanted` is computed from, in order.
    [[nodiscard]] std::vector<const Op*> ops_for(TensorId wanted) const;

private:
    ::onnx::NodeProto& node(const std::string& type, Names inputs, const std::string& output);
    static void set(::onnx::NodeProto& node, const char* name, const Values& values);
    static void set(::onnx::NodeProto& node, const char* name, std::int64_t value);
    static void set(::onnx::NodeProto& node, const char* name, float value);

    /// A new name: the layer's path and the kind, with a number behind it if the layer has several.
    std::string fresh_name(const Op& op);
    std::string output_of(const Op& op) { return names_[op.outputs[0]] = fresh_name(op); }
    /// Of an input: a node's output, or an initializer of the parameter's name.
    std::string name_of(TensorId id);
    std::string constant(const std::string& name, const Values& dims, const std::vector<float>& values);
    std::string constant(const std::string& name, const Values& values);
    /// Of a parameter, or of a softmax over one.
    [[nodiscard]] const std::vector<float>& values_of(TensorId id) const;

    void write_convolution(const Op& op);
    void write_batch_norm(const Op& op);
    void write_pool(const Op& op, const char* type);
    void write_global_pool(const Op& op);
    void write_linear(const Op& op);
    void write_weighted_sum(const Op& op);
    void write_shifted_slice(const Op& op);
    void fold_softmax(const Op& op);

    const Graph& graph_;
    const ParameterStore& store_;
    ::onnx::GraphProto& out_;
    std::map<TensorId, std::string> names_;
    std::map<TensorId, std::vector<float>> folded_;
    std::set<std::string> used_;
};

::onnx::NodeProto& GraphWriter::node(const std::string& type, Names inputs, const std::string& output) {
    auto& node = *out_.add_node();
    node.set_op_type(type);
    node.set_name(output);
    for (auto& input : inputs)
        node.add_input(std::move(input));
    node.add_output(output);
    return node;
}

void GraphWriter::set(::onnx::NodeProto& node, const char* name, const Values& values) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::INTS);
    attribute.mutable_ints()->Assign(values.begin(), values.end());
}

void GraphWriter::set(::onnx::NodeProto& node, const char* name, std::int64_t value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::INT);
    attribute.set_i(value);
}

void GraphWriter::set(::onnx::NodeProto& node, const char* name, float value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
}

std::string GraphWriter::fresh_name(const Op& op) {
    const std::string base = op.layer.empty() ? op.kind : op.layer + "." + op.kind;
    std::string name = base;
    for (int i = 2; !used_.insert(name).second; ++i)
        name = base + "_" + std::to_string(i);
    return name;
}

std::string GraphWriter::name_of(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.role == Role::activation || tensor.role == Role::input)
        return names_.at(id);
    return constant(tensor.name, tensor.shape.vector(), values_of(id));
}

std::string GraphWriter::constant(const std::string& name, const Values& dims, const std::vector<float>& values) {
    if (!used_.insert(name).second)
        return name; // read by several nodes
    auto& tensor = *out_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Assign(dims.begin(), dims.end());
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return name;
}

std::string GraphWriter::constant(const std::string& name, const Values& values) {
    if (!used_.insert(name).second)
        return name;
    auto& tensor = *out_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    tensor.set_raw_data(values.data(), values.size() * sizeof(std::int64_t));
    return name;
}

const std::vector<float>& GraphWriter::values_of(TensorId id) const {
    const auto found = folded_.find(id);
    return found != folded_.end() ? found->second : store_.at(graph_.tensor(id).name).values;
}

void GraphWriter::write_normalization(TensorId images, const CheckpointInfo& info) {
    std::vector<float> mean, deviation;
    for (std::size_t i = 0; i < static_cast<std::size_t>(info.network.channels); ++i) {
        mean.push_back(static_cast<float>(255 * info.mean.at(i)));
        deviation.push_back(static_cast<float>(255 * info.deviation.at(i)));
    }
    const Values per_channel{1, info.network.channels, 1, 1};
    set(node("Cast", {"image"}, "normalization.cast"), "to", std::int64_t{::onnx::TensorProto::FLOAT});
    node("Sub", {"normalization.cast", constant("normalization.mean", per_channel, mean)}, "normalization.centred");
    node("Div", {"normalization.centred", constant("normalization.deviation", per_channel, deviation)},
         "normalization.scaled");
    names_[images] = "normalization.scaled";
}

void GraphWriter::write_softmax(TensorId logits) {
    set(node("Softmax", {names_.at(logits)}, "probabilities"), "axis", std::int64_t{1});
}

void GraphWriter::write(const Op& op) {
    if (op.kind == "conv2d")
        return write_convolution(op);
    if (op.kind == "batch_norm_inference")
        return write_batch_norm(op);
    if (op.kind == "max_pool2d")
        return write_pool(op, "MaxPool");
    if (op.kind == "avg_pool2d")
        return write_pool(op, "AveragePool");
    if (op.kind == "global_avg_pool")
        return write_global_pool(op);
    if (op.kind == "linear")
        return write_linear(op);
    if (op.kind == "weighted_sum")
        return write_weighted_sum(op);
    if (op.kind == "shifted_slice")
        return write_shifted_slice(op);
    if (op.kind == "softmax" && graph_.tensor(op.inputs[0]).role == Role::parameter)
        return fold_softmax(op);

    Names inputs;
    for (const TensorId input : op.inputs)
        inputs.push_back(name_of(input));
    if (op.kind == "relu")
        node("Relu", inputs, output_of(op));
    else if (op.kind == "scale")
        node("Mul", inputs, output_of(op));
    else if (op.kind == "add")
        node(inputs.size() == 2 ? "Add" : "Sum", inputs, output_of(op));
    else if (op.kind == "concat")
        set(node("Concat", inputs, output_of(op)), "axis", op.attributes.integer("axis", 1));
    else
        throw ConfigError("The layer '" + op.layer + "' cannot be exported as ONNX: there is no rule for the op " +
                          op.kind + ". Export as safetensors instead.");
}

void GraphWriter::write_convolution(const Op& op) {
    const auto convolution = Convolution::from(op.attributes);
    const auto& weight = graph_.shape(op.inputs[1]);
    Names inputs{name_of(op.inputs[0]), name_of(op.inputs[1])};
    if (op.inputs[2] != no_tensor)
        inputs.push_back(name_of(op.inputs[2]));
    auto& conv = node("Conv", inputs, output_of(op));
    set(conv, "kernel_shape", Values{weight[2], weight[3]});
    set(conv, "strides", Values(convolution.stride.begin(), convolution.stride.end()));
    set(conv, "pads", pads_of(convolution.padding));
    set(conv, "dilations", Values(convolution.dilation.begin(), convolution.dilation.end()));
    set(conv, "group", convolution.groups);
}

void GraphWriter::write_batch_norm(const Op& op) {
    const auto channels = graph_.shape(op.inputs[1])[0];
    // ONNX has no batch norm without weight and bias.
    const auto or_constant = [&](TensorId id, const char* name, float value) {
        return id != no_tensor ? name_of(id)
                               : constant(op.layer + "." + name, {channels},
                                          std::vector<float>(static_cast<std::size_t>(channels), value));
    };
    const auto weight = or_constant(op.inputs[3], "ones", 1);
    const auto bias = or_constant(op.inputs[4], "zeros", 0);
    const Names inputs{name_of(op.inputs[0]), weight, bias, name_of(op.inputs[1]), name_of(op.inputs[2])};
    set(node("BatchNormalization", inputs, output_of(op)), "epsilon",
        static_cast<float>(op.attributes.real("eps", 1e-5)));
}

void GraphWriter::write_pool(const Op& op, const char* type) {
    const auto pooling = Pooling::from(op.attributes);
    const auto input = name_of(op.inputs[0]);
    auto& pool = node(type, {input}, output_of(op));
    set(pool, "kernel_shape", Values(pooling.kernel.begin(), pooling.kernel.end()));
    set(pool, "strides", Values(pooling.stride.begin(), pooling.stride.end()));
    set(pool, "pads", pads_of(pooling.padding));
    if (op.kind == "avg_pool2d")
        set(pool, "count_include_pad", std::int64_t{pooling.count_include_pad});
}

void GraphWriter::write_global_pool(const Op& op) {
    const auto input = name_of(op.inputs[0]);
    const auto output = output_of(op);
    node("GlobalAveragePool", {input}, output + ".window");
    set(node("Flatten", {output + ".window"}, output), "axis", std::int64_t{1});
}

void GraphWriter::write_linear(const Op& op) {
    Names inputs;
    for (const TensorId input : op.inputs)
        if (input != no_tensor)
            inputs.push_back(name_of(input));
    set(node("Gemm", inputs, output_of(op)), "transB", std::int64_t{1});
}

/// Products with the weights as constants, and their sum.
void GraphWriter::write_weighted_sum(const Op& op) {
    const auto& table = values_of(op.inputs[0]);
    const auto first = op.attributes.integer("row") * graph_.shape(op.inputs[0])[1];
    const auto columns = op.attributes.integers("columns");
    Names inputs;
    for (std::size_t i = 1; i < op.inputs.size(); ++i)
        inputs.push_back(name_of(op.inputs[i]));
    const auto output = output_of(op);
    Names products;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto column = std::to_string(columns[i]);
        const auto weight =
            constant(output + ".weight_" + column, {1}, {table.at(static_cast<std::size_t>(first + columns[i]))});
        products.push_back(columns.size() == 1 ? output : output + ".product_" + column);
        node("Mul", {inputs[i], weight}, products.back());
    }
    if (products.size() > 1)
        node("Sum", products, output);
}

/// Slice with steps, after a padding where the last row or column lies beyond the edge.
void GraphWriter::write_shifted_slice(const Op& op) {
    const auto offset = op.attributes.integers("offset"), stride = op.attributes.integers("stride");
    const auto &x = graph_.shape(op.inputs[0]), &y = graph_.shape(op.outputs[0]);
    auto input = name_of(op.inputs[0]);
    const auto output = output_of(op);
    Values ends, beyond;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        ends.push_back((y[axis + 2] - 1) * stride[axis] + offset[axis] + 1);
        beyond.push_back(std::max<std::int64_t>(0, ends[axis] - x[axis + 2]));
    }
    if (beyond[0] > 0 || beyond[1] > 0) {
        node("Pad", {input, constant(output + ".pads", {0, 0, 0, 0, 0, 0, beyond[0], beyond[1]})}, output + ".padded");
        input = output + ".padded";
    }
    node("Slice",
         {input, constant(output + ".starts", offset), constant(output + ".ends", ends),
          constant(output + ".axes", {2, 3}), constant(output + ".steps", stride)},
         output);
}

/// The alphas' softmax does not depend on the image: its values stand in the file.
void GraphWriter::fold_softmax(const Op& op) {
    const auto& shape = graph_.shape(op.inputs[0]);
    auto values = values_of(op.inputs[0]);
    const auto columns = shape[shape.rank() - 1];
    for (auto row = values.begin(); row != values.end(); row += columns) {
        const float largest = *std::max_element(row, row + columns);
        double sum = 0;
        for (auto value = row; value != row + columns; ++value)
            sum += std::exp(double{*value} - largest);
        for (auto value = row; value != row + columns; ++value)
            *value = static_cast<float>(std::exp(double{*value} - largest) / sum);
    }
    folded_[op.outputs[0]] = std::move(values);
}

std::vector<const Op*> GraphWriter::ops_for(TensorId wanted) const {
    std::set<TensorId> needed{wanted};
    std::vector<const Op*> ops;
    for (auto op = graph_.ops().rbegin(); op != graph_.ops().rend(); ++op)
        if (std::ranges::any_of(op->outputs, [&](TensorId id) { return needed.contains(id); })) {
            needed.insert(op->inputs.begin(), op->inputs.end());
            ops.push_back(&*op);
        }
    std::ranges::reverse(ops);
    return ops;
}

/// The first extent is the symbolic batch.
void describe(::onnx::ValueInfoProto& value, const char* name, int type, const Values& extents) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape()->add_dim()->set_dim_param("batch");
    for (const auto extent : extents)
        tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

void write_metadata(const CheckpointInfo& info, ::onnx::ModelProto& model) {
    const auto put = [&](const char* key, std::string value) {
        auto& entry = *model.add_metadata_props();
        entry.set_key(key);
        entry.set_value(std::move(value));
    };
    const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    put("espalier_version", ESPALIER_VERSION);
    put("class_names", text(info.class_names));
    put("normalization", text({{"mean", info.mean}, {"deviation", info.deviation}, {"pixels_are", "value / 255"}}));
    put("network", text(info.network.to_json()));
    put("step", std::to_string(info.step));
}

} // namespace

std::string why_no_onnx() { return {}; }

std::string onnx_model(const Checkpoint& checkpoint) {
    const auto& info = checkpoint.info;
    const auto& spec = info.network;
    ::onnx::ModelProto model;
    model.set_ir_version(ir_version);
    model.set_producer_name("espalier");
    model.set_producer_version(ESPALIER_VERSION);
    auto& import = *model.add_opset_import();
    import.set_domain("");
    import.set_version(opset);
    write_metadata(info, model);

    auto& out = *model.mutable_graph();
    out.set_name(spec.network);
    describe(*out.add_input(), "image", ::onnx::TensorProto::UINT8, {spec.channels, spec.height, spec.width});
    describe(*out.add_output(), "probabilities", ::onnx::TensorProto::FLOAT, {spec.classes});
    const auto forward = build_forward(spec, 1, NormMode::inference);
    GraphWriter writer(forward.graph, checkpoint.store, out);
    writer.write_normalization(forward.images, info);
    for (const Op* op : writer.ops_for(forward.logits))
        writer.write(*op);
    writer.write_softmax(forward.logits);

    std::string bytes;
    if (!model.SerializeToString(&bytes))
        throw Error("The network is too large for one ONNX file, which holds 2 GiB at most. Export as safetensors.");
    return bytes;
}

void check_onnx(const std::string& bytes) {
    ::onnx::ModelProto model;
    if (!model.ParseFromString(bytes))
        throw Error("The ONNX file is damaged: its bytes are no ONNX model. Export it again.");
    try {
        ::onnx::checker::check_model(model);
        ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), {true, 1, false});
    } catch (const std::exception& error) {
        throw Error(std::string("ONNX's checker refuses the file: ") + error.what());
    }
}

} // namespace espalier
