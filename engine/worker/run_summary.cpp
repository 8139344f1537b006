// SPDX-License-Identifier: Apache-2.0
#include "worker/run_summary.h"

#include "base/error.h"
#include "worker/event_files.h"
#include "worker/protocol.h"
#include "worker/run_link.h"
#include "worker/run_queue.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>

namespace espalier {
namespace {

using protocol::is_event;
using protocol::number_at;
using protocol::text_at;

/// Events read from the end at most: enough for any epoch's heartbeats, and quick for a folder full of runs.
constexpr int events_read = 20000;

/// What the end of a run's events says.
struct Ending {
    std::optional<Json> hello, bye, phase, evaluation, epoch, error;
    std::optional<std::int64_t> step;
    double last_time = 0;

    [[nodiscard]] bool complete() const { return hello && phase && evaluation && epoch && step; }
};

Ending read_ending(const RunFolder& run) {
    Ending ending;
    int count = 0;
    auto in_force = std::numeric_limits<std::int64_t>::max(); // later steps were taken back
    visit_backwards(run.events(), [&](const Json& event) {
        if (ending.last_time == 0)
            ending.last_time = number_at(event, "time");
        const auto keep_last = [&](const char* type, std::optional<Json>& place) {
            if (!place && is_event(event, type))
                place = event;
        };
        // of the last worker only; one that waits in the queue has none yet
        if (!ending.hello && !(ending.phase && text_at(*ending.phase, "phase") == "queued"))
            keep_last("bye", ending.bye), keep_last("error", ending.error);
        keep_last("hello", ending.hello);
        keep_last("phase", ending.phase);
        if (protocol::whole_at(event, "step") <= in_force) {
            keep_last("evaluation", ending.evaluation);
            keep_last("epoch", ending.epoch);
        }
        if (is_event(event, "superseded"))
            in_force = std::min(in_force, protocol::whole_at(event, "from_step", in_force));
        if (!ending.step && is_event(event, "steps"))
            ending.step = protocol::last_step(event);
        else if (!ending.step && is_event(event, "superseded"))
            ending.step = protocol::whole_at(event, "from_step");
        return ++count < events_read && !ending.complete();
    });
    return ending;
}

bool has_checkpoint(const RunFolder& run) {
    std::error_code none; // no folder
    for (const auto& entry : std::filesystem::directory_iterator(run.checkpoints(), none))
        if (entry.path().extension() == ".safetensors")
            return true;
    return false;
}

double first_time(const RunFolder& run) {
    std::ifstream stream(run.events(), std::ios::binary);
    std::string line;
    std::getline(stream, line);
    const auto event = protocol::parse_line(line);
    return event ? number_at(*event, "time") : 0;
}

std::string state_of(const RunFolder& run, const Ending& ending) {
    const bool bye = ending.bye.has_value();
    if (!bye && is_supervised(run.path())) {
        const auto phase = ending.phase ? text_at(*ending.phase, "phase") : std::string();
        return phase == "paused" || phase == "queued" ? phase : "running";
    }
    if (!bye)
        return "interrupted";
    switch (static_cast<ExitCode>(static_cast<int>(protocol::whole_at(*ending.bye, "code", 1)))) {
    case ExitCode::done:
        return "finished";
    case ExitCode::stopped:
        return "stopped";
    default:
        return "failed";
    }
}

} // namespace

Json RunSummary::to_json() const {
    return {{"path", path},
            {"name", name},
            {"preset", preset},
            {"state", state},
            {"epoch", epoch},
            {"epochs", epochs},
            {"step", step},
            {"best_accuracy", best_accuracy ? Json(*best_accuracy) : Json()},
            {"started", started},
            {"seconds", seconds},
            {"reason", reason},
            {"queue", queue},
            {"tags", tags},
            {"notes", notes},
            {"checkpoint", checkpoint}};
}

RunSummary summarize(const RunFolder& run) {
    RunSummary summary;
    summary.path = run.path().string();
    summary.name = run.name();
    try {
        const auto config = read_json(run.config());
        summary.preset = text_at(config, "preset");
        summary.epochs = protocol::whole_at(config, "epochs");
        const auto notes = run.read_notes();
        summary.notes = text_at(notes, "notes");
        if (const auto tags = notes.find("tags"); tags != notes.end() && tags->is_array())
            for (const auto& tag : *tags)
                if (tag.is_string())
                    summary.tags.push_back(tag.get<std::string>());
    } catch (const std::exception& error) {
        summary.reason = error.what();
    }
    summary.checkpoint = has_checkpoint(run);
    const auto ending = read_ending(run);
    summary.state = state_of(run, ending);
    summary.started = first_time(run);
    summary.step = ending.step.value_or(0);
    if (ending.epoch)
        summary.epoch = number_at(*ending.epoch, "epoch");
    if (ending.evaluation)
        if (const auto best = protocol::best_at(*ending.evaluation))
            summary.best_accuracy = best->accuracy;
    if (ending.bye && ending.bye->contains("seconds"))
        summary.seconds = number_at(*ending.bye, "seconds");
    else if (ending.hello)
        summary.seconds = std::max(0.0, ending.last_time - number_at(*ending.hello, "time"));
    if (summary.state == "failed" && ending.bye)
        summary.reason = text_at(*ending.bye, "reason", ending.error ? text_at(*ending.error, "text") : "");
    if (summary.state == "interrupted" && ending.phase) {
        const auto phase = text_at(*ending.phase, "phase");
        if (phase == "queued")
            summary.reason = "It was waiting in the queue when its supervisor was lost. Resume it to train it.";
        else if (phase == "interrupted")
            summary.reason = text_at(*ending.phase, "reason");
    }
    return summary;
}

std::vector<RunSummary> summarize_all(const std::filesystem::path& root) {
    std::vector<RunSummary> summaries;
    const RunQueue queue(root);
    for (const auto& run : runs_in(root)) {
        summaries.push_back(summarize(run));
        if (summaries.back().state == "queued")
            summaries.back().queue = queue.place(run.path().filename().string());
    }
    std::ranges::stable_sort(summaries, std::ranges::greater(), &RunSummary::started);
    return summaries;
}

} // namespace espalier
