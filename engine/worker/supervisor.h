// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/console.h"
#include "worker/event_files.h"
#include "worker/memory_kills.h"
#include "worker/progress_watch.h"
#include "worker/restart_policy.h"
#include "worker/run_queue.h"
#include "worker/run_socket.h"
#include "worker/sleep_inhibitor.h"
#include "worker/worker_process.h"

#include <QElapsedTimer>
#include <QLockFile>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace espalier {

/// Owns one run: starts its worker, writes its events, takes commands over the run's socket, starts the worker again
/// after a fault. Lives in an event loop (QCoreApplication); nothing else writes into the run's events while it lives.
class Supervisor {
public:
    struct Settings {
        ChildProgram worker; ///< by default this program with `worker RUN_DIR`
        WorkerProcess::Patience patience;
        RestartPolicy::Limits restarts;
        ProgressWatch::Seconds stillness{60};
        QString sleep_inhibitor = QStringLiteral("systemd-inhibit");
        bool queue = false; ///< wait until no other run of the same folder trains or waits (RunQueue)
        std::chrono::milliseconds turn_interval{1000}; ///< between two questions for the turn
    };
    struct Handlers {
        std::function<void(const Json& event)> event; ///< each event, after it was written
        std::function<void(int code)> ended;          ///< exit code of base/error.h; nothing is called afterwards
    };

    [[nodiscard]] static Settings default_settings(const std::filesystem::path& run);

    /// Takes the run's lock; throws ConfigError if another supervisor holds it.
    Supervisor(std::filesystem::path run, Settings settings, Handlers handlers);
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    void start(); ///< the worker, or to wait for its turn
    /// pause, resume, stop or checkpoint; throws ConfigError for another one, or for one that it cannot do while it
    /// waits in the queue: resume begins at once then.
    void command(const std::string& command);
    /// Stop without waiting for a checkpoint.
    void stop_at_once();
    /// The log-off: the worker saves and leaves, the run can be resumed.
    void leave();

private:
    enum class Wish { run, stop, leave };

    [[nodiscard]] bool is_paused() const;
    void look_for_turn();
    void begin();
    void start_worker();
    void take(Json event);
    void mark_superseded(const Json& event);
    void record(Json event);
    void tell(std::string_view words);
    void noise(std::string_view text);
    void worker_ended(bool crashed, int code);
    void decide(const WorkerDeath& death);
    [[nodiscard]] Json after_device_fault(const Decision& decision, const Json& config) const;
    void fall_back(const Decision& decision);
    void warn(const std::string& text);
    void watch();
    [[nodiscard]] bool folder_is_gone() const;
    void enter(const char* phase, const std::string& reason);
    void end(int code, const std::string& reason, bool said_bye);

    std::filesystem::path run_;
    Settings settings_;
    Handlers handlers_;
    std::unique_ptr<QLockFile> lock_;
    EventLog log_;
    std::ofstream words_;         ///< log.txt: what the run does, in words, and the noise of its workers
    std::size_t noise_bytes_ = 0; ///< of it
    Console console_;             ///< puts events into words
    RunSocket socket_;
    RestartPolicy policy_;
    ProgressWatch progress_;
    MemoryKills memory_kills_;
    SleepInhibitor awake_; ///< while a worker is there that does not pause
    RunQueue queue_;
    QTimer turn_;            ///< runs while this run waits in the queue
    std::string queue_told_; ///< why it waits, as was said last
    std::unique_ptr<WorkerProcess> worker_;
    QTimer restart_;
    QTimer ticks_;
    QElapsedTimer since_tick_;

    Wish wish_ = Wish::run;
    bool ended_ = false;
    bool pause_wished_ = false; ///< the latest of pause and resume
    bool disk_full_told_ = false;
    int starts_ = 0;                 ///< workers started in this run, all supervisors together
    std::int64_t last_step_ = 0;     ///< last step in force in the files
    bool steps_seen_ = false;        ///< of the worker that runs now
    std::int64_t furthest_step_ = 0; ///< of the worker that runs now
    bool hung_ = false;
    std::optional<Json> bye_;
    std::string refusal_; ///< why the worker was sent away, if it was: another version, or its folder is gone
    std::string last_words_;
    bool safe_mode_ = false;                    ///< of the worker that runs now
    std::string backend_;                       ///< the same: as its plan says, as the configuration wants it before
    std::vector<std::string> waiting_commands_; ///< came between two workers
};

} // namespace espalier
