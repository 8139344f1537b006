// SPDX-License-Identifier: Apache-2.0
#include "train/recorder.h"

#include "base/error.h"

namespace espalier {

void Recorder::send(Json event) {
    keep(event);
    next_.send(std::move(event));
}

void Recorder::begin_tensorboard(const std::filesystem::path& folder) {
    try {
        tensorboard_.emplace(folder);
    } catch (const Error& error) {
        warn(next_, error.what());
    }
}

void Recorder::take_back_after(std::int64_t step) {
    Json event = make_event("superseded");
    event["from_step"] = step;
    keep(event);
}

void Recorder::keep(const Json& event) {
    try {
        metrics_.take(event);
    } catch (const Error& error) {
        if (!std::exchange(refused_, true))
            warn(next_, error.what());
    }
    if (!tensorboard_)
        return;
    tensorboard_->take(event);
    if (const auto fault = tensorboard_->take_fault(); !fault.empty())
        warn(next_, fault);
}

} // namespace espalier
