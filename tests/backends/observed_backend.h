// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <functional>
#include <string>
#include <vector>

namespace espalier::testing {

/// An op that has just run: its values in row-major order, empty for tensors that are not f32 or not there.
struct Observation {
    const Op& op;
    std::vector<std::vector<float>> inputs; ///< as they were before it ran
    std::vector<std::vector<float>> outputs;
};

/// A backend whose ops can be looked at, and their results changed, while a plan runs.
class ObservedBackend final : public Backend {
public:
    using Wanted = std::function<bool(const Op&)>;
    /// Says whether `outputs` are to be written back.
    using Observer = std::function<bool(Observation&)>;

    ObservedBackend(Backend& backend, Wanted wanted, Observer observer)
        : backend_(backend), wanted_(std::move(wanted)), observer_(std::move(observer)) {}

    [[nodiscard]] std::string_view name() const override { return backend_.name(); }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        return backend_.supports(graph, op);
    }
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override { return backend_.plain(shape, type); }
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override;
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        return backend_.reorder(tensor, from, to);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return backend_.allocate(bytes); }
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        backend_.upload(tensor, layout, host, device);
    }
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        backend_.download(tensor, layout, device, host);
    }
    void synchronize() override { backend_.synchronize(); }
    void poison(std::byte* device, std::size_t bytes) override { backend_.poison(device, bytes); }

private:
    Backend& backend_;
    Wanted wanted_;
    Observer observer_;
};

} // namespace espalier::testing
