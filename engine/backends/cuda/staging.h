// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <functional>

namespace espalier::cuda {

/// Pinned host memory through which values go to the device without the host waiting: a ring of buffers, each free
/// again when its copy has run.
class Staging {
public:
    explicit Staging(cudaStream_t stream);
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// `fill` writes the bytes into pinned memory; the copy to `device` is enqueued. Waits only if the ring is full.
    void upload(std::byte* device, std::size_t bytes, const std::function<void(std::byte*)>& fill);
    /// Copies to pinned memory, waits, and lets `take` read it.
    void download(const std::byte* device, std::size_t bytes, const std::function<void(const std::byte*)>& take);

private:
    struct Buffer {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        cudaEvent_t copied = nullptr;
    };
    Buffer& next(std::size_t bytes);

    cudaStream_t stream_;
    std::array<Buffer, 8> buffers_;
    std::size_t turn_ = 0;
};

} // namespace espalier::cuda
