// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include "graph/autodiff.h"
#include "passes/passes.h"

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

CompiledStep compile_step(Graph forward, TensorId loss, std::span<const TensorId> with_respect_to,
                          const Toggles& requested, const AppendUpdate& append_update) {
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
    // merge_siblings, fake_quantize and mixed_precision change the forward graph and have their place here.
    run("autodiff", !with_respect_to.empty(), [&] {
        step.gradients = differentiate(step.graph, loss, with_respect_to);
        if (append_update)
            append_update(step.graph, step.gradients);
        else
            for (const auto& [tensor, gradient] : step.gradients)
                step.graph.keep(gradient);
    });
    run("fuse", toggles.fused, rewrite(fuse));
    run("recompute", toggles.recompute && !with_respect_to.empty(), rewrite(recompute));
    run("reapply", toggles.recompute && !with_respect_to.empty(), rewrite(reapply));
    run("prune", true, rewrite(prune));
    return step;
}

} // namespace espalier
