// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/forwarding_backend.h"

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
class ObservedBackend final : public ForwardingBackend {
public:
    using Wanted = std::function<bool(const Op&)>;
    /// Says whether `outputs` are to be written back.
    using Observer = std::function<bool(Observation&)>;

    ObservedBackend(Backend& backend, Wanted wanted, Observer observer)
        : ForwardingBackend(backend), wanted_(std::move(wanted)), observer_(std::move(observer)) {}

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override;
    // looking needs the host between two kernels
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const>,
                                                    std::span<const std::vector<std::int32_t>>) override {
        return nullptr;
    }
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t)>& leave) override {
        return Backend::time(kernels, leave);
    }

private:
    Wanted wanted_;
    Observer observer_;
};

} // namespace espalier::testing
