// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// A batch taken from a data set of bytes: pixels [M,C,H,W], labels [M], values [C,256], order [places,4]
/// (graph/image_order.h), the step block; all row-major.
struct Gather {
    std::int64_t batch = 0, places = 0;
    int channels = 0, height = 0, width = 0;
};

/// images [batch,C,H,W] = values[channel][byte], moved and mirrored; batch_labels [batch].
void launch_gather_images(const float* step, const void* pixels, const int* labels, const float* values,
                          const int* order, float* images, int* batch_labels, const Gather& gather,
                          cudaStream_t stream);

} // namespace espalier::cuda
