// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"
#include "plan/backend.h"

namespace espalier::cuda {

/// Memory of the GPU. Throws OutOfMemory.
class DeviceMemory final : public Memory {
public:
    explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
        void* data = nullptr;
        ESPALIER_CUDA(cudaMalloc(&data, bytes));
        data_ = static_cast<std::byte*>(data);
    }
    ~DeviceMemory() override { cudaFree(data_); }
    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t bytes() const override { return bytes_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace espalier::cuda
