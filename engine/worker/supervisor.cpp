// SPDX-License-Identifier: Apache-2.0
#include "worker/supervisor.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "io/run_folder.h"

#include <QCoreApplication>
#include <QDateTime>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace espalier {
namespace {

constexpr std::size_t noise_kept = 16 * 1024 * 1024; // in log.txt, a supervisor's life
constexpr std::array commands = {"pause", "resume", "stop", "checkpoint"};

std::string seconds_text(ProgressWatch::Seconds seconds) { return std::to_string(std::lround(seconds.count())) + " s"; }

QString path_text(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

/// As the queue knows it.
std::string run_name(const std::filesystem::path& run) { return RunFolder(run).absolute_path().filename().string(); }

/// What `patch` would overwrite: laid over the patched values, it brings back these. Null where there was nothing.
Json before_patch(const Json& values, const Json& patch) {
    Json before = Json::object();
    for (const auto& [key, change] : patch.items()) {
        const auto found = values.find(key);
        if (found == values.end())
            before[key] = nullptr;
        else
            before[key] = change.is_object() && found->is_object() ? before_patch(*found, change) : *found;
    }
    return before;
}

int starts_so_far(const std::filesystem::path& run) {
    int starts = 0;
    visit_backwards(run / events_file, [&](const Json& event) {
        if (!protocol::is_event(event, "hello"))
            return true;
        starts = static_cast<int>(protocol::whole_at(event, "run", 1));
        return false;
    });
    return starts;
}

std::unique_ptr<QLockFile> locked(const std::filesystem::path& run) {
    auto lock = std::make_unique<QLockFile>(path_text(run / "supervisor.lock"));
    lock->setStaleLockTime(0); // held as long as its process lives, however long that is
    if (!lock->tryLock(0)) {
        qint64 pid = 0;
        QString host, program;
        if (lock->error() == QLockFile::LockFailedError && lock->getLockInfo(&pid, &host, &program))
            throw ConfigError("The run in " + run.string() + " belongs to another supervisor, process " +
                              std::to_string(pid) + " on " + host.toStdString() + ". Attach to it, or stop it first.");
        // The lock does not say why. A small file does, in the system's words: full, read-only, not allowed.
        const auto trial = run / "supervisor.trial";
        write_file_atomically(trial, std::string(4096, ' '));
        std::filesystem::remove(trial);
        throw Error("The run in " + run.string() +
                    " cannot be locked, although its folder can be written. Does its "
                    "file system allow locks? Choose another folder.");
    }
    return lock;
}

} // namespace

Supervisor::Settings Supervisor::default_settings(const std::filesystem::path& run) {
    Settings settings;
    settings.worker = {QCoreApplication::applicationFilePath(), {"worker", path_text(run)}};
    return settings;
}

Supervisor::Supervisor(std::filesystem::path run, Settings settings, Handlers handlers)
    : run_(std::move(run)), settings_(std::move(settings)), handlers_(std::move(handlers)), lock_(locked(run_)),
      log_(run_), words_(RunFolder(run_).log(), std::ios::binary | std::ios::app),
      console_([this](std::string_view words) { tell(words); }, false),
      socket_(
          run_, [this](const std::string& name) { command(name); }, [this] { return is_paused(); }),
      policy_(settings_.restarts), progress_(settings_.stillness), awake_(settings_.sleep_inhibitor),
      queue_(RunFolder(run_).absolute_path().parent_path()), starts_(starts_so_far(run_)),
      last_step_(last_step_of(run_)) {
    turn_.setSingleShot(true);
    QObject::connect(&turn_, &QTimer::timeout, &turn_, [this] { look_for_turn(); });
    restart_.setSingleShot(true);
    QObject::connect(&restart_, &QTimer::timeout, &restart_, [this] { start_worker(); });
    QObject::connect(&ticks_, &QTimer::timeout, &ticks_, [this] { watch(); });
}

Supervisor::~Supervisor() = default;

void Supervisor::start() {
    if (settings_.queue)
        turn_.start(0);
    else
        begin();
}

void Supervisor::look_for_turn() {
    try {
        const auto turn = queue_.ask(run_name(run_));
        if (turn && turn->come)
            return start_worker();
        if (turn && turn->reason != queue_told_)
            enter("queued", queue_told_ = turn->reason);
        turn_.start(settings_.turn_interval);
    } catch (const Error& error) {
        end(static_cast<int>(ExitCode::failed), error.what(), false);
    }
}

/// Without waiting for a turn, or any longer.
void Supervisor::begin() {
    turn_.stop();
    try {
        queue_.leave(run_name(run_));
    } catch (const Error& error) {
        warn(error.what()); // then others wait for it until it ends
    }
    start_worker();
}

void Supervisor::command(const std::string& name) {
    if (std::find(commands.begin(), commands.end(), name) == commands.end())
        throw ConfigError("A run takes the commands pause, resume, stop and checkpoint; this came: " + name + ".");
    if (ended_)
        throw ConfigError("The run has ended.");
    if (turn_.isActive() && name == "resume")
        return begin();
    if (turn_.isActive() && name != "stop")
        throw ConfigError("The run waits in the queue. It can be stopped, or begun at once with resume.");
    if (name == "pause" || name == "resume")
        pause_wished_ = name == "pause";
    if (name == "stop") {
        wish_ = Wish::stop;
        if (worker_)
            worker_->stop();
        else
            end(static_cast<int>(ExitCode::stopped), "Stopped by the user.", false);
    } else if (worker_) {
        worker_->send({{"command", name}});
    } else {
        waiting_commands_.push_back(name);
    }
}

/// Not from the moment on at which it was told to go on, which its worker may take a while for: no other one of the
/// queue is to begin then.
bool Supervisor::is_paused() const { return worker_ && pause_wished_ && progress_.phase() == "paused"; }

void Supervisor::stop_at_once() {
    wish_ = Wish::stop;
    if (worker_)
        worker_->kill();
    else
        end(static_cast<int>(ExitCode::stopped), "Stopped by the user.", false);
}

void Supervisor::leave() {
    if (wish_ == Wish::run)
        wish_ = Wish::leave;
    if (worker_)
        worker_->end_input();
    else
        end(static_cast<int>(ExitCode::failed),
            turn_.isActive() ? "It was waiting in the queue when its supervisor was ended. Resume it to train it."
                             : "The supervisor was ended.",
            false);
}

void Supervisor::start_worker() {
    if (starts_ > 0) // an earlier worker may have been killed in a pause, and its events still say so
        enter("preparing", "");
    steps_seen_ = hung_ = false;
    furthest_step_ = 0;
    bye_.reset();
    last_words_.clear();
    progress_.restart();
    const auto config = read_object(RunFolder(run_).config());
    const auto toggles = config.value("toggles", Json::object());
    safe_mode_ = toggles.is_object() && toggles.value("safe_mode", Json()) == Json(true);
    backend_ = protocol::text_at(config, "backend");
    ++starts_;
    worker_ = std::make_unique<WorkerProcess>(
        settings_.worker,
        WorkerProcess::Handlers{
            [this](Json event) { take(std::move(event)); }, [this](std::string_view text) { noise(text); },
            [this](bool crashed, int code) {
                // Its own signal is still on the stack: let go of it from the event loop.
                QTimer::singleShot(0, &restart_, [this, crashed, code] { worker_ended(crashed, code); });
            }},
        settings_.patience);
    since_tick_.start();
    ticks_.start(std::chrono::milliseconds(std::min(1000L, std::lround(settings_.stillness.count() * 100))));
    worker_->start();
    for (const auto& name : std::exchange(waiting_commands_, {}))
        worker_->send({{"command", name}});
}

void Supervisor::take(Json event) {
    if (protocol::text_at(event, "type").empty())
        return noise(event.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (protocol::is_event(event, "hello")) {
        try {
            protocol::check_version(protocol::text_at(event, "protocol"));
        } catch (const ConfigError& error) {
            refusal_ = error.what();
            worker_->kill();
            return;
        }
        event["run"] = starts_;
    }
    mark_superseded(event);
    progress_.saw(event);
    awake_.hold(progress_.phase() != "paused");
    if (protocol::is_event(event, "plan"))
        backend_ = protocol::text_at(event, "backend"); // what "auto" came to
    if (wish_ != Wish::leave && protocol::text_at(event, "phase") == "interrupted")
        return; // whether the run is, is decided here
    if (protocol::is_event(event, "bye")) {
        bye_ = std::move(event); // recorded when it has really gone
        worker_->expect_end();
    } else {
        record(std::move(event));
    }
}

/// A worker that resumes from a checkpoint takes steps again that an earlier one had taken and lost.
void Supervisor::mark_superseded(const Json& event) {
    if (protocol::is_event(event, "superseded")) {
        last_step_ = protocol::whole_at(event, "from_step");
        return;
    }
    if (!protocol::is_event(event, "steps"))
        return;
    const auto before = protocol::whole_at(event, "step") - 1;
    if (!steps_seen_ && before < last_step_) {
        auto mark = protocol::make_event("superseded");
        mark["from_step"] = before;
        record(std::move(mark));
    }
    steps_seen_ = true;
    last_step_ = protocol::last_step(event);
    furthest_step_ = std::max(furthest_step_, last_step_);
}

void Supervisor::record(Json event) {
    if (!event.contains("time"))
        event["time"] = protocol::make_event("")["time"];
    try {
        log_.append(event);
    } catch (const Error& error) {
        // Training is worth more than its record; said once, to those who watch.
        if (!std::exchange(disk_full_told_, true) && handlers_.event) {
            auto warning = protocol::make_event("warning");
            warning["text"] = error.what();
            handlers_.event(warning);
        }
    }
    socket_.tell_grown();
    if (!protocol::is_event(event, "steps")) // there are millions, and a log has no bar to draw
        console_.show(event);
    if (handlers_.event)
        handlers_.event(event);
}

void Supervisor::tell(std::string_view words) {
    const auto now = QDateTime::currentDateTime();
    words_ << now.toOffsetFromUtc(now.offsetFromUtc()).toString(Qt::ISODate).toStdString() << "  " << words;
    words_.flush();
}

void Supervisor::noise(std::string_view text) {
    last_words_ = text;
    if (noise_bytes_ > noise_kept)
        return;
    noise_bytes_ += text.size() + 1;
    words_ << text << '\n';
    if (noise_bytes_ > noise_kept)
        words_ << "(the worker says too much: the rest is left out)\n";
    words_.flush();
}

void Supervisor::worker_ended(bool crashed, int code) {
    ticks_.stop();
    worker_.reset();
    WorkerDeath death;
    if (bye_)
        death.bye = static_cast<int>(protocol::whole_at(*bye_, "code"));
    if (bye_) {
        death.reason = protocol::text_at(*bye_, "reason");
        death.wants_change = bye_->contains("next");
        death.sent_away = progress_.phase() == "interrupted"; // and not by the end of this process
    }
    const auto now = MemoryKills::Clock::now();
    memory_kills_.look(now);
    death.memory_ran_out = memory_kills_.recent(now);
    death.safe_mode = safe_mode_;
    death.on_cpu = backend_ == "cpu";
    death.crashed = crashed;
    death.exit_code = code;
    death.hung = hung_;
    death.step = furthest_step_;
    death.last_words = last_words_;
    decide(death);
}

void Supervisor::decide(const WorkerDeath& death) {
    constexpr int stopped = static_cast<int>(ExitCode::stopped);
    if (wish_ == Wish::stop && death.bye == stopped)
        return end(stopped, "", true);
    if (wish_ == Wish::stop && death.sent_away) // it had not heard of the stop, but of what comes after it
        return end(stopped, "Stopped by the user.", false);
    if (wish_ == Wish::stop && !(death.bye && *death.bye == 0))
        return end(stopped,
                   death.reason.empty() ? "Stopped by the user; the worker did not say how it went."
                                        : "Stopped by the user, but the worker failed: " + death.reason,
                   false);
    if (!refusal_.empty())
        return end(static_cast<int>(folder_is_gone() ? ExitCode::failed : ExitCode::bad_configuration), refusal_,
                   false);
    if (wish_ == Wish::leave && !(death.bye && *death.bye == 0))
        return end(static_cast<int>(ExitCode::failed), "The supervisor was ended.", false);

    const auto decision = policy_.decide(death, RestartPolicy::Clock::now());
    if (decision.kind == Decision::Kind::end)
        return end(decision.code, decision.reason, death.bye && !death.sent_away);

    if (decision.kind == Decision::Kind::restart)
        warn(decision.reason + " It is started again from the last checkpoint.");
    else
        fall_back(decision);
    if (pause_wished_) // which the worker had heard, or not even
        waiting_commands_.emplace_back("pause");
    restart_.start(decision.delay);
}

/// The rung that answers a device fault, with what is known of the fault.
Json Supervisor::after_device_fault(const Decision& decision, const Json& config) const {
    const bool to_cpu = decision.kind == Decision::Kind::restart_on_cpu;
    Json rung;
    rung["rung"] = to_cpu ? "cpu" : "safe_mode";
    rung["from"] = to_cpu ? protocol::text_at(config, "backend") : "off";
    rung["to"] = to_cpu ? "cpu" : "on";
    rung["reason"] = decision.reason;
    rung["set"] = to_cpu ? Json{{"backend", "cpu"}} : Json{{"toggles", {{"safe_mode", true}}}};
    if (bye_ && bye_->contains("blame")) {
        const auto& blame = (*bye_)["blame"];
        for (const char* key : {"layer", "kernel", "memory", "step", "certainty"})
            if (blame.contains(key))
                rung[key] = blame[key];
    }
    return rung;
}

/// A rung of the ladder is a change of the run's configuration, so that the user sees it and can take it back.
void Supervisor::fall_back(const Decision& decision) {
    try {
        const RunFolder folder(run_);
        auto config = read_object(folder.config());
        Json rung =
            decision.kind == Decision::Kind::restart_changed ? (*bye_)["next"] : after_device_fault(decision, config);
        const Json set = rung.value("set", Json::object());
        rung.erase("set");
        if (!config.empty()) {
            rung["undo"] = before_patch(config, set);
            config.merge_patch(set);
            write_json(folder.config(), config);
        }
        auto event = protocol::make_event("fallback");
        event.update(rung);
        record(std::move(event));
        if (auto passport = read_object(folder.passport()); !passport.empty()) {
            auto& fallbacks = passport["fallbacks"];
            if (!fallbacks.is_array())
                fallbacks = Json::array();
            fallbacks.push_back(std::move(rung));
            write_json(folder.passport(), passport);
        }
    } catch (const std::exception& error) { // then the next worker tries as before
        warn(error.what());
    }
}

void Supervisor::warn(const std::string& text) {
    auto warning = protocol::make_event("warning");
    warning["text"] = text;
    record(std::move(warning));
}

void Supervisor::watch() {
    memory_kills_.look(MemoryKills::Clock::now());
    const auto elapsed = ProgressWatch::Seconds(static_cast<double>(since_tick_.restart()) / 1000.0);
    if (!worker_ || wish_ != Wish::run)
        return;
    if (folder_is_gone()) { // nobody would find what it learns, or could stop it
        refusal_ = "The run's folder, " + run_.string() + ", was removed or renamed while the run trained.";
        worker_->kill();
        return;
    }
    switch (progress_.tick(elapsed)) {
    case ProgressWatch::Verdict::fine:
        break;
    case ProgressWatch::Verdict::slow:
        warn("No progress for " + seconds_text(progress_.still_for()) + " in phase " + progress_.phase() +
             ". After as long again the worker is started anew.");
        break;
    case ProgressWatch::Verdict::hung:
        hung_ = true;
        worker_->terminate();
        break;
    }
}

bool Supervisor::folder_is_gone() const {
    std::error_code error; // a disk that does not answer is no folder that is gone
    return std::filesystem::status(run_, error).type() == std::filesystem::file_type::not_found;
}

void Supervisor::enter(const char* phase, const std::string& reason) {
    auto event = protocol::make_event("phase");
    event["phase"] = phase;
    event["step"] = last_step_;
    event["reason"] = reason;
    record(std::move(event));
}

void Supervisor::end(int code, const std::string& reason, bool said_bye) {
    ended_ = true;
    restart_.stop();
    if (turn_.isActive()) {
        turn_.stop();
        try {
            queue_.leave(run_name(run_));
        } catch (const Error&) { // it is dropped by the others when it does not answer
        }
    }
    awake_.hold(false);
    constexpr std::array last_phases = {"finished", "stopped", "failed", "interrupted"};
    if (said_bye && std::ranges::find(last_phases, progress_.phase()) == last_phases.end())
        enter("failed", reason.empty() ? protocol::text_at(*bye_, "reason") : reason); // it hoped to be started again
    if (!said_bye) {
        const bool left = wish_ == Wish::leave;
        if (!left && code != static_cast<int>(ExitCode::stopped)) {
            auto error = protocol::make_event("error");
            error["text"] = reason;
            error["code"] = code;
            record(std::move(error));
        }
        enter(left ? "interrupted" : code == static_cast<int>(ExitCode::stopped) ? "stopped" : "failed", reason);
    }
    if (said_bye || wish_ != Wish::leave) { // without a bye the run counts as interrupted
        auto bye = said_bye ? *bye_ : protocol::make_event("bye");
        bye["code"] = code;
        if (!reason.empty())
            bye["reason"] = reason;
        record(std::move(bye));
    }
    if (handlers_.ended)
        handlers_.ended(code);
}

} // namespace espalier
