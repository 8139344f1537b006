// SPDX-License-Identifier: Apache-2.0
#include "plan/recording_backend.h"

#include "base/error.h"

#include <algorithm>

namespace espalier::testing {
namespace {

class LateDownload final : public Download {
public:
    explicit LateDownload(std::unique_ptr<Download> download) : download_(std::move(download)) {}

    void start(const std::byte* device) override {
        download_->start(device);
        questions_ = 0;
    }
    [[nodiscard]] bool ready() const override { return ++questions_ > 2; }
    void finish(void* host) override { download_->finish(host); }

private:
    std::unique_ptr<Download> download_;
    mutable int questions_ = 0;
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

class RecordingBackend::StoredCalls final : public Recording {
public:
    StoredCalls(RecordingBackend& backend, std::vector<Kernel*> kernels)
        : backend_(backend), kernels_(std::move(kernels)) {
        ++backend_.alive_;
    }
    ~StoredCalls() override { --backend_.alive_; }

    void replay() override {
        if (backend_.fault_ == Fault::fails_when_replayed)
            throw DeviceError("This replay was made to fail.");
        ++backend_.replays_;
        for (auto* kernel : kernels_)
            kernel->run();
        if (backend_.after_replay)
            backend_.after_replay();
    }

private:
    RecordingBackend& backend_;
    std::vector<Kernel*> kernels_;
};

std::unique_ptr<Recording> RecordingBackend::record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) {
    if (fault_ == Fault::cannot_record)
        throw DeviceError("This recording was made to fail.");
    ++recordings_;
    auto order = another_order(kernels, after);
    if (fault_ == Fault::leaves_out_the_last)
        std::erase(order, kernels.back());
    return std::make_unique<StoredCalls>(*this, std::move(order));
}

std::vector<double> RecordingBackend::time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t next)>&) {
    if (fault_ == Fault::cannot_record)
        throw DeviceError("This recording was made to fail.");
    ++timed_;
    return ForwardingBackend::time(kernels, [](std::size_t) { return false; });
}

std::unique_ptr<Download> RecordingBackend::make_download(const Tensor& tensor, const Layout& layout) {
    return std::make_unique<LateDownload>(ForwardingBackend::make_download(tensor, layout));
}

} // namespace espalier::testing
