// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstdint>

namespace espalier {

class GraphBuilder;

/// The buffer "step" (f32, [step_block::size]): everything that changes from step to step. It lives in device memory,
/// so that nothing of it is frozen into a captured graph; ops that need it take it as an input.
namespace step_block {

enum Field : std::int64_t {
    learning_rate,
    step,        ///< number of this update, from 1
    loss_scale,  ///< the loss is multiplied by it before the backward, gradients are divided by it in the update
    micro_step,  ///< 0 for the first part of an accumulated step
    micro_steps, ///< parts of an accumulated step; the mean of their gradients is applied
    history_row, ///< row of the history buffer that `record` writes
    first_image, ///< place of the batch's first image in the order that `gather_images` follows
    size = 16,
};

inline constexpr const char* name = "step";

} // namespace step_block

/// Buffers of the dynamic loss scale: the scale, and the number of good steps since it last changed. Each is [1].
inline constexpr const char* loss_scale_name = "loss_scale";
inline constexpr const char* good_steps_name = "loss_scale_good_steps";

/// The buffer "step" of the graph, declared if it is not there yet.
[[nodiscard]] TensorId step_buffer(GraphBuilder& builder);
} // namespace espalier
