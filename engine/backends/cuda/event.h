// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"

#include <utility>

namespace espalier::cuda {

/// A place in a stream that others can wait for; with cudaEventDefault its time is kept too.
class Event {
public:
    explicit Event(unsigned flags = cudaEventDisableTiming) { ESPALIER_CUDA(cudaEventCreateWithFlags(&event_, flags)); }
    ~Event() {
        if (event_ != nullptr)
            cudaEventDestroy(event_);
    }
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    Event& operator=(Event&&) = delete;
    [[nodiscard]] cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

} // namespace espalier::cuda
