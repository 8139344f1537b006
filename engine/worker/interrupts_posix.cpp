// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "worker/interrupts.h"

#include <sys/socket.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <array>
#include <csignal>
#include <memory>

namespace espalier {
namespace {

int signal_pipe = -1; // what a signal handler may do is write to this

void on_signal(int number) {
    const char byte = static_cast<char>(number);
    [[maybe_unused]] const auto written = ::write(signal_pipe, &byte, 1);
}

} // namespace

struct Interrupts::State {
    Handlers handlers;
    std::array<int, 2> ends{-1, -1};
    std::unique_ptr<QSocketNotifier> notifier;
};

Interrupts::Interrupts(Handlers handlers) : state_(new State{std::move(handlers), {-1, -1}, nullptr}) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, state_->ends.data()) != 0) {
        delete state_;
        throw Error("The system gives no sockets to receive signals with.");
    }
    signal_pipe = state_->ends[1];
    state_->notifier = std::make_unique<QSocketNotifier>(state_->ends[0], QSocketNotifier::Read);
    QObject::connect(state_->notifier.get(), &QSocketNotifier::activated, state_->notifier.get(), [state = state_] {
        char number = 0;
        if (::read(state->ends[0], &number, 1) != 1)
            return;
        const auto& handler = number == SIGINT ? state->handlers.interrupt : state->handlers.terminate;
        if (handler)
            handler();
    });
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    std::signal(SIGHUP, SIG_IGN);
    ignore_lost_readers();
}

Interrupts::~Interrupts() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    signal_pipe = -1;
    for (const int end : state_->ends)
        ::close(end);
    delete state_;
}

void Interrupts::ignore_lost_readers() { std::signal(SIGPIPE, SIG_IGN); }

} // namespace espalier
