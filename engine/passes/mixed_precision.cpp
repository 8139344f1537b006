// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "graph/op_registry.h"
#include "passes/passes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace espalier {
namespace {

/// What an op kind does with halves.
struct Rule {
    bool product = false;          ///< its data are cast to halves; else it takes halves where one of its data is one
    std::vector<std::size_t> data; ///< inputs that must all have one type
    std::size_t data_from = std::numeric_limits<std::size_t>::max(); ///< and all inputs from here on
};

/// Kinds that are not here compute in f32.
const std::map<std::string, Rule, std::less<>>& rules() {
    static const std::map<std::string, Rule, std::less<>> table{
        {"conv2d", {true, {0, 1}}},
        {"conv_transpose2d", {true, {0, 1}}},
        {"linear", {true, {0, 1}}},
        {"batch_norm", {false, {0, 5}}},
        {"batch_norm_inference", {false, {0, 5}}},
        {"relu", {false, {0}}},
        {"max_pool2d", {false, {0}}},
        {"avg_pool2d", {false, {0}}},
        {"global_avg_pool", {false, {0}}},
        {"add", {false, {}, 0}},
        {"concat", {false, {}, 0}},
        {"reshape", {false, {0}}},
        {"slice", {false, {0}}},
        {"shifted_slice", {false, {0}}},
        {"scale", {false, {0}}},
        {"weighted_sum", {false, {}, 1}},
    };
    return table;
}

class MixedPrecision {
public:
    MixedPrecision(Graph graph, DType type) : graph_(std::move(graph)), type_(type) {
        const auto given = graph_.ops();
        ops_.assign(given.begin(), given.end());
        others_read_.assign(graph_.tensors().size(), 0);
        for (auto tensor : graph_.kept())
            others_read_[static_cast<std::size_t>(tensor)] = 1;
        for (const auto& op : ops_) {
            const auto rule = rules().find(op.kind);
            for (std::size_t i = 0; i < op.inputs.size(); ++i)
                if (op.inputs[i] != no_tensor &&
                    (rule == rules().end() || !rule->second.product || !is_data(rule->second, i)))
                    others_read_[static_cast<std::size_t>(op.inputs[i])] = 1;
        }
    }

    Graph run() {
        std::vector<Op> result;
        for (auto& op : ops_) {
            const auto rule = rules().find(op.kind);
            const bool halves = rule != rules().end() && takes_halves(op, rule->second);
            for (std::size_t i = 0; i < op.inputs.size(); ++i) {
                auto& input = op.inputs[i];
                if (input == no_tensor || !is_floating(input))
                    continue;
                const auto wanted = halves && is_data(rule->second, i) ? type_ : DType::f32;
                if (graph_.tensor(input).type != wanted)
                    input = cast(result, op, input, wanted);
            }
            retype(op);
            result.push_back(std::move(op));
        }
        if (!parameters_.inputs.empty())
            result.insert(result.begin(), std::move(parameters_));
        graph_.set_ops(std::move(result));
        return std::move(graph_);
    }

private:
    [[nodiscard]] bool is_floating(TensorId id) const {
        const auto type = graph_.tensor(id).type;
        return type == DType::f32 || type == DType::f16 || type == DType::bf16;
    }
    static bool is_data(const Rule& rule, std::size_t place) {
        return place >= rule.data_from || std::ranges::find(rule.data, place) != rule.data.end();
    }
    [[nodiscard]] bool takes_halves(const Op& op, const Rule& rule) const {
        if (rule.product)
            return true;
        // Rounding keeps signs and zero: a ReLU for products alone gives the same halves either way, and halves are
        // less to read.
        if (op.kind == "relu" && !others_read_[static_cast<std::size_t>(op.outputs[0])])
            return true;
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
            if (op.inputs[i] != no_tensor && is_data(rule, i) && graph_.tensor(op.inputs[i]).type == type_)
                return true;
        return false;
    }

    /// The tensor in the other type: of a parameter from the cast of them all, else from a cast just before the op.
    TensorId cast(std::vector<Op>& result, const Op& op, TensorId tensor, DType type) {
        auto& known = casts_[{tensor, type}];
        if (known != no_tensor_yet)
            return known;
        const auto shape = graph_.shape(tensor);
        known = graph_.add_tensor({.shape = shape, .type = type});
        if (graph_.tensor(tensor).role == Role::parameter) {
            if (parameters_.inputs.empty()) {
                parameters_.kind = "cast";
                parameters_.layer = "mixed_precision";
                parameters_.attributes.set("type", std::string(name_of(type)));
            }
            parameters_.inputs.push_back(tensor);
            parameters_.outputs.push_back(known);
        } else {
            Op single{.kind = "cast", .inputs = {tensor}, .outputs = {known}, .layer = op.layer, .segment = op.segment};
            single.attributes.set("type", std::string(name_of(type)));
            result.push_back(std::move(single));
        }
        return known;
    }

    void retype(const Op& op) {
        const auto& definition = OpRegistry::instance().find(op.kind);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            if (op.outputs[i] == no_tensor || graph_.tensor(op.outputs[i]).role != Role::activation)
                continue;
            auto& tensor = graph_.tensor(op.outputs[i]);
            tensor.type = output_type(graph_, op, definition, i, tensor.type);
        }
    }

    static constexpr TensorId no_tensor_yet = 0; // of a new map entry; tensor 0 is never the result of a cast
    Graph graph_;
    DType type_;
    std::vector<Op> ops_;
    Op parameters_; ///< the one cast of parameters
    std::map<std::pair<TensorId, DType>, TensorId> casts_;
    std::vector<char> others_read_; ///< of each tensor: whether it is kept, or read by what is no product
};

} // namespace

Graph mixed_precision(Graph graph, DType type) {
    if (type != DType::f16 && type != DType::bf16)
        throw ConfigError("Mixed precision is of f16 or bf16, not " + std::string(name_of(type)) + ".");
    return MixedPrecision(std::move(graph), type).run();
}

Graph update_from_halves(Graph graph) {
    std::vector<Op> ops(graph.ops().begin(), graph.ops().end());
    std::map<TensorId, TensorId> source;
    for (const auto& op : ops)
        if (op.kind == "cast" && op.stage == Stage::backward && op.attributes.text("type") == "f32")
            for (std::size_t i = 0; i < op.inputs.size(); ++i)
                source[op.outputs[i]] = op.inputs[i];
    for (auto& op : ops)
        if (op.stage == Stage::update)
            for (auto& input : op.inputs)
                if (const auto found = source.find(input); found != source.end())
                    input = found->second;
    graph.set_ops(std::move(ops));
    return graph;
}

} // namespace espalier
