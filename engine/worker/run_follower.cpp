// SPDX-License-Identifier: Apache-2.0
#include "worker/run_follower.h"

#include "base/error.h"
#include "io/run_folder.h"

namespace espalier {
namespace {

constexpr std::size_t budget = 256 * 1024; // bytes given before the event loop has its turn
constexpr int no_room_wait_ms = 5;

} // namespace

RunFollower::RunFollower(const std::filesystem::path& run, Handlers handlers)
    : handlers_(std::move(handlers)), cursor_(run),
      client_({[this] { again_.start(0); }, [this] { again_.start(0); }}) {
    if (!RunFolder(run).is_run())
        throw DataError("There is no run in " + run.string() + ": a run's folder holds a config.json.");
    again_.setSingleShot(true);
    QObject::connect(&again_, &QTimer::timeout, &again_, [this] { pump(); });
    client_.open(run);
    again_.start(0);
}

void RunFollower::pump() {
    if (ended_)
        return;
    if (handlers_.room && !handlers_.room())
        return again_.start(no_room_wait_ms);
    // Asked before reading: what the supervisor wrote before it went is then sure to be read.
    const bool live = client_.is_open();
    if (!cursor_.read(budget, handlers_.line))
        return again_.start(0);
    if (!caught_up_) {
        caught_up_ = true;
        handlers_.caught_up();
    }
    if (!live) {
        ended_ = true;
        handlers_.ended(); // may delete this
    }
}

} // namespace espalier
