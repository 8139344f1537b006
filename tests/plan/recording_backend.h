// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/forwarding_backend.h"

#include <functional>
#include <string>

namespace espalier::testing {

/// A host backend that records: a replay runs the same kernels in another order that their dependencies allow. What is
/// on its way to the host is late: the first two questions after a start say that it is not there yet.
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
    /// Of those, how many are still there.
    [[nodiscard]] int alive() const { return alive_; }
    [[nodiscard]] int replays() const { return replays_; }
    /// Steps timed in a recording.
    [[nodiscard]] int timed() const { return timed_; }

    /// Called when a replay has run; may throw.
    std::function<void()> after_replay;

    /// Claims to be a device of its own, so that a run reads its results as from one.
    [[nodiscard]] bool in_host_memory() const override { return false; }
    [[nodiscard]] int steps_side_by_side() const override { return 4; }
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override;
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t next)>& leave) override;
    [[nodiscard]] std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout) override;

private:
    class StoredCalls;

    Fault fault_;
    int recordings_ = 0, alive_ = 0, replays_ = 0, timed_ = 0;
};

} // namespace espalier::testing
