// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/protocol.h"

#include <QProcess>
#include <QTimer>
#include <chrono>
#include <functional>
#include <memory>

namespace espalier {

/// Program and arguments of a child.
struct ChildProgram {
    QString path;
    QStringList arguments;
};

/// A child that speaks the protocol: commands to its stdin, events from its stdout, noise from both output channels.
/// Ending it is a ladder: the line `stop`, then end of stdin, then terminate, then kill. One that is not even gone then
/// (deep in a call of a driver) is reported as killed, and left alone.
class WorkerProcess {
public:
    struct Patience {
        std::chrono::milliseconds after_stop{5000};
        std::chrono::milliseconds after_end_of_input{3000};
        std::chrono::milliseconds after_terminate{2000};
        std::chrono::milliseconds after_kill{10000}; ///< much memory takes its time
        std::chrono::milliseconds after_bye{10000};
    };
    struct Handlers {
        std::function<void(Json)> event;
        std::function<void(std::string_view)> noise; ///< a line of stderr, or of stdout that is no message
        std::function<void(bool crashed, int code)>
            ended; ///< after all output was handed over; code: exit code or signal
    };

    WorkerProcess(ChildProgram program, Handlers handlers, Patience patience);
    /// Kills what still runs.
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// A program that cannot be started is reported as ended with code 127.
    void start();
    [[nodiscard]] bool running() const;
    [[nodiscard]] qint64 pid() const { return process_->processId(); }
    void send(const Json& command);

    /// The rungs from which the ladder is begun; a later one may be called while an earlier one waits.
    void stop();
    void end_input();
    void terminate();
    void kill();
    /// It has said its last word: if it does not leave soon, it is killed.
    void expect_end();

private:
    enum class Rung { none, stop, end_of_input, terminate, kill, given_up };
    void climb(Rung rung);
    void read_output();
    void read_errors();
    void finished(int code, QProcess::ExitStatus status);
    void hand_over_output();
    void give_up();

    ChildProgram program_;
    Handlers handlers_;
    Patience patience_;
    QProcess* process_; ///< outlives this object if it outlives SIGKILL
    QTimer next_rung_;
    Rung rung_ = Rung::none;
    protocol::LineReader output_;
    std::string error_line_; ///< what has come of a line of stderr
    bool ended_ = false;
};

} // namespace espalier
