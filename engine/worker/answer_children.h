// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/child_request.h"
#include "worker/requests.h"

#include <QThread>
#include <chrono>

namespace espalier {

/// Has requests that may ask a device something answered by children (`espalier-train answer`, this same program), so
/// that a driver that crashes or hangs takes a child down, not the window's connection. Serve itself never opens a
/// device. A child that has answered is kept for a while: what a device and its libraries cost to open is paid once
/// for all the edits of a form. Used from any thread.
class AnswerChildren {
public:
    AnswerChildren();
    /// Ends all children, and waits a second for them at most.
    ~AnswerChildren();
    AnswerChildren(const AnswerChildren&) = delete;
    AnswerChildren& operator=(const AnswerChildren&) = delete;

    /// The request's answer; waits for it. When the request is cancelled, its child has a second to come to an end and
    /// is killed then. Throws what the child's function threw, and DeviceError in one sentence for a child that
    /// crashes, says nothing or takes longer than `patience` (0: any time).
    [[nodiscard]] Json answer(const std::string& request, const Json& arguments, const RequestContext& context,
                              std::chrono::milliseconds patience = std::chrono::milliseconds::zero());

    /// The probe of devices. Where the child dies of it, or the driver fails, the answer comes without the GPU, says
    /// why, and `complete` becomes false.
    [[nodiscard]] Json probe(const RequestContext& context, std::chrono::milliseconds patience, bool& complete);

    /// Throws in words if this machine cannot do a run. The backend (and device) that it names cannot be opened:
    /// ConfigError if it is not there, DeviceError if its driver fails; the processor is always there. It cannot be
    /// made small enough for its memory_limit_mib: OutOfMemory. Where it has none it is not planned here, which takes
    /// seconds on a GPU: what is free then may be more by the time that it begins.
    void check_machine(const RunConfig& config, const RequestContext& context, const ChildPatience& patience);

    /// Ends those that are kept, and waits a second for them at most: a run that starts finds the device's memory free.
    void let_go();

private:
    class Home;
    QThread thread_;
    Home* home_; ///< lives in the thread, as the children do, and ends with it
};

} // namespace espalier
