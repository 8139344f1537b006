// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.h"

#include "backends/cuda/error.h"

namespace espalier::cuda {

Staging::Staging(cudaStream_t stream) : stream_(stream) {}

Staging::~Staging() {
    for (auto& buffer : buffers_) {
        if (buffer.copied != nullptr) {
            cudaEventSynchronize(buffer.copied);
            cudaEventDestroy(buffer.copied);
        }
        if (buffer.data != nullptr)
            cudaFreeHost(buffer.data);
    }
}

Staging::Buffer& Staging::next(std::size_t bytes) {
    auto& buffer = buffers_[turn_];
    turn_ = (turn_ + 1) % buffers_.size();
    if (buffer.copied == nullptr)
        ESPALIER_CUDA(cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming));
    else
        ESPALIER_CUDA(cudaEventSynchronize(buffer.copied));
    if (buffer.bytes < bytes) {
        if (buffer.data != nullptr)
            ESPALIER_CUDA(cudaFreeHost(buffer.data));
        buffer.data = nullptr;
        buffer.bytes = 0;
        void* memory = nullptr;
        ESPALIER_CUDA(cudaMallocHost(&memory, bytes));
        buffer.data = static_cast<std::byte*>(memory);
        buffer.bytes = bytes;
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

void Staging::download(const std::byte* device, std::size_t bytes,
                       const std::function<void(const std::byte*)>& take) {
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
