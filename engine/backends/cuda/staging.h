// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <functional>

namespace espalier::cuda {

/// Pinned host memory (ordinary memory where the system gives no pinned one) through which values go to the device
/// without the host waiting: a ring of buffers, each free again when its copy has run.
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

    /// Gives all buffers back, after their copies have run.
    void trim();

private:
    struct Buffer {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        bool pinned = false;
        cudaEvent_t copied = nullptr;
    };
    Buffer& next(std::size_t bytes);
    static void allocate(Buffer& buffer, std::size_t bytes);
    static void release(Buffer& buffer);

    cudaStream_t stream_;
    std::array<Buffer, 8> buffers_;
    std::size_t turn_ = 0;
};

/// Pinned memory of its own for bytes that come to the host again and again, while the device works on.
class PinnedDownload {
public:
    PinnedDownload(cudaStream_t stream, std::size_t bytes);
    ~PinnedDownload();
    PinnedDownload(const PinnedDownload&) = delete;
    PinnedDownload& operator=(const PinnedDownload&) = delete;

    void start(const std::byte* device);
    [[nodiscard]] bool ready() const;
    /// The bytes of the last start(), when they are there.
    [[nodiscard]] const std::byte* wait();

private:
    cudaStream_t stream_;
    std::size_t bytes_;
    std::byte* data_ = nullptr;
    cudaEvent_t copied_ = nullptr;
};

} // namespace espalier::cuda
