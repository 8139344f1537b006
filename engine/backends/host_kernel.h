// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// One op of a device computed by the reference backend: its inputs are fetched from the device, its outputs sent
/// there. It waits for the device, so it can be no part of a recording.
class HostKernel final : public Kernel {
public:
    HostKernel(Backend& device, Backend& reference, const Graph& graph, const Op& op, std::vector<Layout> inputs,
               std::vector<Layout> outputs);

    void bind(const Binding& binding) override;
    void run() override;
    [[nodiscard]] std::string name() const override { return "reference, on the host"; }

private:
    struct Argument {
        TensorId id = no_tensor;
        Layout layout; ///< on the device
        std::byte* device = nullptr;
    };
    /// A tensor in the reference backend's memory. A parameter that the op changes is an input and an output, but one
    /// tensor.
    struct Copy {
        Tensor tensor;
        Layout layout;
        std::unique_ptr<Memory> memory;
    };
    [[nodiscard]] std::vector<Argument> arguments(const Graph& graph, const std::vector<TensorId>& ids,
                                                  std::vector<Layout> layouts);

    Backend& device_;
    Backend& reference_;
    std::map<TensorId, Copy> copies_;
    std::vector<Argument> inputs_, outputs_;
    std::unique_ptr<Kernel> kernel_;
    std::vector<std::byte> staging_; ///< large enough for each of them
};

/// The op as such a kernel of the device's plan; see Backend::lower.
[[nodiscard]] Lowered lower_on_host(Backend& device, Backend& reference, const Graph& graph, const Op& op,
                                    std::span<const Layout> given, std::span<const Layout> given_outputs);

} // namespace espalier
