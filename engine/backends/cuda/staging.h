// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/event.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

namespace espalier::cuda {

/// Host memory for copies to and from the device: pinned, or ordinary memory where the system gives no pinned one.
class HostBuffer {
public:
    HostBuffer() = default;
    explicit HostBuffer(std::size_t bytes) { allocate(bytes); }
    ~HostBuffer() { release(); }
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;

    /// In the place of what was there. Throws std::bad_alloc.
    void allocate(std::size_t bytes);
    void release();
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] bool pinned() const { return pinned_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    bool pinned_ = false;
};

/// Host memory through which values go to the device without the host waiting: a ring of buffers, each free again when
/// its copy has run.
class Staging {
public:
    explicit Staging(cudaStream_t stream);
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// `fill` writes the bytes into the buffer; the copy to `device` is enqueued. Waits only if the ring is full.
    void upload(std::byte* device, std::size_t bytes, const std::function<void(std::byte*)>& fill);
    /// Copies to a buffer, waits, and lets `take` read it.
    void download(const std::byte* device, std::size_t bytes, const std::function<void(const std::byte*)>& take);

    /// Gives all buffers back, after their copies have run.
    void trim();
    /// Whether a buffer has ever been ordinary memory.
    [[nodiscard]] bool was_pageable() const { return was_pageable_; }

private:
    struct Buffer {
        HostBuffer memory;
        std::optional<Event> copied; ///< from its first use on
    };
    Buffer& next(std::size_t bytes);

    cudaStream_t stream_;
    std::array<Buffer, 8> buffers_;
    std::size_t turn_ = 0;
    bool was_pageable_ = false;
};

/// Host memory of its own for bytes that come to the host again and again, while the device works on.
class HostDownload {
public:
    HostDownload(cudaStream_t stream, std::size_t bytes) : stream_(stream), buffer_(bytes) {}
    ~HostDownload() { cudaEventSynchronize(copied_.get()); }
    HostDownload(const HostDownload&) = delete;
    HostDownload& operator=(const HostDownload&) = delete;

    void start(const std::byte* device);
    [[nodiscard]] bool ready() const;
    /// The bytes of the last start(), when they are there.
    [[nodiscard]] const std::byte* wait();
    [[nodiscard]] bool pinned() const { return buffer_.pinned(); }

private:
    cudaStream_t stream_;
    HostBuffer buffer_;
    Event copied_;
};

} // namespace espalier::cuda
