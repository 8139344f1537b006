// SPDX-License-Identifier: Apache-2.0
#include "worker/run_follower.h"

#include "io/run_folder.h"

namespace espalier {
namespace {

constexpr std::size_t budget = 256 * 1024; // bytes given before the event loop has its turn
constexpr int no_room_wait_ms = 5;

} // namespace

RunFollower::RunFollower(const std::filesystem::path& run, Handlers handlers)
    : handlers_(std::move(handlers)), client_({[this] { pump_soon(); }, [this] { pump_soon(); }}) {
    RunFolder(run).check_is_run();
    again_.setSingleShot(true);
    QObject::connect(&again_, &QTimer::timeout, &again_, [this] { pump(); });
    client_.open(run);
    if (handlers_.table)
        open_past(run);
    else
        start(run, nullptr);
}

void RunFollower::open_past(const std::filesystem::path& run) {
    opening_ = std::jthread([this, run](const std::stop_token& stop) {
        const auto in_event_loop = [this](auto&& call) {
            QMetaObject::invokeMethod(&again_, std::forward<decltype(call)>(call), Qt::QueuedConnection);
        };
        std::shared_ptr<RunPast> past;
        try {
            past = std::make_shared<RunPast>(
                run, [&](double share) { in_event_loop([this, share] { handlers_.making(share); }); }, stop);
            if (past->blocks() > 0 && handlers_.opened)
                handlers_.opened(*past, stop);
        } catch (const std::exception&) {
            past.reset(); // by lines then, which need nothing but the file
        }
        in_event_loop([this, run, past] { start(run, past); });
    });
}

void RunFollower::start(const std::filesystem::path& run, std::shared_ptr<RunPast> past) {
    past_ = std::move(past);
    cursor_.emplace(run, past_ ? past_->covered() : 0);
    again_.start(0);
}

void RunFollower::pump_soon() {
    if (cursor_)
        again_.start(0);
}

bool RunFollower::pump_past() {
    if (!past_)
        return false;
    if (next_block_ == past_->blocks()) {
        past_.reset();
        return false;
    }
    const auto payload = past_->payload(next_block_++);
    for (const auto& entry : entries_of(payload).value_or(std::vector<ColumnEntry>())) {
        if (const auto* table = std::get_if<ColumnTable>(&entry))
            handlers_.table(*table);
        else
            handlers_.line(std::get<std::string_view>(entry));
    }
    return true;
}

void RunFollower::pump() {
    if (ended_)
        return;
    if (handlers_.room && !handlers_.room())
        return again_.start(no_room_wait_ms);
    // Asked before reading: what the supervisor wrote before it went is then sure to be read.
    const bool live = client_.is_open();
    if (pump_past() || !cursor_->read(budget, handlers_.line))
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
