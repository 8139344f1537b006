// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/lowering/convolution_problem.h"
#include "backends/cuda/lowering/library_convolution.h"

/// Convolutions by kernels of our own. `lowered` has its layouts, and gets its kernel and workspace; false: the kernel
/// is not made for the problem, and nothing was changed.
namespace espalier::cuda {

/// Forward, of images of few channels, on tensor cores.
[[nodiscard]] bool lower_first(const Context& context, const cudnn::Problem& problem, bool relu, Lowered& lowered);
/// Forward and pointwise, of few channels that become many, on tensor cores.
[[nodiscard]] bool lower_expansion(const Context& context, const cudnn::Problem& problem, bool relu, Lowered& lowered);
/// Weights of a pointwise one, row-major in strict fp32.
[[nodiscard]] bool lower_pointwise_weight_gradient(const Context& context, const cudnn::Problem& problem,
                                                   ConvolutionPlaces places, Lowered& lowered);
/// Every case there is.
void lower_direct(const Context& context, const cudnn::Problem& problem, ConvolutionPlaces places, bool relu,
                  Lowered& lowered);

} // namespace espalier::cuda
