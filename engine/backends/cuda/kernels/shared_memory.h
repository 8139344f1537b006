// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

namespace espalier::cuda {

/// Bytes of shared memory that each of so many blocks of a multiprocessor may have on the current device.
inline std::size_t shared_memory_of_block(int blocks_a_multiprocessor) {
    int device = 0, all = 0, reserved = 0, most = 0;
    ESPALIER_CUDA(cudaGetDevice(&device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return static_cast<std::size_t>(std::max(std::min(all / blocks_a_multiprocessor - reserved, most), 0));
}

} // namespace espalier::cuda
