// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.h"

#include "base/error.h"
#include "graph/op_registry.h"

#include <algorithm>
#include <set>
#include <utility>

namespace espalier {
namespace {

std::string place_of(const Op& op) {
    return op.kind + (op.layer.empty() ? std::string() : " of layer '" + op.layer + "'");
}

/// Buffers that an update writes are the optimizer's; running statistics are written in the forward.
std::set<TensorId> optimizer_buffers(const Graph& graph) {
    std::set<TensorId> buffers;
    for (const auto& op : graph.ops())
        if (op.stage == Stage::update)
            for (auto output : op.outputs)
                if (output != no_tensor && graph.tensor(output).role == Role::buffer)
                    buffers.insert(output);
    return buffers;
}

/// What batches are gathered from.
std::set<TensorId> data_buffers(const Graph& graph) {
    std::set<TensorId> buffers;
    for (const auto& op : graph.ops())
        if (op.kind == "gather_images")
            buffers.insert(op.inputs.begin() + 1, op.inputs.end()); // the first is the step block
    return buffers;
}

class Lowering {
public:
    Lowering(const Graph& graph, Backend& backend, PersistentTensors& persistent)
        : graph_(graph), backend_(backend), persistent_(persistent), optimizer_(optimizer_buffers(graph)),
          data_(data_buffers(graph)), current_(graph.tensors().size(), no_value) {}

    Program run() {
        for (const auto& op : graph_.ops())
            lower_op(op);
        append_ends();
        for (auto id : graph_.kept()) {
            const auto value = value_of(id);
            if (value == no_value)
                continue;
            program_.values[static_cast<std::size_t>(value)].kept = true;
            program_.kept[id] = value;
        }
        return std::move(program_);
    }

private:
    void lower_op(const Op& op) {
        if (const auto support = backend_.supports(graph_, op); !support)
            throw ConfigError("The " + std::string(backend_.name()) + " backend cannot run " + place_of(op) + ": " +
                              support.reason);

        std::vector<Layout> given, given_outputs;
        for (auto input : op.inputs)
            given.push_back(layout_of(input));
        for (auto output : op.outputs)
            given_outputs.push_back(is_persistent(output) ? layout_of(output) : Layout{});
        auto lowered = backend_.lower(graph_, op, given, given_outputs);
        if (!lowered.kernel || lowered.inputs.size() != op.inputs.size() || lowered.outputs.size() != op.outputs.size())
            throw Error("The " + std::string(backend_.name()) + " backend lowered " + place_of(op) +
                        " without a kernel or without a layout for every input and output.");

        if (std::ranges::any_of(op.inputs, [&](TensorId input) { return is_unfinished(input); }))
            append_ends();
        Step step;
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
            step.inputs.push_back(op.inputs[i] == no_tensor ? no_value : read(op, op.inputs[i], lowered.inputs[i]));
        for (std::size_t i = 0; i < op.outputs.size(); ++i)
            step.outputs.push_back(op.outputs[i] == no_tensor ? no_value
                                                              : write(op, op.outputs[i], lowered.outputs[i]));
        step.kernel = std::move(lowered.kernel);
        step.workspace = lowered.workspace;
        step.in_place = std::move(lowered.in_place);
        const auto cost = cost_of(graph_, op);
        if (op.stage != Stage::update && !op.recomputed)
            program_.model_flops += cost.flops;
        auto end = lowered.finish ? std::optional(split(step, op, std::move(*lowered.finish))) : std::nullopt;
        append(std::move(step), op, op.kind, cost.flops, cost.bytes);
        append_ends(); // of ops before: where steps are recorded, the next one follows its own without a gap
        if (end)
            ends_.push_back(std::move(*end));
    }

    /// A step that is still to come: the rest of an op that others may overtake.
    struct End {
        Step step;
        const Op* op;
    };

    End split(Step& step, const Op& op, Finish finish) {
        const auto floats = static_cast<std::int64_t>(finish.bytes / sizeof(float));
        Value left{{.shape = {floats}}, {.key = "parts", .bytes = finish.bytes, .detail = nullptr}};
        End end{{}, &op};
        end.step.kernel = std::move(finish.kernel);
        end.step.inputs = {add_value(std::move(left))};
        for (const auto i : finish.outputs) {
            end.step.outputs.push_back(step.outputs[i]);
            step.outputs[i] = no_value;
        }
        step.outputs.push_back(end.step.inputs.front());
        return end;
    }

    void append_ends() {
        for (auto& end : std::exchange(ends_, {}))
            append(std::move(end.step), *end.op, "sum_of_parts", 0, 0);
    }

    [[nodiscard]] bool is_unfinished(TensorId id) const {
        const auto value = id == no_tensor ? no_value : current_[static_cast<std::size_t>(id)];
        return value != no_value && std::ranges::any_of(ends_, [value](const End& end) {
                   return std::ranges::find(end.step.outputs, value) != end.step.outputs.end();
               });
    }

    /// The value of `input` in the layout that the op wants; a reorder comes first where there is none.
    ValueId read(const Op& op, TensorId input, const Layout& wanted) {
        auto value = value_of(input);
        if (value == no_value)
            value = add_persistent(input, wanted);
        if (program_.values[static_cast<std::size_t>(value)].layout == wanted)
            return value;
        const auto copy = copies_.find({input, wanted.key});
        return copy != copies_.end() ? copy->second : reorder(op, input, value, wanted);
    }

    ValueId reorder(const Op& op, TensorId input, ValueId from, const Layout& wanted) {
        auto value = program_.values[static_cast<std::size_t>(from)];
        auto lowered = backend_.reorder(value.tensor, value.layout, wanted);
        const double bytes = static_cast<double>(value.layout.bytes + wanted.bytes);
        value.layout = wanted;
        value.place = Value::Place::arena;
        const auto to = add_value(std::move(value));
        Step step;
        step.kernel = std::move(lowered.kernel);
        step.inputs = {from};
        step.outputs = {to};
        step.workspace = lowered.workspace;
        append(std::move(step), op, "reorder", 0, bytes);
        copies_[{input, wanted.key}] = to;
        return to;
    }

    ValueId write(const Op& op, TensorId output, const Layout& layout) {
        const auto& tensor = graph_.tensor(output);
        if (!is_persistent(output)) {
            const auto value = add_value({tensor, layout, Value::Place::arena});
            current_[static_cast<std::size_t>(output)] = value;
            return value;
        }
        auto value = value_of(output);
        if (value == no_value)
            value = add_persistent(output, layout);
        if (program_.values[static_cast<std::size_t>(value)].layout != layout)
            throw Error("The " + std::string(backend_.name()) + " backend lowered " + place_of(op) +
                        " so that it changes the layout of '" + tensor.name +
                        "', which must keep the one that it has.");
        // Copies in other layouts hold the old values now.
        std::erase_if(copies_, [&](const auto& copy) { return copy.first.first == output; });
        return value;
    }

    /// The value that an op finds for a tensor now; no_value for a parameter or buffer that nothing has named before.
    ValueId value_of(TensorId id) {
        auto& value = current_[static_cast<std::size_t>(id)];
        if (value != no_value)
            return value;
        const auto& tensor = graph_.tensor(id);
        if (tensor.role == Role::input) {
            value = add_value({tensor, backend_.plain(tensor.shape, tensor.type), Value::Place::input});
            program_.inputs[tensor.name] = value;
        } else if (is_persistent(id)) {
            const auto index = persistent_.find(tensor.name);
            if (index == PersistentTensors::none)
                return no_value;
            const auto& entry = persistent_.at(index);
            if (entry.tensor.shape != tensor.shape || entry.tensor.type != tensor.type)
                throw ConfigError("'" + tensor.name + "' is " + entry.tensor.shape.text() + " in this session, but " +
                                  tensor.shape.text() +
                                  " in the new plan. A network that has changed its shape needs a new session.");
            value = add_value({tensor, entry.layout, Value::Place::persistent, false, index});
        }
        return value;
    }

    Layout layout_of(TensorId id) {
        if (id == no_tensor)
            return {};
        const auto value = value_of(id);
        return value == no_value ? Layout{} : program_.values[static_cast<std::size_t>(value)].layout;
    }

    ValueId add_persistent(TensorId id, const Layout& layout) {
        const auto& tensor = graph_.tensor(id);
        const auto purpose = optimizer_.contains(id) ? Purpose::optimizer
                             : data_.contains(id)    ? Purpose::data
                                                     : Purpose::weights;
        const auto index = persistent_.add(tensor, layout, purpose);
        const auto value = add_value({tensor, layout, Value::Place::persistent, false, index});
        current_[static_cast<std::size_t>(id)] = value;
        return value;
    }

    ValueId add_value(Value value) {
        program_.values.push_back(std::move(value));
        return static_cast<ValueId>(program_.values.size() - 1);
    }

    void append(Step step, const Op& op, const std::string& kind, double flops, double bytes) {
        PlannedOp planned;
        planned.kind = kind;
        planned.layer = op.layer;
        planned.kernel = step.kernel->name();
        planned.stage = op.stage;
        planned.flops = flops;
        planned.bytes = bytes;
        planned.workspace = step.workspace;
        for (auto output : step.outputs)
            if (output != no_value && program_.values[static_cast<std::size_t>(output)].place == Value::Place::arena)
                planned.memory += program_.values[static_cast<std::size_t>(output)].layout.bytes;
        program_.steps.push_back(std::move(step));
        program_.ops.push_back(std::move(planned));
    }

    [[nodiscard]] bool is_persistent(TensorId id) const {
        if (id == no_tensor)
            return false;
        const auto role = graph_.tensor(id).role;
        return role == Role::parameter || role == Role::buffer;
    }

    const Graph& graph_;
    Backend& backend_;
    PersistentTensors& persistent_;
    const std::set<TensorId> optimizer_, data_;
    std::vector<ValueId> current_;                               ///< of each tensor, in the layout that it was made in
    std::map<std::pair<TensorId, std::string>, ValueId> copies_; ///< by tensor and layout
    std::vector<End> ends_;                                      ///< in the order of their ops
    Program program_;
};

} // namespace

Program lower(const Graph& graph, Backend& backend, PersistentTensors& persistent) {
    return Lowering(graph, backend, persistent).run();
}

} // namespace espalier
