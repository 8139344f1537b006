// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.h"

#include "backends/cuda/error.h"

#include <new>

namespace espalier::cuda {

Staging::Staging(cudaStream_t stream) : stream_(stream) {}

Staging::~Staging() {
    for (auto& buffer : buffers_) {
        if (buffer.copied != nullptr) {
            cudaEventSynchronize(buffer.copied);
            cudaEventDestroy(buffer.copied);
        }
        release(buffer);
    }
}

void Staging::trim() {
    for (auto& buffer : buffers_) {
        if (buffer.copied != nullptr)
            ESPALIER_CUDA(cudaEventSynchronize(buffer.copied));
        release(buffer);
    }
}

/// Pinned memory is scarce on some systems (WSL2). Copies from ordinary memory are slower, and as right.
void Staging::allocate(Buffer& buffer, std::size_t bytes) {
    void* memory = nullptr;
    buffer.pinned = cudaMallocHost(&memory, bytes) == cudaSuccess;
    if (!buffer.pinned) {
        cudaGetLastError(); // it must not be found again by the next launch
        memory = ::operator new(bytes);
    }
    buffer.data = static_cast<std::byte*>(memory);
    buffer.bytes = bytes;
}

void Staging::release(Buffer& buffer) {
    if (buffer.pinned)
        cudaFreeHost(buffer.data);
    else
        ::operator delete(buffer.data);
    buffer.data = nullptr;
    buffer.bytes = 0;
}

Staging::Buffer& Staging::next(std::size_t bytes) {
    auto& buffer = buffers_[turn_];
    turn_ = (turn_ + 1) % buffers_.size();
    if (buffer.copied == nullptr)
        ESPALIER_CUDA(cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming));
    else
        ESPALIER_CUDA(cudaEventSynchronize(buffer.copied));
    if (buffer.bytes < bytes) {
        release(buffer);
        allocate(buffer, bytes);
    }
    return buffer;
}

void Staging::upload(std::byte* device, std::size_t bytes, const std::function<void(std::byte*)>& fill) {
    if (bytes == 0)
        return;
    auto& buffer = next(bytes);
    fill(buffer.data);
    ESPALIER_CUDA(cudaMemcpyAsync(device, buffer.data, bytes, cudaMemcpyHostToDevice, stream_));
    ESPALIER_CUDA(cudaEventRecord(buffer.copied, stream_));
}

void Staging::download(const std::byte* device, std::size_t bytes, const std::function<void(const std::byte*)>& take) {
    if (bytes == 0)
        return;
    auto& buffer = next(bytes);
    ESPALIER_CUDA(cudaMemcpyAsync(buffer.data, device, bytes, cudaMemcpyDeviceToHost, stream_));
    ESPALIER_CUDA(cudaStreamSynchronize(stream_));
    take(buffer.data);
}

PinnedDownload::PinnedDownload(cudaStream_t stream, std::size_t bytes) : stream_(stream), bytes_(bytes) {
    void* memory = nullptr;
    ESPALIER_CUDA(cudaMallocHost(&memory, bytes));
    data_ = static_cast<std::byte*>(memory);
    if (const auto error = cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming); error != cudaSuccess) {
        cudaFreeHost(data_);
        check(error, "cudaEventCreateWithFlags");
    }
}

PinnedDownload::~PinnedDownload() {
    cudaEventSynchronize(copied_);
    cudaEventDestroy(copied_);
    cudaFreeHost(data_);
}

void PinnedDownload::start(const std::byte* device) {
    ESPALIER_CUDA(cudaMemcpyAsync(data_, device, bytes_, cudaMemcpyDeviceToHost, stream_));
    ESPALIER_CUDA(cudaEventRecord(copied_, stream_));
}

bool PinnedDownload::ready() const {
    const auto state = cudaEventQuery(copied_);
    if (state == cudaErrorNotReady)
        static_cast<void>(cudaGetLastError()); // no error, but kept as one
    else
        check(state, "cudaEventQuery");
    return state == cudaSuccess;
}

const std::byte* PinnedDownload::wait() {
    ESPALIER_CUDA(cudaEventSynchronize(copied_));
    return data_;
}

} // namespace espalier::cuda
