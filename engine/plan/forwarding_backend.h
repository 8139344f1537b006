// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

namespace espalier {

/// A backend that hands every call on to another one. Backends that change some of it derive from this, so that what is
/// added to Backend reaches the device through them too.
class ForwardingBackend : public Backend {
public:
    explicit ForwardingBackend(Backend& inner) : inner_(&inner) {}
    explicit ForwardingBackend(std::unique_ptr<Backend> inner) : owned_(std::move(inner)), inner_(owned_.get()) {}

    [[nodiscard]] std::string_view name() const override { return inner_->name(); }
    void enter_thread() override { inner_->enter_thread(); }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        return inner_->supports(graph, op);
    }
    [[nodiscard]] std::vector<std::string> automatic_precisions() const override {
        return inner_->automatic_precisions();
    }
    [[nodiscard]] bool in_host_memory() const override { return inner_->in_host_memory(); }
    [[nodiscard]] std::optional<std::size_t> free_memory() const override { return inner_->free_memory(); }
    [[nodiscard]] DeviceFacts device() const override { return inner_->device(); }
    [[nodiscard]] std::unique_ptr<DeviceMonitor> monitor() const override { return inner_->monitor(); }
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override { return inner_->plain(shape, type); }
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        return inner_->lower(graph, op, given, given_outputs);
    }
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        return inner_->reorder(tensor, from, to);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        inner_->upload(tensor, layout, host, device);
    }
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        inner_->download(tensor, layout, device, host);
    }
    [[nodiscard]] std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout) override {
        return inner_->make_download(tensor, layout);
    }
    void trim_caches() override { inner_->trim_caches(); }
    void synchronize() override { inner_->synchronize(); }
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override {
        return inner_->record(kernels, after);
    }
    [[nodiscard]] int steps_side_by_side() const override { return inner_->steps_side_by_side(); }
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t next)>& leave) override {
        return inner_->time(kernels, leave);
    }
    bool tune(double seconds) override { return inner_->tune(seconds); }
    [[nodiscard]] Tuning tuning() const override { return inner_->tuning(); }
    [[nodiscard]] std::vector<std::string> take_warnings() override { return inner_->take_warnings(); }
    void poison(std::byte* device, std::size_t bytes) override { inner_->poison(device, bytes); }

protected:
    [[nodiscard]] Backend& inner() const { return *inner_; }

private:
    std::unique_ptr<Backend> owned_; ///< or somebody else's
    Backend* inner_;
};

} // namespace espalier
