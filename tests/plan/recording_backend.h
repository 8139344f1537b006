// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/forwarding_backend.h"

#include <functional>
#include <string>

namespace espalier::testing {

/// A host backend that records: a replay runs the same kernels in another order that their dependencies allow.
class RecordingBackend final : public ForwardingBackend {
public:
    enum class Fault {
        none,
        leaves_out_the_last, ///< kernel: whatever it writes stays as it was
        cannot_record,
        fails_when_replayed,
    };

    explicit RecordingBackend(Backend& backend, Fault fault = Fault::none)
        : ForwardingBackend(backend), fault_(fault) {}
    RecordingBackend(std::unique_ptr<Backend> backend, Fault fault)
        : ForwardingBackend(std::move(backend)), fault_(fault) {}

    [[nodiscard]] int recordings() const { return recordings_; }
    [[nodiscard]] int replays() const { return replays_; }

    /// Claims to be a device of its own, so that a run reads its results as from one.
    [[nodiscard]] bool in_host_memory() const override { return false; }
    [[nodiscard]] int steps_side_by_side() const override { return 4; }
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override;

private:
    Fault fault_;
    int recordings_ = 0, replays_ = 0;
};

} // namespace espalier::testing
