// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/forwarding_backend.h"

#include <string>
#include <vector>

namespace espalier::testing {

/// A host backend whose every tensor and workspace is followed by guard bytes. Around each kernel it checks that no
/// guard was written over, and that no input changed that is not an output too.
class GuardedBackend final : public ForwardingBackend {
public:
    explicit GuardedBackend(Backend& backend) : ForwardingBackend(backend) {}

    /// What kernels did that they must not do; one line a fault.
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override;
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override;
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override;
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override;
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override;
    [[nodiscard]] std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout) override {
        return Backend::make_download(tensor, layout); // through download(), which takes the guard off
    }

private:
    [[nodiscard]] Lowered guarded(Lowered lowered, const std::string& what);

    std::vector<std::string> faults_;
};

} // namespace espalier::testing
