// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "passes/passes.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// The studio's toggles, as the compiler sees them. This is the only place where they are read (ARCHITECTURE.md's
/// table).
struct Toggles {
    std::string precision = "auto"; ///< auto, fp16, bf16, tf32, fp32
    bool fused = true;              ///< merge_siblings and fuse
    bool share = true;
    bool reference_separable = false; ///< depthwise and pointwise by the library, no kernel of ours between
    bool cuda_graphs = true;
    bool recompute = false;
    bool reapply = true; ///< batch norms and ReLUs are applied again in the backward, not stored
    bool deterministic = false;
    bool winograd = true;
    bool safe_mode = false; ///< overrides the others: the shortest pipeline

    /// What is in force: safe mode switched in.
    [[nodiscard]] Toggles effective() const;
    /// In which products are computed: f16 and bf16 by mixed_precision, f32 for everything else. "auto" is f32 until a
    /// backend has said what it means there.
    [[nodiscard]] DType product_type() const;
};

/// A forward graph made into a step's graph, and where to find things in it.
struct CompiledStep {
    Graph graph;
    std::map<TensorId, TensorId> gradients;       ///< of each tensor asked for
    std::map<std::string, std::size_t> ops_after; ///< number of ops after each pass, in order of `pass_order`
    std::vector<std::string> pass_order;
};

/// Appended between autodiff and the passes over the whole graph: the optimizer's ops.
using AppendUpdate = std::function<void(Graph&, const std::map<TensorId, TensorId>& gradients)>;

/// Runs the passes in this order: share, (merge_siblings, fake_quantize: their places), mixed_precision,
/// autodiff, `append_update`, fuse, fuse_separable (for what `supports` says yes to; not in strict fp32, not with
/// recompute), absorb_casts (in halves, behind fuse_separable), recompute, reapply, prune. With no `with_respect_to`
/// there is no backward: an evaluation step. Without `append_update` the gradients are kept; with it, what it does not
/// read or keep is pruned. Tensors that are kept stay the same tensors, whatever the passes do.
[[nodiscard]] CompiledStep compile_step(Graph forward, TensorId loss, std::span<const TensorId> with_respect_to,
                                        const Toggles& toggles, const AppendUpdate& append_update = {},
                                        const Supports& supports = {});

} // namespace espalier
