// SPDX-License-Identifier: Apache-2.0
#include "backends/guarded_backend.h"

#include <algorithm>
#include <cstring>

namespace espalier::testing {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard_value{0xa5};

Layout with_guard(Layout layout) {
    if (layout.defined())
        layout.bytes += guard_bytes;
    return layout;
}

Layout without_guard(Layout layout) {
    if (layout.defined())
        layout.bytes -= guard_bytes;
    return layout;
}

std::vector<Layout> without_guards(std::span<const Layout> layouts) {
    std::vector<Layout> result;
    std::ranges::transform(layouts, std::back_inserter(result), without_guard);
    return result;
}

/// Memory of one tensor, without its guard.
struct Region {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;

    void set_guard() const { std::memset(begin + bytes, static_cast<int>(guard_value), guard_bytes); }
    [[nodiscard]] bool guard_holds() const {
        return std::all_of(begin + bytes, begin + bytes + guard_bytes, [](std::byte b) { return b == guard_value; });
    }
    [[nodiscard]] std::vector<std::byte> copy() const { return {begin, begin + bytes}; }
};

class GuardedKernel final : public Kernel {
public:
    GuardedKernel(std::unique_ptr<Kernel> kernel, std::string what, const Lowered& lowered,
                  std::vector<std::string>& faults)
        : kernel_(std::move(kernel)), what_(std::move(what)), workspace_bytes_(lowered.workspace), faults_(faults) {
        for (const auto& layout : lowered.inputs)
            input_bytes_.push_back(layout.bytes);
        for (const auto& layout : lowered.outputs)
            output_bytes_.push_back(layout.bytes);
    }

    void bind(const Binding& binding) override {
        inputs_ = regions(binding.inputs, input_bytes_);
        outputs_ = regions(binding.outputs, output_bytes_);
        workspace_ = {binding.workspace, workspace_bytes_};
        kernel_->bind(binding);
    }

    void run() override {
        std::vector<std::vector<std::byte>> before;
        for (const auto& input : inputs_)
            before.push_back(is_output(input) ? std::vector<std::byte>() : input.copy());
        for (const auto& region : outputs_)
            region.set_guard();
        if (workspace_.begin)
            workspace_.set_guard();

        kernel_->run();

        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (!is_output(inputs_[i]) && inputs_[i].copy() != before[i])
                fault("changed its input " + std::to_string(i));
        for (const auto& region : outputs_)
            if (!region.guard_holds())
                fault("wrote beyond an output of " + std::to_string(region.bytes) + " bytes");
        if (workspace_.begin && !workspace_.guard_holds())
            fault("wrote beyond its workspace of " + std::to_string(workspace_.bytes) + " bytes");
    }

    [[nodiscard]] std::string name() const override { return kernel_->name(); }

private:
    static std::vector<Region> regions(std::span<std::byte* const> addresses, const std::vector<std::size_t>& bytes) {
        std::vector<Region> regions;
        for (std::size_t i = 0; i < addresses.size(); ++i)
            if (addresses[i])
                regions.push_back({addresses[i], bytes[i]});
        return regions;
    }
    [[nodiscard]] bool is_output(const Region& input) const {
        return std::ranges::any_of(outputs_, [&](const Region& output) { return output.begin == input.begin; });
    }
    void fault(const std::string& text) { faults_.push_back(what_ + " (" + name() + ") " + text); }

    std::unique_ptr<Kernel> kernel_;
    std::string what_;
    std::size_t workspace_bytes_;
    std::vector<std::string>& faults_;
    std::vector<std::size_t> input_bytes_, output_bytes_;
    std::vector<Region> inputs_, outputs_;
    Region workspace_;
};

} // namespace

Lowered GuardedBackend::guarded(Lowered lowered, const std::string& what) {
    lowered.kernel = std::make_unique<GuardedKernel>(std::move(lowered.kernel), what, lowered, faults_);
    std::ranges::transform(lowered.inputs, lowered.inputs.begin(), with_guard);
    std::ranges::transform(lowered.outputs, lowered.outputs.begin(), with_guard);
    if (lowered.workspace)
        lowered.workspace += guard_bytes;
    return lowered;
}

Layout GuardedBackend::plain(const Shape& shape, DType type) const { return with_guard(inner().plain(shape, type)); }

Lowered GuardedBackend::lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                              std::span<const Layout> given_outputs) {
    return guarded(inner().lower(graph, op, without_guards(given), without_guards(given_outputs)), op.kind);
}

Lowered GuardedBackend::reorder(const Tensor& tensor, const Layout& from, const Layout& to) {
    // A reorder's Lowered need not list its layouts: the plan knows them.
    auto lowered = inner().reorder(tensor, without_guard(from), without_guard(to));
    lowered.inputs = {without_guard(from)};
    lowered.outputs = {without_guard(to)};
    return guarded(std::move(lowered), "reorder");
}

void GuardedBackend::upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) {
    inner().upload(tensor, without_guard(layout), host, device);
}

void GuardedBackend::download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) {
    inner().download(tensor, without_guard(layout), device, host);
}

} // namespace espalier::testing
