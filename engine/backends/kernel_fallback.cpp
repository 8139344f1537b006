// SPDX-License-Identifier: Apache-2.0
#include "backends/kernel_fallback.h"

#include "backends/host_kernel.h"
#include "backends/kernel_check.h"
#include "backends/reference/reference_backend.h"
#include "base/error.h"
#include "base/faults.h"

#include <algorithm>
#include <set>

namespace espalier {
namespace {

bool on_host(std::span<Kernel* const> kernels) {
    return std::ranges::any_of(kernels, [](const Kernel* kernel) { return dynamic_cast<const HostKernel*>(kernel); });
}

/// Forwards every function of Backend but lower() and what host kernels cannot be part of.
class BackendWithFallback final : public Backend {
public:
    BackendWithFallback(std::unique_ptr<Backend> backend, std::function<void(const KernelFallback&)> tell)
        : backend_(std::move(backend)), reference_(reference_backend().make({})), tell_(std::move(tell)),
          check_(*backend_, *reference_) {}

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        KernelFallback fallback{.kind = op.kind, .layer = op.layer};
        try {
            if (faults::refuses(op.kind))
                throw ConfigError("it refuses.");
            auto lowered = backend_->lower(graph, op, given, given_outputs);
            fallback.reason = check_.fault(graph, op, lowered);
            if (fallback.reason.empty())
                return lowered;
            fallback.kernel = lowered.kernel->name();
        } catch (const OutOfMemory&) {
            throw; // has rungs of its own
        } catch (const Error& error) {
            backend_->synchronize(); // throws if the device is lost, not this kernel alone
            fallback.reason = error.what();
        }
        if (!reference_->supports(graph, op))
            throw ConfigError("No kernel can be had for " + op.kind + " of layer '" + op.layer +
                              "': " + fallback.reason);
        if (told_.insert(op.kind).second && tell_)
            tell_(fallback);
        return lower_on_host(*backend_, *reference_, graph, op, given, given_outputs);
    }

    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override {
        return on_host(kernels) ? nullptr : backend_->record(kernels, after);
    }
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t)>& leave) override {
        return on_host(kernels) ? Backend::time(kernels, leave) : backend_->time(kernels, leave);
    }

    [[nodiscard]] std::string_view name() const override { return backend_->name(); }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        return backend_->supports(graph, op);
    }
    [[nodiscard]] std::vector<std::string> automatic_precisions() const override {
        return backend_->automatic_precisions();
    }
    [[nodiscard]] bool in_host_memory() const override { return backend_->in_host_memory(); }
    [[nodiscard]] std::optional<std::size_t> free_memory() const override { return backend_->free_memory(); }
    [[nodiscard]] DeviceFacts device() const override { return backend_->device(); }
    [[nodiscard]] std::unique_ptr<DeviceMonitor> monitor() const override { return backend_->monitor(); }
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override { return backend_->plain(shape, type); }
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        return backend_->reorder(tensor, from, to);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return backend_->allocate(bytes); }
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        backend_->upload(tensor, layout, host, device);
    }
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        backend_->download(tensor, layout, device, host);
    }
    [[nodiscard]] std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout) override {
        return backend_->make_download(tensor, layout);
    }
    bool tune(double seconds) override { return backend_->tune(seconds); }
    [[nodiscard]] Tuning tuning() const override { return backend_->tuning(); }
    void trim_caches() override { backend_->trim_caches(); }
    void synchronize() override { backend_->synchronize(); }
    [[nodiscard]] int steps_side_by_side() const override { return backend_->steps_side_by_side(); }
    void poison(std::byte* device, std::size_t bytes) override { backend_->poison(device, bytes); }

private:
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Backend> reference_;
    std::function<void(const KernelFallback&)> tell_;
    KernelCheck check_;
    std::set<std::string> told_; ///< kinds
};

} // namespace

std::unique_ptr<Backend> with_fallback(std::unique_ptr<Backend> backend,
                                       std::function<void(const KernelFallback&)> tell) {
    return std::make_unique<BackendWithFallback>(std::move(backend), std::move(tell));
}

} // namespace espalier
