// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"

#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/kernels/convolution_epilogue.h"
#include "backends/cuda/kernels/direct_convolution.h"
#include "backends/cuda/lowering/depthwise.h"
#include "backends/cuda/lowering/filter_order.h"
#include "backends/cuda/lowering/lowering.h"
#include "base/error.h"

namespace espalier::cuda {
namespace {

using cudnn::Problem;
using Direction = Problem::Direction;

/// Extents as the library sees them: padding channels are channels.
std::array<std::int64_t, 4> image_extents(const Layout& layout) {
    const auto rows = rows_of(layout);
    return {rows.n, rows.pitch, rows.h, rows.w};
}
std::array<std::int64_t, 4> filter_extents(const Layout& layout) {
    const auto& d = description(layout);
    if (d.order == Order::filter)
        return {padded(d.shape[0]), padded(d.shape[1]), d.shape[2], d.shape[3]};
    return {d.shape[0], d.shape[1], d.shape[2], d.shape[3]};
}

Problem problem_of(const Context& c, const Convolution& shape, Direction direction, const Layout& x, const Layout& w,
                   const Layout& y) {
    Problem problem;
    problem.direction = direction;
    problem.type = description(x).type;
    problem.tf32 = c.settings.options.tf32;
    problem.x = image_extents(x);
    problem.w = filter_extents(w);
    problem.y = image_extents(y);
    problem.stride = shape.stride;
    problem.padding = shape.padding;
    problem.dilation = shape.dilation;
    problem.groups = shape.groups;
    problem.deterministic = c.settings.options.deterministic;
    problem.winograd = c.settings.options.winograd;
    return problem;
}

/// One launch of the library, and what is added to its result in place: bias, ReLU.
class ConvolutionKernel final : public Kernel {
public:
    /// Where x, w and y stand among the op's tensors: inputs from 0, the output is -1.
    struct Places {
        int x, w, y;
    };

    ConvolutionKernel(const Context& c, std::shared_ptr<const cudnn::Plan> plan, Places places,
                      std::optional<Epilogue> epilogue)
        : planner_(*c.settings.planner), stream_(c.settings.stream), plan_(std::move(plan)), places_(places),
          epilogue_(epilogue) {}

    void bind(const Binding& b) override {
        const auto at = [&b](int place) {
            return place < 0 ? b.outputs[0] : b.inputs[static_cast<std::size_t>(place)];
        };
        execution_.emplace(plan_, at(places_.x), at(places_.w), at(places_.y), b.workspace);
        output_ = b.outputs[0];
        bias_ = b.inputs.size() > 2 ? b.inputs[2] : nullptr;
    }

    void run() override {
        execution_->run(planner_.handle(*stream_));
        if (epilogue_)
            launch_epilogue(output_, reinterpret_cast<const float*>(bias_), *epilogue_, *stream_);
    }

    [[nodiscard]] std::string name() const override { return plan_->name(); }

private:
    cudnn::Planner& planner_;
    const cudaStream_t* stream_;
    std::shared_ptr<const cudnn::Plan> plan_;
    Places places_;
    std::optional<Epilogue> epilogue_;
    std::optional<cudnn::Execution> execution_;
    std::byte* output_ = nullptr;
    std::byte* bias_ = nullptr;
};

/// The library's plan; null if it has none, or does not take the problem at all.
std::shared_ptr<const cudnn::Plan> library_plan(const Context& c, const Problem& problem) {
    if (!c.settings.options.library)
        return nullptr;
    try {
        return c.settings.planner->plan(problem);
    } catch (const DeviceError&) {
        return nullptr;
    }
}

/// By the kernel of our own, which knows every case.
void lower_direct(const Context& c, Lowered& lowered, const Problem& problem, ConvolutionKernel::Places places,
                  std::optional<Epilogue> epilogue) {
    DirectConvolution direct{.type = problem.type,
                             .result_type = c.output(0).type,
                             .x = problem.x,
                             .w = problem.w,
                             .y = problem.y,
                             .stride = problem.stride,
                             .padding = problem.padding,
                             .dilation = problem.dilation,
                             .groups = problem.groups};
    direct.direction = problem.direction == Direction::forward          ? DirectConvolution::Direction::forward
                       : problem.direction == Direction::input_gradient ? DirectConvolution::Direction::input_gradient
                                                                        : DirectConvolution::Direction::weight_gradient;
    lowered.workspace = direct.workspace();
    lowered.kernel = launch_kernel(c, "direct", [direct, places, epilogue](const Arguments& a) {
        const auto at = [&a](int place) -> void* {
            return place < 0 ? a.outputs[0] : a.inputs[static_cast<std::size_t>(place)];
        };
        launch_direct_convolution(direct, at(places.x), at(places.w), at(places.y), a.scratch<float>(), a.stream);
        if (epilogue)
            launch_epilogue(a.out(0), a.in_f32(2), *epilogue, a.stream);
    });
}

Lowered finish(const Context& c, Lowered lowered, const Problem& problem, ConvolutionKernel::Places places,
               std::optional<Epilogue> epilogue) {
    if (auto plan = library_plan(c, problem)) {
        lowered.workspace = plan->workspace();
        lowered.kernel = std::make_unique<ConvolutionKernel>(c, std::move(plan), places, epilogue);
    } else {
        lower_direct(c, lowered, problem, places, epilogue);
    }
    return lowered;
}

std::optional<Epilogue> epilogue_of(const Context& c, const Layout& y, bool relu) {
    if (!c.has_input(2) && !relu)
        return std::nullopt;
    const auto rows = rows_of(y);
    return Epilogue{rows.count(), rows.channels, rows.pitch, relu, description(y).type};
}

/// A convolution in one of its directions, its three tensors wherever the op has them.
Lowered lower(const Context& c, Direction direction, ConvolutionKernel::Places places) {
    const auto shape = Convolution::from(c.op.attributes);
    Lowered result = c.plain();
    const auto tensor = [&](int place) -> const Tensor& {
        return place < 0 ? c.output(0) : c.input(static_cast<std::size_t>(place));
    };
    const auto lay_out = [&](int place, Order order) {
        auto& layout = place < 0 ? result.outputs[0] : result.inputs[static_cast<std::size_t>(place)];
        return layout = make_layout(tensor(place).shape, tensor(place).type, order);
    };
    // Padding would tear groups apart, unless each is of whole blocks.
    const auto images = shape.groups > 1 ? Order::channels_last_packed : Order::channels_last;
    const auto x = lay_out(places.x, images), y = lay_out(places.y, images);
    const auto w = lay_out(places.w, filter_order(c.settings, c.op, tensor(places.w).shape));
    const auto epilogue = epilogue_of(c, result.outputs[0], shape.relu);
    return finish(c, std::move(result), problem_of(c, shape, direction, x, w, y), places, epilogue);
}

Lowered lower_conv2d(const Context& c) {
    return is_depthwise(c) ? lower_depthwise(c) : lower(c, Direction::forward, {0, 1, -1});
}

Lowered lower_conv2d_input_gradient(const Context& c) { // gy, w -> gx
    return is_depthwise(c) ? lower_depthwise_input_gradient(c) : lower(c, Direction::input_gradient, {-1, 1, 0});
}

Lowered lower_conv2d_weight_gradient(const Context& c) { // x, gy -> gw
    return is_depthwise(c) ? lower_depthwise_weight_gradient(c) : lower(c, Direction::weight_gradient, {0, -1, 1});
}

/// The input gradient of the convolution that goes the other way: x stands for gy, y for gx.
Lowered lower_conv_transpose2d(const Context& c) {
    return is_depthwise(c) ? lower_depthwise_transposed(c) : lower(c, Direction::input_gradient, {-1, 1, 0});
}

} // namespace

void add_convolution(LoweringTable& table) {
    table["conv2d"] = {lower_conv2d, {}};
    table["conv2d_input_gradient"] = {lower_conv2d_input_gradient, {}};
    table["conv2d_weight_gradient"] = {lower_conv2d_weight_gradient, {}};
    table["conv_transpose2d"] = {lower_conv_transpose2d, {}};
}

} // namespace espalier::cuda
