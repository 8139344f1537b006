// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"
#include "backends/cuda/kernels/launch_stream.h"

#include <cstddef>

/// Programmatic dependent launch: a kernel takes its place on the chip while the one before it ends. Each kernel that
/// is launched so calls wait_for_first() before it reads or writes global memory: then whatever the kernels before it
/// in the stream wrote can be read, since each of them waited before it ended. Its pointers must not be __restrict__: a
/// compiler that takes what they point to for constant may load it before that call.
namespace espalier::cuda {

/// The next launch may begin from now on, as soon as every block of this one has come so far.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// Waits until the launch before has ended and all that it wrote can be read.
__device__ inline void wait_for_first() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
/// Both, at the beginning of a kernel.
__device__ inline void take_turn() {
    let_next_begin();
    wait_for_first();
}

/// Launches a kernel that calls wait_for_first(), early if the stream allows it.
template <class... Parameters, class... Given>
void enqueue(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes, const LaunchStream& stream,
             const Given&... given) {
    if (shared_bytes > 48 * 1024)
        ESPALIER_CUDA(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream.handle;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = stream.early ? 1 : 0;
    ESPALIER_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(given)...));
}

} // namespace espalier::cuda
