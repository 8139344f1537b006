// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <functional>

namespace espalier {

// Functions from graph to graph that keep what a step computes. None of them knows a network; pipeline.cpp decides
// which run. Kept tensors (Graph::kept) are never replaced by others, so ids that a caller holds stay good.

/// Common subexpressions, on the forward graph: of pure ops with equal kind, attributes and inputs the first stays.
/// Batch norms on one input that differ only in their running buffers are equal too; the buffers of those left out
/// become aliases (Graph::Alias) of the ones that stay, as both started from the same values.
[[nodiscard]] Graph share(Graph graph);

/// Mixed precision by NETWORKS.md section 3, on the forward graph: convolutions and products take and give `type` (f16
/// or bf16), and what follows them keeps it; softmax, losses and everything that sums over a batch stay in f32.
/// Parameters are cast together, once, at the start of the step; the masters stay f32.
[[nodiscard]] Graph mixed_precision(Graph graph, DType type);

/// Where an update reads a gradient that was only cast to f32 for it, it reads the half one: it computes in f32 anyway.
[[nodiscard]] Graph update_from_halves(Graph graph);

/// Joins ops into ones that cross memory less often, on the whole graph:
///   add of an add                    -> one add
///   batch_norm, add of two           -> batch_norm with residual
///   conv2d, batch_norm or add; relu  -> activation "relu"; the relu_gradient goes into batch_norm_gradient
[[nodiscard]] Graph fuse(Graph graph);

/// Whether a backend runs an op: asked before a pass makes one that not every backend knows.
using Supports = std::function<bool(const Graph&, const Op&)>;

/// Joins depthwise convolution, pointwise convolution and batch norm, one behind the other, into separable_conv2d, and
/// their gradients into three ops, where `supports` says that the backend has them: on the whole graph, after fuse. A
/// ReLU before them, or the batch norm and ReLU of another such chain, goes into the ops too.
[[nodiscard]] Graph fuse_separable(Graph graph, const Supports& supports);

/// Leaves out casts between f32 and halves, on the whole graph, where each op behind one reads its f32, or each op
/// before one writes it, and `supports` says so (OpDefinition::wide_inputs). A launch is saved by the whole cast alone:
/// while one reader needs the halves, all read them, which are fewer bytes. What was cast then lives on until its last
/// reader.
[[nodiscard]] Graph absorb_casts(Graph graph, const Supports& supports);

/// Gradient checkpointing, on the whole graph: of the activations computed within a segment (Op::segment) only those
/// that another segment reads, and batch statistics, are stored until the backward. The others are computed again, each
/// just before the backward op that reads it first; batch_norm as batch_norm_apply, so running statistics move once.
[[nodiscard]] Graph recompute(Graph graph);

/// The rest of gradient checkpointing, after recompute: what batch norms and ReLUs give is not stored until (or, where
/// it was repeated, within) the backward but applied once more just before it is read, where their inputs are at hand
/// anyway. A per cent of a step's time.
[[nodiscard]] Graph reapply(Graph graph);

/// Leaves out pure ops whose outputs nobody reads or keeps, and optional outputs of gradients that nobody reads.
[[nodiscard]] Graph prune(Graph graph);

} // namespace espalier
