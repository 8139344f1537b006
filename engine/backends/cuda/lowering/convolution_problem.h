// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/kernels/convolution_epilogue.h"
#include "backends/cuda/kernels/shape.h"
#include "backends/cuda/lowering/lowering.h"
#include "graph/ops/convolution.h"

#include <optional>

/// What a convolution's kernels are asked, from how its tensors lie.
namespace espalier::cuda {

[[nodiscard]] cudnn::Problem problem_of(const Context& context, const Convolution& shape,
                                        cudnn::Problem::Direction direction, const Layout& x, const Layout& w,
                                        const Layout& y);

/// What follows it: nothing without bias (input 2 of the op) and ReLU.
[[nodiscard]] std::optional<Epilogue> epilogue_of(const Context& context, const Layout& y, bool relu);

/// Whether each pixel of y is of one pixel of x alone, and of all its channels.
[[nodiscard]] bool is_pointwise(const cudnn::Problem& problem);
[[nodiscard]] bool strides(const cudnn::Problem& problem);
/// The pixels of x that a pointwise convolution meets.
[[nodiscard]] ShiftedSlice met_pixels(const cudnn::Problem& problem);

} // namespace espalier::cuda
