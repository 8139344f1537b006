// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/weights.h"

#include <optional>

/// A depthwise convolution of stride 1 and the pointwise one behind it in one launch: what lies between them is written
/// once, for the gradients, and not read again.
namespace espalier::cuda {

/// How the images are cut: a tile is some whole rows of the images, one behind the other, and may span two of them.
struct SeparableTiles {
    int height = 1;     ///< image rows of a tile
    int cell_rows = 1;  ///< image rows of a thread's depthwise results, 1 or 2: two read what they share once
    int tiles_each = 1; ///< one after the other, by a block
    int blocks = 1;
    int slots = 1; ///< warps that share the pixels of eight products
};

/// None: rows of the images are so long that few of them fit a multiprocessor, and the two launches are better.
[[nodiscard]] std::optional<SeparableTiles> separable_tiles(const Depthwise& depthwise, const Pointwise& pointwise);

/// What each block has: partials of moments are of these slices.
[[nodiscard]] ChannelTiles separable_slices(const Depthwise& depthwise, const Pointwise& pointwise,
                                            const SeparableTiles& tiles);

struct SeparableTensors {
    DepthwiseInput input;
    Weights filter;            ///< [K,K,channels]
    Weights matrix;            ///< [products,channels]
    void* d = nullptr;         ///< rows of channels
    void* z = nullptr;         ///< rows of products
    float* partials = nullptr; ///< [slices][2][products], as launch_pointwise leaves them
};

/// d = depthwise(through(x)), z = d matrix^T, and the moments of z.
void launch_separable_forward(const Depthwise& depthwise, const Pointwise& pointwise, const SeparableTiles& tiles,
                              const SeparableTensors& tensors, const LaunchStream& stream);

} // namespace espalier::cuda
