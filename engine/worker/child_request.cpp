// SPDX-License-Identifier: Apache-2.0
#include "worker/child_request.h"

#include "base/error.h"
#include "worker/protocol.h"
#include "worker/terminal.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

namespace espalier {
namespace {

using protocol::Reply;

constexpr int look_around_ms = 50; ///< between two looks at a cancel
constexpr int farewell_ms = 1000;  ///< for a killed child to be gone

/// A child deep in a driver's call does not even heed SIGKILL before that call returns, and nobody waits for it: the
/// main thread, which has an event loop, hears of its end.
void abandon(QProcess* process) {
    QObject::connect(process, &QProcess::finished, process, &QObject::deleteLater);
    process->moveToThread(QCoreApplication::instance()->thread());
}

std::string last_line(QByteArray text) {
    text = text.trimmed();
    return text.mid(text.lastIndexOf('\n') + 1).left(300).toStdString();
}

/// Reads what a child says until it ends.
class Conversation {
public:
    Conversation(const protocol::Request& request, const RequestContext& context) : context_(context) {
        process_->start(QCoreApplication::applicationFilePath(), {"answer"});
        for (const auto& line : protocol::to_lines(to_message(request)))
            process_->write(line.data(), static_cast<qint64>(line.size()));
    }
    ~Conversation() {
        process_->kill();
        if (process_->state() != QProcess::NotRunning && !process_->waitForFinished(farewell_ms))
            abandon(process_.release());
    }
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;

    Json answer(std::chrono::milliseconds patience) {
        QElapsedTimer waited;
        waited.start();
        if (!process_->waitForStarted())
            throw Error("The program cannot start itself for this request: " + process_->errorString().toStdString() +
                        ".");
        while (!answer_ && process_->state() != QProcess::NotRunning) {
            process_->waitForReadyRead(look_around_ms);
            read();
            context_.check();
            if (patience.count() > 0 && waited.elapsed() > patience.count())
                throw DeviceError("The process that asks the devices did not answer within " +
                                  std::to_string(patience.count() / 1000) +
                                  " s and was ended. The GPU's driver may hang: restart the machine, or choose the cpu "
                                  "backend.");
        }
        read();
        if (!answer_)
            throw DeviceError(death());
        if (answer_->kind == Reply::Kind::error)
            throw Error(protocol::text_at(answer_->body, "text"),
                        static_cast<ExitCode>(protocol::whole_at(answer_->body, "code", 1)));
        protocol::join_part(parts_, answer_->body);
        return std::move(parts_);
    }

private:
    void read() {
        const auto bytes = process_->readAllStandardOutput();
        reader_.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    }

    void take(const Json& message) {
        auto reply = protocol::to_reply(message);
        if (!reply)
            return;
        switch (reply->kind) {
        case Reply::Kind::progress:
            context_.progress(std::move(reply->body));
            break;
        case Reply::Kind::part:
            protocol::join_part(parts_, reply->body);
            break;
        default:
            answer_ = std::move(reply);
        }
    }

    std::string death() {
        const auto said = last_line(process_->readAllStandardError());
        return "The process that asks the devices ended unexpectedly (" +
               (process_->exitStatus() == QProcess::CrashExit ? "signal " : std::string("exit code ")) +
               std::to_string(process_->exitCode()) + (said.empty() ? "" : ": " + said) +
               "). Choose the cpu backend, or install the GPU's driver and this program again.";
    }

    const RequestContext& context_;
    std::unique_ptr<QProcess> process_ = std::make_unique<QProcess>();
    Json parts_ = Json::object();
    std::optional<Reply> answer_;
    protocol::LineReader reader_{[this](const Json& message) { take(message); }};
};

/// The first line of stdin, without what follows.
std::string read_line() {
    std::string line;
    std::string block(64 * 1024, '\0');
    while (const auto count = read_input(block.data(), block.size())) {
        line.append(block, 0, count);
        if (const auto end = line.find('\n'); end != std::string::npos)
            return line.substr(0, end);
    }
    return line;
}

void say(const Reply& reply) {
    for (const auto& line : protocol::to_lines(to_message(reply)))
        std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

void answer(const protocol::Request& request) {
    const auto function = request_functions().find(request.name);
    if (function == request_functions().end())
        throw ConfigError("This program knows no request \"" + request.name + "\".");
    RequestContext context;
    context.runs_root = protocol::text_at(request.arguments, "runs_root");
    context.progress = [&](Json body) { say({request.id, Reply::Kind::progress, std::move(body)}); };
    context.part = [&](Json body) { say({request.id, Reply::Kind::part, std::move(body)}); };
    say({request.id, Reply::Kind::answer, function->second(request.arguments, context)});
}

} // namespace

bool is_for_child(const std::string& request) {
    return request == "plan" || request == "predict" || request == "evaluate" || request == "confusion" ||
           request == "export";
}

Json answer_in_child(const std::string& request, const Json& arguments, const RequestContext& context,
                     std::chrono::milliseconds patience) {
    auto whole = arguments; // the child keeps its runs where this program does
    whole["runs_root"] = context.runs_root.string();
    return Conversation({0, request, std::move(whole)}, context).answer(patience);
}

Json probe_in_child(const RequestContext& context, std::chrono::milliseconds patience, bool& complete) {
    try {
        return answer_in_child("probe", Json::object(), context, patience);
    } catch (const Error& error) {
        if (error.code() != ExitCode::device_fault)
            throw;
        complete = false;
        return answer_in_child("probe", {{"unusable", {{"cuda", error.what()}}}}, context, patience);
    }
}

int answer_one_request() {
    set_binary_streams();
    const auto message = protocol::parse_line(read_line());
    std::thread([] {
        char block[256];
        while (read_input(block, sizeof block) > 0) {
        }
        std::_Exit(static_cast<int>(ExitCode::stopped)); // also in the middle of a call of the driver
    }).detach();
    try {
        const auto request = protocol::to_request(message ? *message : Json::object());
        try {
            answer(request);
        } catch (const Error& error) {
            say(protocol::error_reply(request.id, error.what(), static_cast<int>(error.code())));
        } catch (const std::exception& error) {
            say(protocol::error_reply(request.id, error.what(), static_cast<int>(ExitCode::failed)));
        }
    } catch (const ConfigError& error) {
        std::fprintf(stderr, "espalier-train: %s\n", error.what());
        std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(0); // a thread still reads, and a driver's own end may hang
}

} // namespace espalier
