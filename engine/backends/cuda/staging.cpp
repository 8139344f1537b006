// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.h"

#include <new>

namespace espalier::cuda {

/// Pinned memory is scarce on some systems (WSL2). Copies from ordinary memory are slower, and as right.
void HostBuffer::allocate(std::size_t bytes) {
    release();
    void* memory = nullptr;
    pinned_ = succeeded(cudaMallocHost(&memory, bytes));
    if (!pinned_)
        memory = ::operator new(bytes);
    data_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
}

void HostBuffer::release() {
    if (pinned_)
        cudaFreeHost(data_);
    else
        ::operator delete(data_);
    data_ = nullptr;
    bytes_ = 0;
    pinned_ = false;
}

Staging::Staging(cudaStream_t stream) : stream_(stream) {}

Staging::~Staging() {
    for (auto& buffer : buffers_)
        if (buffer.copied)
            cudaEventSynchronize(buffer.copied->get());
}

void Staging::trim() {
    for (auto& buffer : buffers_) {
        if (buffer.copied)
            ESPALIER_CUDA(cudaEventSynchronize(buffer.copied->get()));
        buffer.memory.release();
    }
}

Staging::Buffer& Staging::next(std::size_t bytes) {
    auto& buffer = buffers_[turn_];
    turn_ = (turn_ + 1) % buffers_.size();
    if (buffer.copied)
        ESPALIER_CUDA(cudaEventSynchronize(buffer.copied->get()));
    else
        buffer.copied.emplace();
    if (buffer.memory.bytes() < bytes)
        buffer.memory.allocate(bytes);
    was_pageable_ = was_pageable_ || !buffer.memory.pinned();
    return buffer;
}

void Staging::upload(std::byte* device, std::size_t bytes, const std::function<void(std::byte*)>& fill) {
    if (bytes == 0)
        return;
    auto& buffer = next(bytes);
    fill(buffer.memory.data());
    ESPALIER_CUDA(cudaMemcpyAsync(device, buffer.memory.data(), bytes, cudaMemcpyHostToDevice, stream_));
    ESPALIER_CUDA(cudaEventRecord(buffer.copied->get(), stream_));
}

void Staging::download(const std::byte* device, std::size_t bytes, const std::function<void(const std::byte*)>& take) {
    if (bytes == 0)
        return;
    auto& buffer = next(bytes);
    ESPALIER_CUDA(cudaMemcpyAsync(buffer.memory.data(), device, bytes, cudaMemcpyDeviceToHost, stream_));
    ESPALIER_CUDA(cudaStreamSynchronize(stream_));
    take(buffer.memory.data());
}

void HostDownload::start(const std::byte* device) {
    ESPALIER_CUDA(cudaMemcpyAsync(buffer_.data(), device, buffer_.bytes(), cudaMemcpyDeviceToHost, stream_));
    ESPALIER_CUDA(cudaEventRecord(copied_.get(), stream_));
}

bool HostDownload::ready() const {
    const auto state = cudaEventQuery(copied_.get());
    if (state == cudaErrorNotReady)
        static_cast<void>(cudaGetLastError()); // no error, but kept as one
    else
        check(state, "cudaEventQuery");
    return state == cudaSuccess;
}

const std::byte* HostDownload::wait() {
    ESPALIER_CUDA(cudaEventSynchronize(copied_.get()));
    return buffer_.data();
}

} // namespace espalier::cuda
