// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "passes/passes.h"

#include <algorithm>
#include <map>
#include <vector>

namespace espalier {
namespace {

class CastAbsorption {
public:
    CastAbsorption(Graph graph, const Supports& supports)
        : graph_(std::move(graph)), supports_(supports), ops_(graph_.ops().begin(), graph_.ops().end()),
          readers_(graph_.readers()), first_change_(find_first_changes()), absorbed_(ops_.size(), 0) {}

    Graph run() {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (ops_[i].kind == "cast" && may_go(ops_[i]))
                absorb(i);
        while (put_back_casts()) {
        }
        std::vector<Op> left;
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (!absorbed_[i])
                left.push_back(without_casts(ops_[i]));
        graph_.set_ops(std::move(left));
        return std::move(graph_);
    }

private:
    /// What stands on the other side of a cast.
    struct Beyond {
        std::size_t cast = 0;
        TensorId tensor = no_tensor;
    };

    [[nodiscard]] DType type_of(TensorId tensor) const { return graph_.tensor(tensor).type; }
    [[nodiscard]] bool widens(const Op& cast) const { return type_of(cast.outputs[0]) == DType::f32; }
    [[nodiscard]] bool is_kept(TensorId tensor) const {
        return std::ranges::find(graph_.kept(), tensor) != graph_.kept().end();
    }
    static const OpDefinition& definition(const Op& op) { return OpRegistry::instance().find(op.kind); }
    static bool contains(const std::vector<std::size_t>& places, std::size_t place) {
        return std::ranges::find(places, place) != places.end();
    }

    void absorb(std::size_t index) {
        const auto& cast = ops_[index];
        absorbed_[index] = 1;
        for (std::size_t k = 0; k < cast.inputs.size(); ++k)
            if (widens(cast))
                targets_[cast.inputs[k]] = {index, cast.outputs[k]};
            else
                sources_[cast.outputs[k]] = {index, cast.inputs[k]};
    }

    /// For each parameter and buffer the first op that changes it: a copy from before holds what readers behind it
    /// want.
    [[nodiscard]] std::vector<std::size_t> find_first_changes() const {
        std::vector<std::size_t> first(graph_.tensors().size(), ops_.size());
        for (std::size_t i = ops_.size(); i-- > 0;)
            for (const auto output : ops_[i].outputs)
                if (output != no_tensor && graph_.tensor(output).role != Role::activation)
                    first[static_cast<std::size_t>(output)] = i;
        return first;
    }

    /// Whether the ops on one side of a cast might do without it, as far as their kinds tell.
    [[nodiscard]] bool may_go(const Op& cast) const {
        if (std::ranges::find(cast.outputs, no_tensor) != cast.outputs.end() ||
            type_of(cast.inputs[0]) == type_of(cast.outputs[0]) ||
            (!widens(cast) && type_of(cast.inputs[0]) != DType::f32))
            return false;
        for (std::size_t k = 0; k < cast.inputs.size(); ++k)
            if (!(widens(cast) ? may_be_written(cast.inputs[k]) : may_be_read(cast.inputs[k], cast.outputs[k])))
                return false;
        return true;
    }
    /// Whether every reader of the halves may read the f32 that they were.
    [[nodiscard]] bool may_be_read(TensorId wide, TensorId halves) const {
        return !is_kept(halves) && std::ranges::all_of(readers(halves), [&](OpId reader) {
            if (static_cast<std::size_t>(reader) > first_change_[static_cast<std::size_t>(wide)])
                return false;
            const auto& op = ops_[static_cast<std::size_t>(reader)];
            for (std::size_t i = 0; i < op.inputs.size(); ++i)
                if (op.inputs[i] == halves && !contains(definition(op).wide_inputs, i))
                    return false;
            return true;
        });
    }
    /// Whether the op that makes the halves may write f32 in their place, which nobody else reads.
    [[nodiscard]] bool may_be_written(TensorId halves) const {
        const auto producer = graph_.producer(halves);
        if (!producer || is_kept(halves) || readers(halves).size() != 1 ||
            std::ranges::count(ops_[static_cast<std::size_t>(readers(halves)[0])].inputs, halves) != 1)
            return false;
        const auto& op = ops_[static_cast<std::size_t>(*producer)];
        const auto place = std::ranges::find(op.outputs, halves) - op.outputs.begin();
        return contains(definition(op).wide_outputs, static_cast<std::size_t>(place));
    }
    [[nodiscard]] const std::vector<OpId>& readers(TensorId tensor) const {
        return readers_[static_cast<std::size_t>(tensor)];
    }

    /// The f32 on the other side of a cast that is absorbed.
    [[nodiscard]] const Beyond* beyond(const std::map<TensorId, Beyond>& casts, TensorId tensor) const {
        const auto found = casts.find(tensor);
        return found != casts.end() && absorbed_[found->second.cast] ? &found->second : nullptr;
    }
    [[nodiscard]] Op without_casts(Op op) const {
        for (auto& input : op.inputs)
            if (const auto* other = beyond(sources_, input))
                input = other->tensor;
        for (auto& output : op.outputs)
            if (const auto* other = beyond(targets_, output))
                output = other->tensor;
        return op;
    }
    /// Of the results first.
    [[nodiscard]] std::vector<std::size_t> absorbed_casts(const Op& op) const {
        std::vector<std::size_t> casts;
        for (const auto output : op.outputs)
            if (const auto* other = beyond(targets_, output))
                casts.push_back(other->cast);
        for (const auto input : op.inputs)
            if (const auto* other = beyond(sources_, input))
                casts.push_back(other->cast);
        return casts;
    }

    /// Puts casts back beside ops that the backend refuses without them. False: there are none.
    bool put_back_casts() {
        bool any = false;
        for (const auto& op : ops_)
            if (const auto casts = absorbed_casts(op); !casts.empty() && !supports_(graph_, without_casts(op))) {
                put_back(op, casts);
                any = true;
            }
        return any;
    }
    /// The one that is enough, or as many as it takes.
    void put_back(const Op& op, const std::vector<std::size_t>& casts) {
        const auto is_enough = [&](std::size_t cast) {
            absorbed_[cast] = 0;
            return supports_(graph_, without_casts(op));
        };
        for (const auto cast : casts) {
            if (is_enough(cast))
                return;
            absorbed_[cast] = 1;
        }
        for (const auto cast : casts)
            if (is_enough(cast))
                return;
    }

    Graph graph_;
    const Supports& supports_;
    std::vector<Op> ops_;
    std::vector<std::vector<OpId>> readers_;
    std::vector<std::size_t> first_change_;
    std::vector<char> absorbed_;         ///< of each op: whether it is a cast that goes
    std::map<TensorId, Beyond> sources_; ///< of halves that are read
    std::map<TensorId, Beyond> targets_; ///< of halves that are written
};

} // namespace

Graph absorb_casts(Graph graph, const Supports& supports) { return CastAbsorption(std::move(graph), supports).run(); }

} // namespace espalier
