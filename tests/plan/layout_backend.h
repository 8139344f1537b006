// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

namespace espalier::testing {

/// A small backend for tests of the plan: f32 alone, two layouts ("plain", and "reversed" with 64 bytes of padding),
/// and the ops add and scale. An op's attribute "layout" says which layout it wants and gives; without it the op takes
/// its first input's. With the attribute "in_place" the output may take the place of any input; "workspace" asks for
/// bytes, which the kernel overwrites. With "late" its output is finished by another kernel.
class LayoutBackend : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "layout"; }
    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override;
    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override;
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override;
    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override;
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override;
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override;
    void synchronize() override {}
    void poison(std::byte* device, std::size_t bytes) override;
};

} // namespace espalier::testing
