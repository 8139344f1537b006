// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/side_by_side.h"

#include "base/error.h"

namespace espalier::cuda::cudnn {

SideBySide::SideBySide(const Companion& companion, cudnnHandle_t handle, cudaStream_t main)
    : handle_(handle), main_(main), tensors_(companion.problem, main), workspace_(companion.plan->workspace()),
      execution_(tensors_.execution(companion.plan, workspace_.data())) {}

void SideBySide::run_with(const std::function<void()>& other) {
    struct BackToMain {
        SideBySide& self;
        ~BackToMain() { cudnnSetStream(self.handle_, self.main_); }
    } const back{*this};
    ESPALIER_CUDA(cudaEventRecord(begin_.get(), main_));
    ESPALIER_CUDA(cudaStreamWaitEvent(side_.get(), begin_.get(), 0));
    other();
    ESPALIER_CUDNN(cudnnSetStream(handle_, side_.get()));
    execution_.run(handle_);
    ESPALIER_CUDA(cudaEventRecord(end_.get(), side_.get()));
    ESPALIER_CUDA(cudaStreamWaitEvent(main_, end_.get(), 0));
}

std::unique_ptr<SideBySide> side_by_side(const std::optional<Companion>& companion, cudnnHandle_t handle,
                                         cudaStream_t main) {
    if (!companion)
        return nullptr;
    try {
        return std::make_unique<SideBySide>(*companion, handle, main);
    } catch (const OutOfMemory&) {
        return nullptr;
    }
}

} // namespace espalier::cuda::cudnn
