// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/lowering.h"

#include "backends/cuda/error.h"

namespace espalier::cuda {
namespace {

class LaunchKernel final : public Kernel {
public:
    LaunchKernel(std::string name, const LaunchStream* stream, Launch launch)
        : name_(std::move(name)), stream_(stream), launch_(std::move(launch)) {}

    void bind(const Binding& binding) override {
        arguments_.inputs.assign(binding.inputs.begin(), binding.inputs.end());
        arguments_.outputs.assign(binding.outputs.begin(), binding.outputs.end());
        arguments_.workspace = binding.workspace;
    }

    void run() override {
        arguments_.stream = *stream_;
        launch_(arguments_);
        check_launch(name_.c_str());
    }

    [[nodiscard]] std::string name() const override { return name_; }

private:
    std::string name_;
    const LaunchStream* stream_;
    Launch launch_;
    Arguments arguments_;
};

Order natural_order(const Tensor& tensor) { return tensor.shape.rank() == 4 ? Order::channels_last : Order::plain; }

} // namespace

std::unique_ptr<Kernel> launch_kernel(const Context& context, std::string name, Launch launch) {
    return std::make_unique<LaunchKernel>(std::move(name), context.settings.stream, std::move(launch));
}

Lowered Context::natural() const {
    Lowered result;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        result.inputs.push_back(has_input(i) ? make_layout(input(i).shape, input(i).type, natural_order(input(i)))
                                             : Layout{});
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        result.outputs.push_back(has_output(i) ? make_layout(output(i).shape, output(i).type, natural_order(output(i)))
                                               : Layout{});
    return result;
}

Lowered Context::natural_like(std::size_t i) const {
    // Inputs of the step are always given row-major: that says nothing about what their readers are good at.
    const bool computed = given(i).defined() && input(i).role == Role::activation;
    return computed && description(given(i)).order == Order::plain ? plain() : natural();
}

Lowered Context::plain() const {
    Lowered result;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        result.inputs.push_back(has_input(i) ? make_layout(input(i).shape, input(i).type, Order::plain) : Layout{});
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        result.outputs.push_back(has_output(i) ? make_layout(output(i).shape, output(i).type, Order::plain) : Layout{});
    return result;
}

Lowered Context::flat(std::size_t first, std::size_t last) const {
    Order order = Order::plain;
    bool any_given = false;
    for (std::size_t i = first; i < last && order == Order::plain; ++i)
        if (given(i).defined()) {
            order = description(given(i)).order;
            any_given = true;
        }
    if (!any_given)
        order = natural_order(input(first));
    Lowered result = plain();
    for (std::size_t i = first; i < last; ++i)
        if (has_input(i))
            result.inputs[i] = make_layout(input(i).shape, input(i).type, order);
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        if (has_output(i) && output(i).shape == input(first).shape) // a sum over all has another
            result.outputs[i] = make_layout(output(i).shape, output(i).type, order);
    return result;
}

const LoweringTable& lowering_table() {
    static const LoweringTable table = [] {
        LoweringTable all;
        add_cast(all);
        add_convolution(all);
        add_data(all);
        add_elementwise(all);
        add_linear(all);
        add_loss(all);
        add_normalization(all);
        add_optimizer(all);
        add_pooling(all);
        add_separable(all);
        add_shape(all);
        add_weighted_sum(all);
        return all;
    }();
    return table;
}

} // namespace espalier::cuda
