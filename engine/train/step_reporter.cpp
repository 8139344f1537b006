// SPDX-License-Identifier: Apache-2.0
#include "train/step_reporter.h"

namespace espalier {
namespace {

constexpr auto least_distance = std::chrono::milliseconds(50);
constexpr std::size_t most_in_a_line = 5000; // about 300 kB, far below a line's limit of 1 MiB

} // namespace

void StepReporter::add(const StepRecord& record) {
    waiting_.push_back(record);
    if (waiting_.size() >= most_in_a_line)
        flush();
}

void StepReporter::flush_if_due() {
    if (Clock::now() - last_ >= least_distance)
        flush();
}

void StepReporter::flush() {
    if (waiting_.empty())
        return;
    Json event = make_event("steps");
    event["step"] = waiting_.front().step;
    event["epoch"] = waiting_.front().epoch;
    const auto column = [&](const char* name, double StepRecord::*field) {
        Json& values = event[name] = Json::array();
        for (const auto& record : waiting_)
            values.push_back(number_or_text(record.*field));
    };
    column("loss", &StepRecord::loss);
    column("accuracy", &StepRecord::accuracy);
    column("learning_rate", &StepRecord::learning_rate);
    column("seconds", &StepRecord::seconds);
    waiting_.clear();
    last_ = Clock::now();
    events_.send(std::move(event));
}

} // namespace espalier
