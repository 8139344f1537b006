// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/gather.h"

#include "graph/image_order.h"
#include "graph/step_block.h"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// blockIdx.y counts images, so that a block reads one row of the order.
__global__ void __launch_bounds__(threads)
    gather_images_kernel(const float* step, const unsigned char* pixels, const int* labels, const float* values,
                         const int* order, float* images, int* batch_labels, Gather g) {
    const int plane = g.height * g.width, size = g.channels * plane;
    const auto first = static_cast<std::int64_t>(step[step_block::first_image]);
    for (std::int64_t n = blockIdx.y; n < g.batch; n += gridDim.y) {
        const int* row = order + (first + n) % g.places * image_order::columns;
        const std::int64_t sample = row[image_order::sample];
        const int down = row[image_order::down], right = row[image_order::right];
        const bool mirrored = row[image_order::mirrored] != 0;
        const unsigned char* source = pixels + sample * size;
        for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < size;
             i += static_cast<int>(gridDim.x * blockDim.x)) {
            const int channel = i / plane, h = i % plane / g.width, w = i % g.width;
            const int y = h - down, x = (mirrored ? g.width - 1 - w : w) - right;
            const bool inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
            const int byte = inside ? source[channel * plane + y * g.width + x] : 0;
            images[n * size + i] = values[channel * byte_values + byte];
        }
        if (blockIdx.x == 0 && threadIdx.x == 0)
            batch_labels[n] = labels[sample];
    }
}

} // namespace

void launch_gather_images(const float* step, const void* pixels, const int* labels, const float* values,
                          const int* order, float* images, int* batch_labels, const Gather& g, cudaStream_t stream) {
    const int size = g.channels * g.height * g.width;
    const dim3 grid(static_cast<unsigned>((size + threads - 1) / threads),
                    static_cast<unsigned>(g.batch < 65535 ? g.batch : 65535));
    gather_images_kernel<<<grid, threads, 0, stream>>>(step, static_cast<const unsigned char*>(pixels), labels, values,
                                                       order, images, batch_labels, g);
}

} // namespace espalier::cuda
