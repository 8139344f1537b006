// SPDX-License-Identifier: Apache-2.0
#include "graph/autodiff.h"

#include "base/error.h"
#include "graph/builder.h"
#include "graph/op_registry.h"

#include <algorithm>

namespace espalier {
namespace {

class Differentiation {
public:
    Differentiation(Graph& graph, TensorId loss, std::span<const TensorId> with_respect_to, TensorId seed)
        : graph_(graph), builder_(graph), forward_ops_(graph.ops().size()), needed_(graph.tensors().size(), 0),
          first_reader_(graph.tensors().size(), -1), parts_(graph.tensors().size()) {
        builder_.set_stage(Stage::backward);
        mark_needed(with_respect_to);
        mark_first_readers();
        if (needed_[index(loss)]) {
            builder_.set_place("loss", "");
            if (seed == no_tensor)
                seed = builder_.apply_one("constant", {},
                                          {{"shape", graph.shape(loss).vector()},
                                           {"value", 1.0},
                                           {"type", std::string(name_of(graph.tensor(loss).type))}});
            parts_[index(loss)].push_back(seed);
        }
    }

    void run() {
        for (auto i = forward_ops_; i-- > 0;) {
            const Op op = graph_.ops()[i]; // a copy: the graph grows below
            differentiate(op);
            // The earliest reader of a tensor is the last to send a gradient back. Adding them here, not where the sum
            // is used, lets their memory go early.
            builder_.set_place(op.layer, op.segment);
            for (auto input : op.inputs)
                if (input != no_tensor && first_reader_[index(input)] == static_cast<OpId>(i))
                    gather(input);
        }
    }

    /// The sum of what flowed back to a tensor, no_tensor if nothing did.
    TensorId gather(TensorId tensor) {
        auto& parts = parts_[index(tensor)];
        if (parts.empty())
            return no_tensor;
        if (parts.size() > 1)
            parts = {builder_.apply_one("add", parts)};
        return parts.front();
    }

private:
    static std::size_t index(TensorId tensor) { return static_cast<std::size_t>(tensor); }

    /// A tensor's gradient is needed if the tensor is asked for or computed from one whose gradient is needed.
    void mark_needed(std::span<const TensorId> with_respect_to) {
        for (auto tensor : with_respect_to)
            needed_.at(index(tensor)) = 1;
        for (const auto& op : graph_.ops()) {
            const bool reads_needed = std::ranges::any_of(
                op.inputs, [&](TensorId input) { return input != no_tensor && needed_[index(input)]; });
            if (reads_needed)
                for (auto output : op.outputs)
                    if (output != no_tensor && graph_.tensor(output).role == Role::activation)
                        needed_[index(output)] = 1;
        }
    }

    void mark_first_readers() {
        const auto ops = graph_.ops();
        for (std::size_t i = 0; i < ops.size(); ++i)
            for (auto input : ops[i].inputs)
                if (input != no_tensor && first_reader_[index(input)] < 0)
                    first_reader_[index(input)] = static_cast<OpId>(i);
    }

    void differentiate(const Op& op) {
        std::vector<char> wanted;
        for (auto input : op.inputs)
            wanted.push_back(input != no_tensor && needed_[index(input)]);
        if (std::ranges::find(wanted, 1) == wanted.end())
            return;
        builder_.set_place(op.layer, op.segment);
        std::vector<TensorId> output_gradients;
        for (auto output : op.outputs)
            output_gradients.push_back(
                output == no_tensor || graph_.tensor(output).role != Role::activation ? no_tensor : gather(output));
        if (std::ranges::all_of(output_gradients, [](TensorId gradient) { return gradient == no_tensor; }))
            return;
        const auto& definition = OpRegistry::instance().find(op.kind);
        if (!definition.gradient)
            throw ConfigError("Op " + op.kind + " of layer '" + op.layer +
                              "' has no gradient, but the loss depends on it: take it off the way from the loss to "
                              "what is trained.");
        const auto gradients = definition.gradient({builder_, op, output_gradients, wanted});
        for (std::size_t i = 0; i < gradients.size(); ++i)
            if (gradients[i] != no_tensor && wanted[i])
                parts_[index(op.inputs[i])].push_back(gradients[i]);
    }

    Graph& graph_;
    GraphBuilder builder_;
    std::size_t forward_ops_;
    std::vector<char> needed_;
    std::vector<OpId> first_reader_;
    std::vector<std::vector<TensorId>> parts_; ///< gradients that flowed back to each forward tensor
};

} // namespace

std::map<TensorId, TensorId> differentiate(Graph& graph, TensorId loss, std::span<const TensorId> with_respect_to,
                                           TensorId seed) {
    if (seed != no_tensor && graph.shape(seed) != graph.shape(loss))
        throw ConfigError("The gradient of a loss must have its shape, " + graph.shape(loss).text() +
                          ", but this one is " + graph.shape(seed).text() + ".");
    Differentiation differentiation(graph, loss, with_respect_to, seed);
    differentiation.run();
    std::map<TensorId, TensorId> gradients;
    for (auto tensor : with_respect_to)
        if (const auto gradient = differentiation.gather(tensor); gradient != no_tensor)
            gradients[tensor] = gradient;
    return gradients;
}

} // namespace espalier
