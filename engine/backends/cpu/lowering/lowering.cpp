// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

#include "backends/cpu/team.h"

namespace espalier::cpu {

namespace {

class LoopKernel final : public Kernel {
public:
    LoopKernel(std::string name, int threads, Body body)
        : name_(std::move(name)), threads_(threads), body_(std::move(body)) {}

    void bind(const Binding& binding) override {
        arguments_.inputs.assign(binding.inputs.begin(), binding.inputs.end());
        arguments_.outputs.assign(binding.outputs.begin(), binding.outputs.end());
        arguments_.workspace = binding.workspace;
    }

    void run() override {
        // The number belongs to the calling thread, which may be another one than in the last run.
        set_team(threads_);
        body_(arguments_);
    }

    [[nodiscard]] std::string name() const override { return name_; }

private:
    std::string name_;
    int threads_;
    Body body_;
    Arguments arguments_;
};

} // namespace

Layout Context::plain_input(std::size_t i) const {
    return has_input(i) ? plain_layout(input(i).shape, input(i).type) : Layout{};
}

Layout Context::plain_output(std::size_t i) const {
    return has_output(i) ? plain_layout(output(i).shape, output(i).type) : Layout{};
}

Lowered Context::plain() const {
    Lowered result;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        result.inputs.push_back(plain_input(i));
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        result.outputs.push_back(plain_output(i));
    }
    return result;
}

Layout Context::activation(const Tensor& tensor, const Layout& now) const {
    if (tensor.shape.rank() != 4) {
        return plain_layout(tensor.shape, tensor.type);
    }
    if (now.defined() && !is_library_layout(now) && (detail_of(now).block > 1 || tensor.shape[1] == 1)) {
        return now;
    }
    return blocked_layout(tensor.shape, tensor.type, preferred(tensor.shape[1]));
}

Layout Context::blocked(const Tensor& tensor, std::int64_t block) {
    return tensor.shape.rank() == 4 ? blocked_layout(tensor.shape, tensor.type, block)
                                    : plain_layout(tensor.shape, tensor.type);
}

Layout Context::common(std::size_t first, std::size_t last) const {
    Layout result;
    for (std::size_t i = first; i < last; ++i) {
        const Layout layout = given(i);
        if (!layout.defined()) {
            continue;
        }
        if (layout.key != "plain") {
            return layout;
        }
        result = layout;
    }
    if (!result.defined()) {
        result = plain_layout(input(first).shape, input(first).type);
    }
    return result;
}

std::unique_ptr<Kernel> loop_kernel(const Context& context, std::string what, Body body) {
    return std::make_unique<LoopKernel>(what + ' ' + context.kernels.name, context.threads, std::move(body));
}

const LoweringTable& lowering_table() {
    static const LoweringTable table = [] {
        LoweringTable result;
        add_convolution(result);
        add_data(result);
        add_elementwise(result);
        add_linear(result);
        add_loss(result);
        add_normalization(result);
        add_optimizer(result);
        add_pooling(result);
        add_shape(result);
        add_softmax(result);
        return result;
    }();
    return table;
}

} // namespace espalier::cpu
