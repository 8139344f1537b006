// SPDX-License-Identifier: Apache-2.0
#include "backends/kernel_fallback.h"

#include "backends/host_kernel.h"
#include "backends/kernel_check.h"
#include "backends/reference/reference_backend.h"
#include "base/error.h"
#include "base/faults.h"
#include "plan/forwarding_backend.h"

#include <algorithm>
#include <set>

namespace espalier {
namespace {

bool on_host(std::span<Kernel* const> kernels) {
    return std::ranges::any_of(kernels, [](const Kernel* kernel) { return dynamic_cast<const HostKernel*>(kernel); });
}

class BackendWithFallback final : public ForwardingBackend {
public:
    BackendWithFallback(std::unique_ptr<Backend> backend, std::function<void(const KernelFallback&)> tell)
        : ForwardingBackend(std::move(backend)), reference_(reference_backend().make({})), tell_(std::move(tell)),
          check_(inner(), *reference_) {}

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        KernelFallback fallback{.kind = op.kind, .layer = op.layer};
        try {
            if (faults::refuses(op.kind))
                throw ConfigError("it refuses.");
            auto lowered = inner().lower(graph, op, given, given_outputs);
            fallback.reason = check_.fault(graph, op, lowered);
            if (fallback.reason.empty())
                return lowered;
            fallback.kernel = lowered.kernel->name();
        } catch (const OutOfMemory&) {
            throw; // has rungs of its own
        } catch (const Error& error) {
            inner().synchronize(); // throws if the device is lost, not this kernel alone
            fallback.reason = error.what();
        }
        if (!reference_->supports(graph, op))
            throw ConfigError("No kernel can be had for " + op.kind + " of layer '" + op.layer +
                              "': " + fallback.reason);
        if (told_.insert(op.kind).second && tell_)
            tell_(fallback);
        any_on_host_ = true;
        return lower_on_host(inner(), *reference_, graph, op, given, given_outputs);
    }

    // kernels of the host can be neither recorded nor timed by the device
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override {
        return on_host(kernels) ? nullptr : inner().record(kernels, after);
    }
    [[nodiscard]] int steps_side_by_side() const override { return any_on_host_ ? 0 : inner().steps_side_by_side(); }
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t)>& leave) override {
        return on_host(kernels) ? Backend::time(kernels, leave) : inner().time(kernels, leave);
    }

private:
    std::unique_ptr<Backend> reference_;
    std::function<void(const KernelFallback&)> tell_;
    KernelCheck check_;
    std::set<std::string> told_; ///< kinds
    bool any_on_host_ = false;
};

} // namespace

std::unique_ptr<Backend> with_fallback(std::unique_ptr<Backend> backend,
                                       std::function<void(const KernelFallback&)> tell) {
    return std::make_unique<BackendWithFallback>(std::move(backend), std::move(tell));
}

} // namespace espalier
