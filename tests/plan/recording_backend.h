// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <functional>
#include <string>

namespace espalier::testing {

/// A host backend that records: a replay runs the same kernels in another order that their dependencies allow.
class RecordingBackend final : public Backend {
public:
    enum class Fault {
        none,
        leaves_out_the_last, ///< kernel: whatever it writes stays as it was
        cannot_record,
        fails_when_replayed,
    };

    explicit RecordingBackend(Backend& backend, Fault fault = Fault::none) : backend_(&backend), fault_(fault) {}
    RecordingBackend(std::unique_ptr<Backend> backend, Fault fault)
        : owned_(std::move(backend)), backend_(owned_.get()), fault_(fault) {}

    [[nodiscard]] int recordings() const { return recordings_; }
    [[nodiscard]] int replays() const { return replays_; }

    [[nodiscard]] std::string_view name() const override { return backend_->name(); }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        return backend_->supports(graph, op);
    }
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override { return backend_->plain(shape, type); }
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        return backend_->lower(graph, op, given, given_outputs);
    }
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
    /// Claims to be a device of its own, so that a run reads its results as from one.
    [[nodiscard]] bool in_host_memory() const override { return false; }
    void synchronize() override { backend_->synchronize(); }
    void poison(std::byte* device, std::size_t bytes) override { backend_->poison(device, bytes); }
    [[nodiscard]] int steps_side_by_side() const override { return 4; }
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override;

private:
    std::unique_ptr<Backend> owned_;
    Backend* backend_;
    Fault fault_;
    int recordings_ = 0, replays_ = 0;
};

} // namespace espalier::testing
