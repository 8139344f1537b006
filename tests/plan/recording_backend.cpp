// SPDX-License-Identifier: Apache-2.0
#include "plan/recording_backend.h"

#include "base/error.h"

#include <algorithm>

namespace espalier::testing {
namespace {

class StoredCalls final : public Recording {
public:
    StoredCalls(std::vector<Kernel*> kernels, bool fails, int& replays)
        : kernels_(std::move(kernels)), fails_(fails), replays_(replays) {}

    void replay() override {
        if (fails_)
            throw DeviceError("This replay was made to fail.");
        ++replays_;
        for (auto* kernel : kernels_)
            kernel->run();
    }

private:
    std::vector<Kernel*> kernels_;
    bool fails_;
    int& replays_;
};

/// Always the last kernel whose turn it may be.
std::vector<Kernel*> another_order(std::span<Kernel* const> kernels, std::span<const std::vector<std::int32_t>> after) {
    std::vector<Kernel*> order;
    std::vector<char> done(kernels.size(), 0);
    while (order.size() < kernels.size())
        for (std::size_t i = kernels.size(); i-- > 0;)
            if (!done[i] && std::ranges::all_of(after[i], [&](auto step) { return done[std::size_t(step)] != 0; })) {
                order.push_back(kernels[i]);
                done[i] = 1;
                break;
            }
    return order;
}

} // namespace

std::unique_ptr<Recording> RecordingBackend::record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) {
    if (fault_ == Fault::cannot_record)
        throw DeviceError("This recording was made to fail.");
    ++recordings_;
    auto order = another_order(kernels, after);
    if (fault_ == Fault::leaves_out_the_last)
        std::erase(order, kernels.back());
    return std::make_unique<StoredCalls>(std::move(order), fault_ == Fault::fails_when_replayed, replays_);
}

} // namespace espalier::testing
