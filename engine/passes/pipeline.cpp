// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include "graph/autodiff.h"
#include "graph/builder.h"
#include "graph/step_block.h"
#include "passes/passes.h"

#include <algorithm>

namespace espalier {

Toggles Toggles::effective() const {
    Toggles toggles = *this;
    if (safe_mode) {
        toggles.precision = "fp32";
        toggles.fused = false;
        toggles.reference_separable = true;
        toggles.cuda_graphs = false;
        toggles.winograd = false;
    }
    return toggles;
}

DType Toggles::product_type() const {
    const auto in_force = effective().precision;
    return in_force == "fp16" ? DType::f16 : in_force == "bf16" ? DType::bf16 : DType::f32;
}

namespace {

constexpr double first_loss_scale = 65536;

/// The loss scale of this step as a tensor, put into the step block for the update.
TensorId append_loss_scale(Graph& graph) {
    GraphBuilder builder(graph);
    builder.set_stage(Stage::backward);
    const auto step = step_buffer(builder);
    const auto scale = builder.buffer(loss_scale_name, {1}, {Initializer::Kind::constant, first_loss_scale});
    const GraphBuilder::Scope scope(builder, "loss_scale");
    return builder.apply("loss_scale", {step, scale}, {}, {step}).at(0);
}

/// After an update: the scale of the next step.
void append_loss_scale_update(Graph& graph) {
    const auto ops = graph.ops();
    const auto norm = std::ranges::find(ops, "gradient_norm", &Op::kind);
    if (norm == ops.end()) // the first parts of an accumulated step
        return;
    const auto value = norm->outputs.at(0);
    const auto scale = graph.find(loss_scale_name).value();
    GraphBuilder builder(graph);
    builder.set_stage(Stage::update);
    const auto good_steps = builder.buffer(good_steps_name, {1}, {Initializer::Kind::constant, 0.0});
    const GraphBuilder::Scope scope(builder, "loss_scale");
    builder.apply("update_loss_scale", {value, scale, good_steps}, {}, {scale, good_steps});
}

} // namespace

CompiledStep compile_step(Graph forward, TensorId loss, std::span<const TensorId> with_respect_to,
                          const Toggles& requested, const AppendUpdate& append_update, const Supports& supports) {
    const auto toggles = requested.effective();
    CompiledStep step{.graph = std::move(forward)};
    const auto run = [&](const std::string& name, bool wanted, auto&& pass) {
        if (!wanted)
            return;
        pass();
        step.pass_order.push_back(name);
        step.ops_after[name] = step.graph.ops().size();
    };
    const auto rewrite = [&](Graph (*pass)(Graph)) {
        return [&step, pass] { step.graph = pass(std::move(step.graph)); };
    };

    // The loss is the root of everything, and callers hold its id.
    if (loss != no_tensor)
        step.graph.keep(loss);
    run("share", toggles.share, rewrite(share));
    // merge_siblings and fake_quantize change the forward graph and have their place here.
    const auto type = toggles.product_type();
    run("mixed_precision", type != DType::f32, [&] { step.graph = mixed_precision(std::move(step.graph), type); });
    const bool scaled = type == DType::f16 && append_update && !with_respect_to.empty();
    run("autodiff", !with_respect_to.empty(), [&] {
        const auto seed = scaled ? append_loss_scale(step.graph) : no_tensor;
        step.gradients = differentiate(step.graph, loss, with_respect_to, seed);
        if (append_update)
            append_update(step.graph, step.gradients);
        else
            for (const auto& [tensor, gradient] : step.gradients)
                step.graph.keep(gradient);
        if (scaled)
            append_loss_scale_update(step.graph);
        if (type != DType::f32)
            step.graph = update_from_halves(std::move(step.graph));
    });
    run("fuse", toggles.fused, rewrite(fuse));
    // What these ops keep of the forward is what recompute would leave out; strict products are the libraries'.
    const bool separable =
        toggles.fused && !toggles.reference_separable && !toggles.recompute && toggles.precision != "fp32" && supports;
    run("fuse_separable", separable, [&] { step.graph = fuse_separable(std::move(step.graph), supports); });
    run("absorb_casts", separable && type != DType::f32,
        [&] { step.graph = absorb_casts(std::move(step.graph), supports); });
    run("recompute", toggles.recompute && !with_respect_to.empty(), rewrite(recompute));
    run("reapply", toggles.recompute && !with_respect_to.empty(), rewrite(reapply));
    run("prune", true, rewrite(prune));
    return step;
}

} // namespace espalier
