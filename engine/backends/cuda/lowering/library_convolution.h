// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/kernels/convolution_epilogue.h"
#include "backends/cuda/kernels/shape.h"
#include "backends/cuda/lowering/lowering.h"

#include <memory>
#include <optional>

/// Kernels that launch a plan of the library. Each is put into `lowered`, with the workspace that it needs.
namespace espalier::cuda {

/// Where x, w and y of a convolution stand among the op's tensors: inputs from 0, the output is -1.
struct ConvolutionPlaces {
    int x, w, y;
};

/// The plan, and what is added to its result in place: bias, ReLU.
void run_by_library(const Context& context, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                    std::optional<Epilogue> epilogue, Lowered& lowered);

/// A gradient of a pointwise convolution that strides: of the pixels that it meets, as if they were the whole image, by
/// the plan for that. `of_input`: the others get zeros behind it; else they are left out before. What the library has
/// for such gradients as they are took 1.4 to 2.3 times as long.
void run_by_library_sliced(const Context& context, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                           bool of_input, const ShiftedSlice& slice, Lowered& lowered);

} // namespace espalier::cuda
