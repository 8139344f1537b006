// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"

namespace espalier::cuda {

/// A stream that does not wait for the legacy default stream. Ends when what was enqueued on it has run.
class Stream {
public:
    /// On the current device. Throws DeviceError.
    Stream() { ESPALIER_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Stream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    [[nodiscard]] cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

} // namespace espalier::cuda
