// SPDX-License-Identifier: Apache-2.0
#include "worker/interrupts.h"

#include <windows.h>

#include <QCoreApplication>
#include <QMetaObject>
#include <atomic>

namespace espalier {

struct Interrupts::State {
    Handlers handlers;
};

namespace {

std::atomic<Interrupts::State*> current{nullptr};

// Called by the system in a thread of its own.
BOOL WINAPI on_control(DWORD event) {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [event] {
            if (auto* state = current.load()) {
                const bool interrupt = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
                const auto& handler = interrupt ? state->handlers.interrupt : state->handlers.terminate;
                if (handler)
                    handler();
            }
        },
        Qt::QueuedConnection);
    return TRUE;
}

} // namespace

Interrupts::Interrupts(Handlers handlers) : state_(new State{std::move(handlers)}) {
    current = state_;
    SetConsoleCtrlHandler(on_control, TRUE);
}

Interrupts::~Interrupts() {
    SetConsoleCtrlHandler(on_control, FALSE);
    current = nullptr;
    delete state_;
}

void Interrupts::ignore_lost_readers() {}

} // namespace espalier
