// SPDX-License-Identifier: Apache-2.0
#include "plan/backend.h"

#include "plan/host_values.h"

#include <algorithm>
#include <chrono>

namespace espalier {

namespace {

/// Values that are there as soon as they are asked for.
class ImmediateDownload final : public Download {
public:
    ImmediateDownload(Backend& backend, Tensor tensor, Layout layout)
        : backend_(backend), tensor_(std::move(tensor)), layout_(std::move(layout)), host_(host_bytes(tensor_)) {}
    void start(const std::byte* device) override { backend_.download(tensor_, layout_, device, host_.data()); }
    [[nodiscard]] bool ready() const override { return true; }
    void finish(void* host) override { std::ranges::copy(host_, static_cast<std::byte*>(host)); }

private:
    Backend& backend_;
    Tensor tensor_;
    Layout layout_;
    std::vector<std::byte> host_;
};

} // namespace

std::unique_ptr<Download> Backend::make_download(const Tensor& tensor, const Layout& layout) {
    return std::make_unique<ImmediateDownload>(*this, tensor, layout);
}

std::vector<double> Backend::time(std::span<Kernel* const> kernels,
                                  const std::function<bool(std::size_t next)>& leave) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    synchronize();
    auto before = Clock::now();
    for (auto* kernel : kernels) {
        if (leave(milliseconds.size()))
            break;
        kernel->run();
        synchronize();
        const auto after = Clock::now();
        milliseconds.push_back(std::chrono::duration<double, std::milli>(after - before).count());
        before = after;
    }
    return milliseconds;
}

} // namespace espalier
