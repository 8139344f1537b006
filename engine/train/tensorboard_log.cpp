// SPDX-License-Identifier: Apache-2.0
#include "train/tensorboard_log.h"

#include "base/error.h"
#include "base/file_operations.h"
#include "io/tensorboard_events.h"
#include "train/events.h"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace espalier {

namespace {

constexpr const char* kinds[] = {"plan", "steps", "evaluation", "resources", "superseded"};

/// Of equal names only the first would be kept: each file gets a number that no file has.
std::filesystem::path new_file(const std::filesystem::path& folder, double time) {
    for (int number = 0;; ++number) {
        auto file = folder / ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(time)) + ".espalier." +
                              std::to_string(number));
        if (!std::filesystem::exists(file))
            return file;
    }
}

} // namespace

TensorBoardLog::TensorBoardLog(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
        throw Error("The events for TensorBoard cannot be written to " + folder_.string() + ": " + error.message() +
                    ". The run goes on without them.");
    thread_ = std::thread([this] { work(); });
}

TensorBoardLog::~TensorBoardLog() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void TensorBoardLog::take(const Json& event) {
    if (std::ranges::find(kinds, event.value("type", "")) == std::end(kinds))
        return;
    const std::lock_guard lock(mutex_);
    if (broken_)
        return;
    waiting_.push_back(event);
    wake_.notify_one();
}

std::string TensorBoardLog::take_fault() {
    const std::lock_guard lock(mutex_);
    return std::exchange(fault_, {});
}

void TensorBoardLog::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
        if (waiting_.empty())
            return;
        const auto events = std::exchange(waiting_, {});
        lock.unlock();
        std::string fault;
        errno = 0; // an old one would be taken for the reason
        try {
            for (const auto& event : events)
                write(event);
            if (file_.is_open() && !file_.flush())
                throw Error("The events for TensorBoard cannot be written.");
        } catch (const std::exception& error) {
            const std::error_code reason(errno, std::generic_category());
            fault = std::string(error.what()) + (reason ? " " + reason.message() + ". " + remedy_for(reason) : "") +
                    " The run goes on without them.";
        }
        lock.lock();
        if (!fault.empty()) {
            fault_ = std::move(fault);
            broken_ = true;
            waiting_.clear();
        }
    }
}

void TensorBoardLog::write(const Json& event) {
    const auto type = event.value("type", "");
    if (type == "plan")
        distance_ = std::max<std::int64_t>(
            1, (event.value("steps_per_epoch", std::int64_t{0}) * event.value("epochs", std::int64_t{0}) + most_steps -
                1) /
                   most_steps);
    else if (type == "steps")
        write_steps(event);
    else if (type == "evaluation")
        write_evaluation(event);
    else if (type == "resources")
        write_resources(event);
    else // also from the very first step: an earlier worker may have died before its first checkpoint
        append(tensorboard::session_start(event.value("time", 0.0), event.value("from_step", std::int64_t{0}) + 1),
               event.value("time", 0.0));
}

void TensorBoardLog::append(const std::string& message, double time) {
    errno = 0;
    if (!file_.is_open()) {
        file_.open(new_file(folder_, time), std::ios::binary);
        file_ << tensorboard::record(tensorboard::version_event(time));
    }
    if (!(file_ << tensorboard::record(message)))
        throw Error("The events for TensorBoard cannot be written to " + folder_.string() + ".");
}

void TensorBoardLog::write_steps(const Json& event) {
    const auto first = event.at("step").get<std::int64_t>();
    const auto time = event.value("time", 0.0);
    const auto& loss = event.at("loss");
    for (std::size_t i = 0; i < loss.size(); ++i) {
        const auto step = first + static_cast<std::int64_t>(i);
        if (step % distance_ != 0)
            continue;
        const std::vector<tensorboard::Scalar> scalars = {
            {"loss/train", number_from(loss[i])},
            {"accuracy/train", number_from(event.at("accuracy").at(i))},
            {"learning_rate", number_from(event.at("learning_rate").at(i))}};
        append(tensorboard::scalar_event(time, step, scalars), time);
    }
}

void TensorBoardLog::write_evaluation(const Json& event) {
    const auto set = event.value("set", "validation");
    const auto time = event.value("time", 0.0);
    const std::vector<tensorboard::Scalar> scalars = {{"loss/" + set, number_from(event.at("loss"))},
                                                      {"accuracy/" + set, number_from(event.at("accuracy"))}};
    append(tensorboard::scalar_event(time, event.at("step").get<std::int64_t>(), scalars), time);
}

void TensorBoardLog::write_resources(const Json& event) {
    const auto step = event.value("step", std::int64_t{0});
    if (resources_step_ >= 0 && step - resources_step_ < distance_)
        return;
    resources_step_ = step;
    const auto time = event.value("time", 0.0);
    std::vector<tensorboard::Scalar> scalars;
    if (event.contains("memory"))
        scalars.push_back({"memory", event.at("memory").value("total", 0.0) / (1024.0 * 1024.0)});
    if (event.contains("gflops"))
        scalars.push_back({"gflops", number_from(event.at("gflops"))});
    if (!scalars.empty())
        append(tensorboard::scalar_event(time, step, scalars), time);
}

} // namespace espalier
