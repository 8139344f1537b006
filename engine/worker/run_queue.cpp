// SPDX-License-Identifier: Apache-2.0
#include "worker/run_queue.h"

#include "base/error.h"
#include "io/run_folder.h"
#include "worker/run_link.h"

#include <QLockFile>
#include <algorithm>

namespace espalier {
namespace {

constexpr const char* queue_file = "queue.json";
constexpr int quick_ms = 100;     // for who asks again soon
constexpr int patience_ms = 5000; // for who asks once

} // namespace

std::vector<std::string> RunQueue::waiting() const {
    std::vector<std::string> names;
    const auto json = read_object(runs_ / queue_file);
    if (const auto list = json.find("waiting"); list != json.end() && list->is_array())
        for (const auto& name : *list)
            if (name.is_string())
                names.push_back(name.get<std::string>());
    return names;
}

std::size_t RunQueue::place(const std::string& run) const {
    const auto names = waiting();
    const auto found = std::ranges::find(names, run);
    return found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin()) + 1;
}

std::optional<RunQueue::Turn> RunQueue::ask(const std::string& run) {
    const auto held = lock(quick_ms);
    if (!held)
        return std::nullopt;
    const auto before = waiting();
    auto names = before;
    std::erase_if(names, [&](const std::string& name) { return name != run && !is_supervised(runs_ / name); });
    auto mine = std::ranges::find(names, run);
    if (mine == names.end())
        mine = names.insert(names.end(), run);
    Turn turn;
    if (const auto ahead = mine - names.begin(); ahead > 0) {
        turn.reason = "Waits in the queue: " + std::to_string(ahead) +
                      (ahead == 1 ? " run begins before it." : " runs begin before it.");
    } else if (const auto other = training(names, run)) {
        turn.reason = "Waits in the queue until " + *other + " has ended or is paused.";
    } else {
        names.erase(mine);
        turn.come = true;
    }
    if (names != before)
        write(names);
    return turn;
}

void RunQueue::leave(const std::string& run) {
    if (place(run) == 0)
        return;
    const auto held = lock(patience_ms);
    if (!held)
        throw Error("The queue in " + runs_.string() + " is held by another process. Try again.");
    auto names = waiting();
    if (std::erase(names, run) > 0)
        write(names);
}

void RunQueue::reorder(const std::vector<std::string>& names) {
    const auto held = lock(patience_ms);
    if (!held)
        throw Error("The queue in " + runs_.string() + " is held by another process. Try again.");
    const auto before = waiting();
    std::vector<std::string> after;
    const auto take = [&](const std::vector<std::string>& from) {
        for (const auto& name : from)
            if (std::ranges::find(before, name) != before.end() && std::ranges::find(after, name) == after.end())
                after.push_back(name);
    };
    take(names);
    take(before);
    if (after != before)
        write(after);
}

std::unique_ptr<QLockFile> RunQueue::lock(int patience_ms) const {
    auto held = std::make_unique<QLockFile>(QString::fromStdString((runs_ / "queue.lock").string()));
    held->setStaleLockTime(0); // a dead process's lock is known by its number
    if (held->tryLock(patience_ms))
        return held;
    if (held->error() == QLockFile::LockFailedError)
        return nullptr;
    throw Error("The queue in " + runs_.string() + " cannot be locked. Is its folder writable?");
}

void RunQueue::write(const std::vector<std::string>& names) const {
    write_json(runs_ / queue_file, {{"waiting", names}});
}

std::optional<std::string> RunQueue::training(const std::vector<std::string>& waiting, const std::string& but) const {
    for (const auto& run : runs_in(runs_)) {
        const auto name = run.path().filename().string();
        if (name != but && std::ranges::find(waiting, name) == waiting.end() && is_at_work(run.path()))
            return run.name();
    }
    return std::nullopt;
}

} // namespace espalier
