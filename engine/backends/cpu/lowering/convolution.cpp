// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/library_convolution.h"
#include "backends/cpu/lowering/lowering.h"

#include <algorithm>

namespace espalier::cpu {
namespace {

using Geometry = ConvolutionGeometry;

constexpr std::int64_t highest_depthwise_window = 64;

bool is_depthwise(const Geometry& g) {
    return g.attributes.groups > 1 && g.attributes.groups == g.x[1] && g.attributes.groups == g.y[1];
}

bool uses_own_depthwise(const Context& c, const Geometry& g) {
    return is_depthwise(g) && !c.settings.options.reference_separable && g.w[2] <= highest_depthwise_window;
}

/// 1x1 convolutions, strided or not, are products that need no library.
bool uses_own_pointwise(const Context& c, const Geometry& g) {
    return g.w[2] == 1 && g.w[3] == 1 && g.attributes.groups == 1 && g.attributes.padding == Pair{0, 0} &&
           !c.settings.options.reference_separable;
}

/// Winograd F(4x4, 3x3) needs a quarter of the multiplications, but also transforms; with few channels those cost more
/// than is won. A rule and not a measurement: a resumed run must choose the same.
bool uses_winograd(const Context& c, const Geometry& g) {
    return c.settings.options.winograd && c.kernels.vector_width >= 8 && g.w[2] == 3 && g.w[3] == 3 &&
           g.attributes.stride == Pair{1, 1} && g.attributes.dilation == Pair{1, 1} && g.attributes.groups == 1 &&
           std::min(g.x[1], g.y[1]) >= 32;
}

Window window_of(const Geometry& g) {
    Window window;
    for (std::size_t i = 0; i < 2; ++i) {
        window.kernel[i] = g.w[2 + i];
        window.stride[i] = g.attributes.stride[i];
        window.padding[i] = g.attributes.padding[i];
        window.dilation[i] = g.attributes.dilation[i];
    }
    return window;
}

const char* name_of(Direction direction) {
    switch (direction) {
    case Direction::forward:
        return "";
    case Direction::input_gradient:
        return " input gradient";
    case Direction::weight_gradient:
        break;
    }
    return " weight gradient";
}

/// A convolution by our own loops: x and y in layouts of the family's choice, weights row-major.
Lowered lower_own(const Context& c, const Geometry& g, Direction direction, const ConvolutionKernels& kernels,
                  const std::string& name, const Layout& x_layout, const Layout& y_layout) {
    const auto x = activation_shape(g.x, x_layout);
    const auto y = activation_shape(g.y, y_layout);
    const auto window = window_of(g);
    const auto places = ConvolutionPlaces::of(direction);
    Lowered result = c.plain();
    (places.x.input ? result.inputs : result.outputs)[places.x.position] = x_layout;
    (places.y.input ? result.inputs : result.outputs)[places.y.position] = y_layout;
    result.workspace = static_cast<std::size_t>(kernels.scratch(x, y, window, direction, c.threads)) * sizeof(float);
    result.kernel = loop_kernel(
        c, name + name_of(direction),
        [&kernels, direction, x, y, window, relu = g.attributes.relu, threads = c.threads](const Arguments& a) {
            auto* const scratch = a.scratch<float>();
            switch (direction) {
            case Direction::forward:
                return kernels.forward(x, y, window, a.in(0), a.in(1), a.in(2), relu, a.out(0), scratch, threads);
            case Direction::input_gradient:
                return kernels.input_gradient(x, y, window, a.in(0), a.in(1), a.out(0), scratch, threads);
            case Direction::weight_gradient:
                return kernels.weight_gradient(x, y, window, a.in(0), a.in(1), a.out(0), scratch, threads);
            }
        });
    return result;
}

/// Each tensor in its best layout.
Lowered lower_pointwise(const Context& c, const Geometry& g, Direction direction) {
    const auto best = [&](const Shape& shape, const ConvolutionPlaces::Place& place) {
        return c.activation({.shape = shape}, place.input ? c.given(place.position) : Layout{});
    };
    const auto places = ConvolutionPlaces::of(direction);
    return lower_own(c, g, direction, c.kernels.pointwise, "pointwise", best(g.x, places.x), best(g.y, places.y));
}

/// Whole vectors of channels together.
Lowered lower_winograd(const Context& c, const Geometry& g, Direction direction) {
    const auto whole = [&](const Shape& shape) { return blocked_layout(shape, DType::f32, c.kernels.vector_width); };
    return lower_own(c, g, direction, c.kernels.winograd, "winograd", whole(g.x), whole(g.y));
}

/// x and y in the block of the first input.
Lowered lower_depthwise(const Context& c, const Geometry& g, Direction direction) {
    const std::int64_t block = detail_of(c.activation(c.input(0), c.given(0))).block;
    const auto name = "depthwise " + std::to_string(g.w[2]) + 'x' + std::to_string(g.w[3]);
    return lower_own(c, g, direction, c.kernels.depthwise, name, blocked_layout(g.x, DType::f32, block),
                     blocked_layout(g.y, DType::f32, block));
}

Lowered lower_convolution(const Context& c, Direction direction) {
    const auto places = ConvolutionPlaces::of(direction);
    const auto shape = [&](const ConvolutionPlaces::Place& place) {
        return (place.input ? c.input(place.position) : c.output(place.position)).shape;
    };
    const Geometry g{shape(places.x), shape(places.w), shape(places.y), Convolution::from(c.op.attributes)};
    if (uses_own_pointwise(c, g)) {
        return lower_pointwise(c, g, direction);
    }
    if (uses_winograd(c, g)) {
        return lower_winograd(c, g, direction);
    }
    if (uses_own_depthwise(c, g)) {
        return lower_depthwise(c, g, direction);
    }
    return lower_by_library(c, g, direction);
}

/// A library convolution, then y += bias: the input gradient has none of its own.
class WithBias final : public Kernel {
public:
    WithBias(std::unique_ptr<Kernel> convolution, const KernelTable& kernels, const ActivationShape& shape, int threads)
        : convolution_(std::move(convolution)), kernels_(kernels), zeros_(static_cast<std::size_t>(shape.c), 0.0f),
          ones_(static_cast<std::size_t>(shape.c), 1.0f),
          scratch_(static_cast<std::size_t>(batch_norm_partials(shape)), 0.0f) {
        norm_.shape = shape;
        norm_.threads = threads;
    }

    void bind(const Binding& b) override {
        convolution_->bind({b.inputs.first(2), b.outputs, b.workspace});
        norm_.bias = reinterpret_cast<const float*>(b.inputs[2]);
        y_ = reinterpret_cast<float*>(b.outputs[0]);
    }
    void run() override {
        convolution_->run();
        kernels_.batch_norm_apply(norm_, y_, zeros_.data(), ones_.data(), false, nullptr, y_, scratch_.data());
    }
    [[nodiscard]] std::string name() const override { return convolution_->name() + " + bias"; }

private:
    std::unique_ptr<Kernel> convolution_;
    const KernelTable& kernels_;
    std::vector<float> zeros_, ones_, scratch_;
    BatchNorm norm_;
    float* y_ = nullptr;
};

/// A transposed convolution is the input gradient of the convolution that leads from its output to its input.
Lowered lower_transposed(const Context& c) {
    const Geometry g{c.output(0).shape, c.input(1).shape, c.input(0).shape, Convolution::from(c.op.attributes)};
    Lowered result = lower_by_library(c, g, Direction::input_gradient);
    if (c.has_input(2)) {
        const ActivationShape y = activation_shape(c.output(0).shape, result.outputs[0]);
        result.kernel = std::make_unique<WithBias>(std::move(result.kernel), c.kernels, y, c.threads);
    }
    return result;
}

} // namespace

void add_convolution(LoweringTable& table) {
    table["conv2d"] = {[](const Context& c) { return lower_convolution(c, Direction::forward); }, {}};
    table["conv2d_input_gradient"] = {[](const Context& c) { return lower_convolution(c, Direction::input_gradient); },
                                      {}};
    table["conv2d_weight_gradient"] = {
        [](const Context& c) { return lower_convolution(c, Direction::weight_gradient); }, {}};
    table["conv_transpose2d"] = {lower_transposed, {}};
}

} // namespace espalier::cpu
