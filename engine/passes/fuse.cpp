// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"
#include "passes/passes.h"

#include <algorithm>
#include <optional>

namespace espalier {
namespace {

/// The ops of a graph while they are joined: an op that went into another is marked, and left out at the end.
class Fusion {
public:
    explicit Fusion(Graph graph)
        : graph_(std::move(graph)), ops_(graph_.ops().begin(), graph_.ops().end()), gone_(ops_.size(), 0),
          kept_(graph_.tensors().size(), 0) {
        for (auto tensor : graph_.kept())
            kept_[index(tensor)] = 1;
        connect();
    }

    Graph run() {
        each("add", Stage::forward, [this](OpId op) { merge_added_adds(op); });
        connect();
        each("add", Stage::forward, [this](OpId op) { add_in_batch_norm(op); });
        connect();
        each("relu", Stage::forward, [this](OpId op) { activate_producer(op); });
        connect();
        each("relu_gradient", Stage::backward, [this](OpId op) { mask_in_batch_norm_gradient(op); });
        std::vector<Op> left;
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (!gone_[i])
                left.push_back(std::move(ops_[i]));
        graph_.set_ops(std::move(left));
        return std::move(graph_);
    }

private:
    static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
    Op& at(OpId op) { return ops_[index(op)]; }

    template <class Visit>
    void each(const char* kind, Stage stage, Visit visit) {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (!gone_[i] && ops_[i].kind == kind && ops_[i].stage == stage)
                visit(static_cast<OpId>(i));
    }

    /// Finds producers and readers anew.
    void connect() {
        producer_.assign(graph_.tensors().size(), std::nullopt);
        readers_.assign(graph_.tensors().size(), {});
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            if (gone_[i])
                continue;
            for (auto input : ops_[i].inputs)
                if (input != no_tensor)
                    readers_[index(input)].push_back(static_cast<OpId>(i));
            for (auto output : ops_[i].outputs)
                if (output != no_tensor && graph_.tensor(output).role == Role::activation)
                    producer_[index(output)] = static_cast<OpId>(i);
        }
    }

    /// The op that computes `tensor` for nobody but one reader, as its first output: it may go on in that reader's
    /// place.
    std::optional<OpId> sole_producer(TensorId tensor) {
        const auto producer = producer_[index(tensor)];
        if (!producer || gone_[index(*producer)] || kept_[index(tensor)] || readers_[index(tensor)].size() != 1 ||
            at(*producer).outputs[0] != tensor || at(*producer).stage != Stage::forward)
            return std::nullopt;
        return producer;
    }

    static bool activated(const Op& op) { return !op.attributes.text("activation").empty(); }

    /// add(add(a, b), c) -> add(a, b, c)
    void merge_added_adds(OpId outer) {
        std::vector<TensorId> inputs;
        for (auto input : at(outer).inputs) {
            const auto inner = sole_producer(input);
            if (inner && at(*inner).kind == "add" && !activated(at(*inner))) {
                inputs.insert(inputs.end(), at(*inner).inputs.begin(), at(*inner).inputs.end());
                gone_[index(*inner)] = 1;
            } else {
                inputs.push_back(input);
            }
        }
        at(outer).inputs = std::move(inputs);
    }

    /// add(batch_norm(x), r) -> batch_norm(x, residual r), where the sum was computed: r may come after x.
    void add_in_batch_norm(OpId add) {
        const auto inputs = at(add).inputs;
        if (inputs.size() != 2)
            return;
        std::optional<OpId> norm;
        std::size_t place = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            const auto producer = sole_producer(inputs[i]);
            if (!producer)
                continue;
            const auto& op = at(*producer);
            const bool takes_residual = (op.kind == "batch_norm" || op.kind == "batch_norm_inference") &&
                                        op.inputs[BatchNorm::residual] == no_tensor && !activated(op);
            // Of two, the later: its input then waits less long for the other summand.
            if (takes_residual && (!norm || *producer > *norm)) {
                norm = producer;
                place = i;
            }
        }
        if (!norm)
            return;
        Op fused = std::move(at(*norm));
        gone_[index(*norm)] = 1;
        fused.inputs[BatchNorm::residual] = inputs[1 - place];
        fused.outputs[BatchNorm::y] = at(add).outputs[0];
        if (activated(at(add)))
            fused.attributes.set("activation", at(add).attributes.text("activation"));
        at(add) = std::move(fused);
    }

    /// relu(op(x)) -> op(x) with activation. The value before the relu is in nobody's gradient: relu_gradient reads y.
    void activate_producer(OpId relu) {
        const auto producer = sole_producer(at(relu).inputs[0]);
        if (!producer || activated(at(*producer)))
            return;
        auto& op = at(*producer);
        if (op.kind != "conv2d" && op.kind != "batch_norm" && op.kind != "batch_norm_inference" && op.kind != "add")
            return;
        op.attributes.set("activation", std::string("relu"));
        op.outputs[0] = at(relu).outputs[0];
        gone_[index(relu)] = 1;
    }

    /// m = relu_gradient(y, gy), batch_norm_gradient(x, m, ...) -> batch_norm_gradient(x, gy, ..., y) with activation,
    /// where y is that batch norm's. If others read m too (the residual's side), it is the output gresidual; the joined
    /// op stands where m was computed, so that they find it.
    void mask_in_batch_norm_gradient(OpId mask) {
        const auto y = at(mask).inputs[0], gy = at(mask).inputs[1], masked = at(mask).outputs[0];
        const auto norm = producer_[index(y)];
        if (!norm || at(*norm).kind != "batch_norm" || !activated(at(*norm)))
            return;
        const auto& readers = readers_[index(masked)];
        const auto found = std::ranges::find_if(readers, [&](OpId reader) {
            const auto& op = at(reader);
            return op.kind == "batch_norm_gradient" && op.inputs[BatchNormGradient::gy] == masked && !activated(op) &&
                   op.inputs[BatchNormGradient::mean] == at(*norm).outputs[BatchNorm::mean];
        });
        if (found == readers.end())
            return;
        Op joined = std::move(at(*found));
        gone_[index(*found)] = 1;
        joined.attributes.set("activation", std::string("relu"));
        joined.inputs[BatchNormGradient::gy] = gy;
        joined.inputs[BatchNormGradient::y] = y;
        if (readers.size() > 1 || kept_[index(masked)])
            joined.outputs[BatchNormGradient::gresidual] = masked;
        at(mask) = std::move(joined);
    }

    Graph graph_;
    std::vector<Op> ops_;
    std::vector<char> gone_;
    std::vector<char> kept_;
    std::vector<std::optional<OpId>> producer_;
    std::vector<std::vector<OpId>> readers_;
};

} // namespace

Graph fuse(Graph graph) { return Fusion(std::move(graph)).run(); }

} // namespace espalier
