// SPDX-License-Identifier: Apache-2.0
#include "worker/worker_process.h"

#include <csignal>

namespace espalier {
namespace {

constexpr std::size_t longest_error_line = 4096;
constexpr int cannot_start = 127;
constexpr int killed = 9; // SIGKILL

} // namespace

WorkerProcess::WorkerProcess(ChildProgram program, Handlers handlers, Patience patience)
    : program_(std::move(program)), handlers_(std::move(handlers)), patience_(patience), process_(new QProcess),
      output_([this](Json event) { handlers_.event(std::move(event)); },
              [this](std::string_view text) { handlers_.noise(text); }) {
    next_rung_.setSingleShot(true);
    QObject::connect(&next_rung_, &QTimer::timeout, process_,
                     [this] { climb(static_cast<Rung>(static_cast<int>(rung_) + 1)); });
    QObject::connect(process_, &QProcess::readyReadStandardOutput, process_, [this] { read_output(); });
    QObject::connect(process_, &QProcess::readyReadStandardError, process_, [this] { read_errors(); });
    QObject::connect(process_, &QProcess::finished, process_,
                     [this](int code, QProcess::ExitStatus status) { finished(code, status); });
    QObject::connect(process_, &QProcess::errorOccurred, process_, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart || ended_)
            return;
        ended_ = true;
        handlers_.noise(process_->errorString().toStdString());
        handlers_.ended(false, cannot_start);
    });
#ifdef Q_OS_UNIX
    // Ctrl-C in a terminal reaches the whole group; the supervisor alone decides what it means. Ignoring outlives exec.
    process_->setChildProcessModifier([] { std::signal(SIGINT, SIG_IGN); });
#endif
}

WorkerProcess::~WorkerProcess() {
    process_->disconnect();
    if (process_->state() != QProcess::NotRunning && rung_ != Rung::given_up) {
        process_->kill();
        process_->waitForFinished(5000);
    }
    if (process_->state() == QProcess::NotRunning)
        delete process_;
    else // its own destructor would wait
        QObject::connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
}

void WorkerProcess::start() { process_->start(program_.path, program_.arguments); }

bool WorkerProcess::running() const { return process_->state() != QProcess::NotRunning; }

void WorkerProcess::send(const Json& command) {
    for (const auto& line : protocol::to_lines(command))
        process_->write(line.data(), static_cast<qint64>(line.size()));
}

void WorkerProcess::stop() {
    if (rung_ < Rung::stop)
        climb(Rung::stop);
}

void WorkerProcess::end_input() {
    if (rung_ < Rung::end_of_input)
        climb(Rung::end_of_input);
}

void WorkerProcess::terminate() {
    if (rung_ < Rung::terminate)
        climb(Rung::terminate);
}

void WorkerProcess::kill() { climb(Rung::kill); }

void WorkerProcess::expect_end() {
    if (rung_ >= Rung::terminate) // it is on its way already
        return;
    rung_ = Rung::terminate;
    next_rung_.start(patience_.after_bye);
}

void WorkerProcess::climb(Rung rung) {
    rung_ = rung;
    if (!running())
        return;
    switch (rung) {
    case Rung::none:
        break;
    case Rung::stop:
        send({{"command", "stop"}});
        next_rung_.start(patience_.after_stop);
        break;
    case Rung::end_of_input:
        process_->closeWriteChannel();
        next_rung_.start(patience_.after_end_of_input);
        break;
    case Rung::terminate:
        process_->terminate();
        next_rung_.start(patience_.after_terminate);
        break;
    case Rung::kill:
        process_->kill();
        next_rung_.start(patience_.after_kill);
        break;
    case Rung::given_up:
        give_up();
        break;
    }
}

void WorkerProcess::read_output() {
    const auto bytes = process_->readAllStandardOutput();
    output_.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

void WorkerProcess::read_errors() {
    const auto bytes = process_->readAllStandardError();
    for (const char c : bytes) {
        if ((c == '\n' || error_line_.size() == longest_error_line) && !error_line_.empty()) {
            handlers_.noise(error_line_);
            error_line_.clear();
        }
        if (c != '\n' && c != '\r')
            error_line_ += c;
    }
}

void WorkerProcess::finished(int code, QProcess::ExitStatus status) {
    if (ended_)
        return;
    hand_over_output();
    handlers_.ended(status == QProcess::CrashExit, code);
}

void WorkerProcess::hand_over_output() {
    ended_ = true;
    next_rung_.stop();
    read_output();
    read_errors();
    output_.finish();
    if (!error_line_.empty())
        handlers_.noise(error_line_);
}

void WorkerProcess::give_up() {
    if (ended_)
        return;
    hand_over_output();
    handlers_.noise("Process " + std::to_string(pid()) +
                    " was killed and is not gone: a driver's call holds it. It is left alone.");
    handlers_.ended(true, killed);
}

} // namespace espalier
