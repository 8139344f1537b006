// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/random_tensors.h"

#include "backends/cuda/kernels/compare.h"

namespace espalier::cuda::cudnn {
namespace {

std::int64_t count_of(const std::array<std::int64_t, 4>& extents) {
    return extents[0] * extents[1] * extents[2] * extents[3];
}

} // namespace

RandomTensors::RandomTensors(const Problem& problem, cudaStream_t stream)
    : type_(problem.type), counts_{count_of(problem.x), count_of(problem.w), count_of(problem.y)},
      memory_{DeviceMemory(bytes(0)), DeviceMemory(bytes(1)), DeviceMemory(bytes(2))} {
    for (std::size_t i = 0; i < 3; ++i)
        fill_random(memory_[i].data(), type_, counts_[i], static_cast<unsigned>(i + 1), stream);
}

} // namespace espalier::cuda::cudnn
