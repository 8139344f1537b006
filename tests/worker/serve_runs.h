// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run_folder.h"
#include "serve_process.h"
#include "worker/event_files.h"
#include "worker/run_summary.h"

#include <QtTest>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Runs behind a real serve: small ones, what they have written, and their processes.
namespace espalier {

inline constexpr int patient = ServeProcess::patient;

inline Json tiny_config(int epochs) {
    return {{"preset", "quick"}, {"data", "synthetic:1x16x16,2,128"},  {"batch", 16}, {"epochs", epochs},
            {"threads", 1},      {"checkpoint", {{"every_steps", 20}}}};
}

inline std::vector<Json> events_in(const std::filesystem::path& run) {
    std::vector<Json> events;
    visit_backwards(run / events_file, [&](const Json& event) {
        events.insert(events.begin(), event);
        return true;
    });
    return events;
}

/// pid of the run's worker as its last hello says.
inline pid_t worker_pid(const std::filesystem::path& run) {
    pid_t pid = 0;
    visit_backwards(run / events_file, [&](const Json& event) {
        if (protocol::is_event(event, "hello"))
            pid = static_cast<pid_t>(protocol::number_at(event, "pid"));
        return pid == 0;
    });
    return pid;
}

inline bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 3, ") Z") != 0;
}

inline bool gone(pid_t pid) {
    return QTest::qWaitFor([&] { return !alive(pid); }, patient);
}

inline std::string state_of(const std::string& run) { return summarize(RunFolder(run)).state; }

/// A run under way: it has taken steps.
inline std::string start_long_run(ServeProcess& serve) {
    const auto started = serve.get("start", {{"config", tiny_config(90000)}, {"name", "long"}});
    if (!started.contains("path"))
        qFatal("%s", started.dump().c_str());
    const auto path = started.at("path").get<std::string>();
    const auto id = serve.ask("attach", {{"path", path}});
    if (!serve.has_event(id, "checkpoint"))
        qFatal("no checkpoint came");
    serve.get("detach", {{"path", path}});
    return path;
}

} // namespace espalier
