// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <string>
#include <vector>

namespace espalier::testing {

/// A host backend whose every tensor and workspace is followed by guard bytes. Around each kernel it checks that no
/// guard was written over, and that no input changed that is not an output too.
class GuardedBackend final : public Backend {
public:
    explicit GuardedBackend(Backend& backend) : backend_(backend) {}

    /// What kernels did that they must not do; one line a fault.
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

    [[nodiscard]] std::string_view name() const override { return backend_.name(); }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        return backend_.supports(graph, op);
    }
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override;
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override;
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override;
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return backend_.allocate(bytes); }
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override;
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override;
    void synchronize() override { backend_.synchronize(); }
    void poison(std::byte* device, std::size_t bytes) override { backend_.poison(device, bytes); }

private:
    [[nodiscard]] Lowered guarded(Lowered lowered, const std::string& what);

    Backend& backend_;
    std::vector<std::string> faults_;
};

} // namespace espalier::testing
