// SPDX-License-Identifier: Apache-2.0
#include "worker/child_request.h"

#include "base/error.h"
#include "base/error_words.h"
#include "worker/protocol.h"
#include "worker/requests.h"
#include "worker/terminal.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

namespace espalier {
namespace {

using protocol::Reply;

/// Lines of stdin, as they come. When it ends, so does the process, also in the middle of a call of a driver.
class Lines {
public:
    Lines() {
        std::thread([this] {
            std::string block(64 * 1024, '\0');
            while (const auto count = read_input(block.data(), block.size()))
                take(std::string_view(block).substr(0, count));
            std::_Exit(static_cast<int>(ExitCode::stopped));
        }).detach();
    }
    std::string next() {
        std::unique_lock lock(mutex_);
        news_.wait(lock, [this] { return !lines_.empty(); });
        auto line = std::move(lines_.front());
        lines_.pop_front();
        return line;
    }

private:
    void take(std::string_view bytes) {
        for (const char byte : bytes) {
            if (byte != '\n') {
                begun_ += byte;
                continue;
            }
            const std::lock_guard lock(mutex_);
            lines_.push_back(std::exchange(begun_, {}));
            news_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<std::string> lines_;
    std::string begun_;
};

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

void answer_requests() {
    set_binary_streams();
    static Lines lines; // its thread outlives every scope
    while (true) {
        try {
            const auto message = protocol::parse_line(lines.next());
            const auto request = protocol::to_request(message ? *message : Json::object());
            try {
                answer(request);
            } catch (const Error& error) {
                say(protocol::error_reply(request.id, error.what(), static_cast<int>(error.code())));
            } catch (const std::bad_alloc&) {
                say(protocol::error_reply(request.id, "This machine's memory does not suffice.",
                                          static_cast<int>(ExitCode::out_of_memory)));
            } catch (const std::exception& error) {
                say(protocol::error_reply(request.id, words_of(error), static_cast<int>(ExitCode::failed)));
            }
        } catch (const ConfigError& error) {
            std::fprintf(stderr, "espalier-train: %s\n", error.what());
            std::_Exit(static_cast<int>(error.code())); // not by return: a driver's own end may hang
        }
    }
}

} // namespace espalier
