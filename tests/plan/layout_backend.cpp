// SPDX-License-Identifier: Apache-2.0
#include "plan/layout_backend.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

namespace espalier::testing {
namespace {

constexpr std::size_t padding = 64;

class HostMemory final : public Memory {
public:
    explicit HostMemory(std::size_t bytes) : bytes_(bytes), storage_(bytes / sizeof(Line) + 1) {}
    [[nodiscard]] std::byte* data() const override { return reinterpret_cast<std::byte*>(storage_.data()); }
    [[nodiscard]] std::size_t bytes() const override { return bytes_; }

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::size_t bytes_;
    mutable std::vector<Line> storage_;
};

class FunctionKernel final : public Kernel {
public:
    using Function = std::function<void(const std::vector<std::byte*>& inputs, const std::vector<std::byte*>& outputs,
                                        std::byte* workspace)>;

    explicit FunctionKernel(Function function) : function_(std::move(function)) {}
    void bind(const Binding& binding) override {
        inputs_.assign(binding.inputs.begin(), binding.inputs.end());
        outputs_.assign(binding.outputs.begin(), binding.outputs.end());
        workspace_ = binding.workspace;
    }
    void run() override { function_(inputs_, outputs_, workspace_); }
    [[nodiscard]] std::string name() const override { return "test"; }

private:
    Function function_;
    std::vector<std::byte*> inputs_, outputs_;
    std::byte* workspace_ = nullptr;
};

Layout layout(const std::string& key, const Shape& shape) {
    const auto bytes = static_cast<std::size_t>(shape.count()) * sizeof(float);
    return {key, key == "reversed" ? bytes + padding : bytes, {}};
}

float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

} // namespace

Support LayoutBackend::supports(const Graph&, const Op& op) const {
    return op.kind == "add" || op.kind == "scale" ? Support{} : Support::no("it only adds and scales.");
}

Layout LayoutBackend::plain(const Shape& shape, DType) const { return layout("plain", shape); }

Lowered LayoutBackend::lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                             std::span<const Layout> given_outputs) {
    auto key = op.attributes.text("layout");
    for (std::size_t i = 0; key.empty() && i < given.size(); ++i)
        key = given[i].key;
    if (key.empty())
        key = "plain";
    Lowered lowered;
    for (auto input : op.inputs)
        lowered.inputs.push_back(layout(key, graph.shape(input)));
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        lowered.outputs.push_back(layout(key, graph.shape(op.outputs[i])));
    if (given_outputs[0].defined() && given_outputs[0].key != key && !op.attributes.flag("disobey"))
        lowered.inputs[0] = lowered.outputs[0] = given_outputs[0];
    lowered.workspace = static_cast<std::size_t>(op.attributes.integer("workspace"));
    if (op.attributes.flag("in_place"))
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
            lowered.in_place.emplace_back(0, i);

    const auto count = graph.shape(op.outputs[0]).count();
    const auto workspace = lowered.workspace;
    const bool scale = op.kind == "scale", late = op.attributes.flag("late");
    lowered.kernel = std::make_unique<FunctionKernel>([=](const auto& inputs, const auto& outputs, std::byte* scratch) {
        if (workspace)
            std::memset(scratch, 0x5a, workspace);
        for (std::int64_t i = 0; i < count; ++i) {
            float sum = 0;
            if (scale)
                sum = floats(inputs[0])[i] * floats(inputs[1])[0];
            else
                for (auto* input : inputs)
                    sum += floats(input)[i];
            floats(outputs[late ? 1 : 0])[i] = sum;
        }
    });
    if (late) {
        lowered.finish = Finish{std::make_unique<FunctionKernel>([=](const auto& parts, const auto& outputs, auto*) {
                                    std::copy_n(floats(parts[0]), count, floats(outputs[0]));
                                }),
                                {0},
                                static_cast<std::size_t>(count) * sizeof(float)};
    }
    return lowered;
}

Lowered LayoutBackend::reorder(const Tensor& tensor, const Layout& from, const Layout& to) {
    Lowered lowered;
    const auto count = tensor.shape.count();
    lowered.inputs = {from};
    lowered.outputs = {to};
    lowered.kernel = std::make_unique<FunctionKernel>([=](const auto& inputs, const auto& outputs, std::byte*) {
        std::reverse_copy(floats(inputs[0]), floats(inputs[0]) + count, floats(outputs[0]));
    });
    return lowered;
}

std::unique_ptr<Memory> LayoutBackend::allocate(std::size_t bytes) { return std::make_unique<HostMemory>(bytes); }

void LayoutBackend::upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) {
    const auto count = tensor.shape.count();
    const auto* from = static_cast<const float*>(host);
    if (layout.key == "reversed")
        std::reverse_copy(from, from + count, floats(device));
    else
        std::copy_n(from, count, floats(device));
}

void LayoutBackend::download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) {
    upload(tensor, layout, device, static_cast<std::byte*>(host));
}

void LayoutBackend::poison(std::byte* device, std::size_t bytes) { std::memset(device, 0xff, bytes); }

} // namespace espalier::testing
