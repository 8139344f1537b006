// SPDX-License-Identifier: Apache-2.0
#include "backends/host_kernel.h"

#include "backends/op_context.h"
#include "plan/host_values.h"

#include <algorithm>

namespace espalier {

HostKernel::HostKernel(Backend& device, Backend& reference, const Graph& graph, const Op& op,
                       std::vector<Layout> inputs, std::vector<Layout> outputs)
    : device_(device), reference_(reference) {
    inputs_ = arguments(graph, op.inputs, std::move(inputs));
    outputs_ = arguments(graph, op.outputs, std::move(outputs));
    auto lowered = reference.lower(graph, op, {}, {});
    kernel_ = std::move(lowered.kernel);

    const auto pointers = [this](const std::vector<Argument>& all) {
        std::vector<std::byte*> result;
        for (const auto& one : all)
            result.push_back(one.id == no_tensor ? nullptr : copies_.at(one.id).memory->data());
        return result;
    };
    const auto in = pointers(inputs_);
    const auto out = pointers(outputs_);
    kernel_->bind({in, out, nullptr}); // the reference backend's kernels use no workspace
}

std::vector<HostKernel::Argument> HostKernel::arguments(const Graph& graph, const std::vector<TensorId>& ids,
                                                        std::vector<Layout> layouts) {
    std::vector<Argument> result;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        result.push_back({ids[i], std::move(layouts[i])});
        if (ids[i] == no_tensor || copies_.contains(ids[i]))
            continue;
        const auto& tensor = graph.tensor(ids[i]);
        auto layout = reference_.plain(tensor.shape, tensor.type);
        auto memory = reference_.allocate(layout.bytes);
        copies_.emplace(ids[i], Copy{tensor, std::move(layout), std::move(memory)});
        staging_.resize(std::max(staging_.size(), host_bytes(tensor)));
    }
    return result;
}

void HostKernel::bind(const Binding& binding) {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        inputs_[i].device = binding.inputs[i];
    for (std::size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i].device = binding.outputs[i];
}

void HostKernel::run() {
    const auto fetch = [this](const Argument& argument) { // waits for what the device does before
        const auto& copy = copies_.at(argument.id);
        device_.download(copy.tensor, argument.layout, argument.device, staging_.data());
        reference_.upload(copy.tensor, copy.layout, staging_.data(), copy.memory->data());
    };
    for (const auto& input : inputs_)
        if (input.id != no_tensor)
            fetch(input);
    for (const auto& output : outputs_) // of a buffer that the op writes, it may write a part
        if (output.id != no_tensor && copies_.at(output.id).tensor.role == Role::buffer &&
            std::ranges::find(inputs_, output.id, &Argument::id) == inputs_.end())
            fetch(output);
    kernel_->run();
    for (const auto& output : outputs_) {
        if (output.id == no_tensor)
            continue;
        const auto& copy = copies_.at(output.id);
        reference_.download(copy.tensor, copy.layout, copy.memory->data(), staging_.data());
        device_.upload(copy.tensor, output.layout, staging_.data(), output.device);
    }
}

Lowered lower_on_host(Backend& device, Backend& reference, const Graph& graph, const Op& op,
                      std::span<const Layout> given, std::span<const Layout> given_outputs) {
    const OpContext c(graph, op, given, given_outputs);
    const auto known_or_plain = [&](TensorId id, Layout known) {
        if (id == no_tensor)
            return Layout{};
        return known.defined() ? known : device.plain(graph.shape(id), graph.tensor(id).type);
    };
    Lowered lowered;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        lowered.inputs.push_back(known_or_plain(op.inputs[i], c.given(i)));
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        lowered.outputs.push_back(known_or_plain(op.outputs[i], c.given_output(i)));
    // A parameter that no op has read yet, but this one changes, has one layout on both sides.
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        if (const auto same = std::ranges::find(op.inputs, op.outputs[i]);
            op.outputs[i] != no_tensor && same != op.inputs.end())
            lowered.outputs[i] = lowered.inputs[static_cast<std::size_t>(same - op.inputs.begin())];
    lowered.kernel = std::make_unique<HostKernel>(device, reference, graph, op, lowered.inputs, lowered.outputs);
    return lowered;
}

} // namespace espalier
