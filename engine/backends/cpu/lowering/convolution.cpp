// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"

#include "backends/cpu/lowering/lowering.h"
#include "base/error.h"

#include <omp.h>

#include <algorithm>

namespace espalier::cpu {

namespace {

using onednn::Direction;
using onednn::Problem;

/// Where the three tensors of a convolution stand in an op.
struct Places {
    bool x_is_input, w_is_input, y_is_input;
    std::size_t x, w, y;
};

/// A convolution as the ops say it: x, w and y of the forward direction, whichever of them is computed.
struct Geometry {
    Shape x, w, y;
    Convolution attributes;

    [[nodiscard]] bool depthwise() const {
        return attributes.groups > 1 && attributes.groups == x[1] && attributes.groups == y[1];
    }
    [[nodiscard]] Window window() const {
        Window result;
        for (std::size_t i = 0; i < 2; ++i) {
            result.kernel[i] = w[2 + i];
            result.stride[i] = attributes.stride[i];
            result.padding[i] = attributes.padding[i];
            result.dilation[i] = attributes.dilation[i];
        }
        return result;
    }
    [[nodiscard]] Problem problem(Direction direction, bool bias) const {
        Problem p;
        p.direction = direction;
        p.n = x[0];
        p.groups = attributes.groups;
        p.ic = x[1];
        p.ih = x[2];
        p.iw = x[3];
        p.oc = y[1];
        p.oh = y[2];
        p.ow = y[3];
        p.kh = w[2];
        p.kw = w[3];
        p.stride = attributes.stride;
        p.padding = attributes.padding;
        p.dilation = attributes.dilation;
        p.bias = bias;
        p.relu = attributes.relu;
        return p;
    }
};

constexpr std::int64_t highest_depthwise_window = 64;

bool uses_own_depthwise(const Context& c, const Geometry& g) {
    return g.depthwise() && !c.settings.options.reference_separable && g.w[2] <= highest_depthwise_window;
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

/// One convolution made by the library, and the channels together of x and y.
struct Choice {
    std::shared_ptr<onednn::Convolution> convolution;
    std::int64_t x_block, y_block;
};

/// The same for weights that must have a given order (null: free).
Choice choose(const Context& c, const Problem& p, const onednn::DescriptionPtr& weights) {
    const std::int64_t width = c.kernels.vector_width >= 16 ? 16 : 8;
    const std::int64_t x_best = p.ic <= 4 ? 1 : c.preferred(p.ic);
    const std::int64_t y_best = c.preferred(p.oc);
    const std::pair<std::int64_t, std::int64_t> candidates[] = {
        {x_best, y_best}, {c.preferred(p.ic), y_best}, {width, width}, {p.ic, p.oc}, {1, width}, {1, 1}};
    const auto create = [&](std::int64_t x_block, std::int64_t y_block) -> std::shared_ptr<onednn::Convolution> {
        // A smaller block that has all channels is the same memory.
        std::shared_ptr<onednn::Convolution> free =
            onednn::Convolution::create(p, std::min(x_block, p.ic), std::min(y_block, p.oc), nullptr);
        if (free == nullptr || weights == nullptr || onednn::equal(*free->weights(), *weights)) {
            return free;
        }
        std::shared_ptr<onednn::Convolution> bound =
            onednn::Convolution::create(p, std::min(x_block, p.ic), std::min(y_block, p.oc), weights);
        return bound != nullptr && bound->fast() ? bound : free;
    };
    Choice last{};
    for (const auto& [x_block, y_block] : candidates) {
        auto convolution = create(x_block, y_block);
        if (convolution == nullptr) {
            continue;
        }
        if (convolution->fast()) {
            return {convolution, x_block, y_block};
        }
        if (last.convolution == nullptr) {
            last = {convolution, x_block, y_block};
        }
    }
    if (last.convolution == nullptr) {
        throw DeviceError("oneDNN " + onednn::version() + " has no convolution for " + c.op.kind + " of layer '" +
                          c.op.layer + "'. Choose the reference backend for it.");
    }
    return last;
}

class LibraryConvolution final : public Kernel {
public:
    LibraryConvolution(std::shared_ptr<onednn::Convolution> convolution, Places places, int threads)
        : convolution_(std::move(convolution)), places_(places), threads_(threads) {}

    void bind(const Binding& b) override {
        const auto at = [&b](bool input, std::size_t i) { return input ? b.inputs[i] : b.outputs[i]; };
        void* bias = b.inputs.size() > 2 ? b.inputs[2] : nullptr;
        convolution_->bind(at(places_.x_is_input, places_.x), at(places_.w_is_input, places_.w), bias,
                           at(places_.y_is_input, places_.y), b.workspace);
    }
    void run() override {
        omp_set_num_threads(threads_);
        convolution_->run();
    }
    [[nodiscard]] std::string name() const override { return "onednn " + convolution_->name(); }

private:
    std::shared_ptr<onednn::Convolution> convolution_;
    Places places_;
    int threads_;
};

Lowered lower_by_library(const Context& c, const Geometry& g, Direction direction, const Places& places) {
    omp_set_num_threads(c.threads); // a primitive is made for the number of threads of its time
    const Layout now = places.w_is_input ? c.given(places.w) : Layout{};
    onednn::DescriptionPtr weights;
    if (is_library_layout(now)) {
        weights = detail_of(now).library;
    }
    const bool bias = direction == Direction::forward && c.has_input(2);
    const Choice choice = choose(c, g.problem(direction, bias), weights);
    Lowered result = c.plain();
    const auto set = [&result](bool input, std::size_t i, Layout layout) {
        (input ? result.inputs : result.outputs)[i] = std::move(layout);
    };
    set(places.x_is_input, places.x, blocked_layout(g.x, DType::f32, choice.x_block));
    set(places.w_is_input, places.w, library_layout(g.w, choice.convolution->weights()));
    set(places.y_is_input, places.y, blocked_layout(g.y, DType::f32, choice.y_block));
    result.workspace = choice.convolution->workspace();
    result.kernel = std::make_unique<LibraryConvolution>(choice.convolution, places, c.threads);
    return result;
}

/// x and y in one block, weights row-major.
struct Depthwise {
    Layout x_layout, y_layout;
    ActivationShape x, y;
    Window window;
    std::size_t workspace;

    Depthwise(const Context& c, const Geometry& g, const Tensor& tensor, const Layout& now, bool forward) {
        const std::int64_t block = detail_of(c.activation(tensor, now)).block;
        x_layout = blocked_layout(g.x, DType::f32, block);
        y_layout = blocked_layout(g.y, DType::f32, block);
        x = activation_shape(g.x, x_layout);
        y = activation_shape(g.y, y_layout);
        window = g.window();
        workspace =
            static_cast<std::size_t>(c.kernels.depthwise_scratch(x, y, window, forward, c.threads)) * sizeof(float);
    }
};

/// Each tensor in its best layout, weights row-major.
struct Pointwise {
    Layout x_layout, y_layout;
    ActivationShape x, y;
    Pair stride;
    std::size_t workspace;

    /// `x_now`, `y_now`: the layouts that inputs have; undefined for outputs.
    Pointwise(const Context& c, const Geometry& g, const Layout& x_now, const Layout& y_now, bool weight_gradient)
        : stride(g.attributes.stride) {
        x_layout = c.activation({.shape = g.x}, x_now);
        y_layout = c.activation({.shape = g.y}, y_now);
        x = activation_shape(g.x, x_layout);
        y = activation_shape(g.y, y_layout);
        workspace = static_cast<std::size_t>(c.kernels.pointwise_scratch(x, y, weight_gradient)) * sizeof(float);
    }
};

Lowered lower_pointwise(const Context& c, const Geometry& g) {
    const Pointwise p(c, g, c.given(0), {}, false);
    Lowered result = c.plain();
    result.inputs[0] = p.x_layout;
    result.outputs[0] = p.y_layout;
    result.workspace = p.workspace;
    result.kernel =
        loop_kernel(c, "pointwise", [&k = c.kernels, p, relu = g.attributes.relu, t = c.threads](const Arguments& a) {
            k.pointwise_forward(p.x, p.y, p.stride.data(), a.in(0), a.in(1), a.in(2), relu, a.out(0),
                                a.scratch<float>(), t);
        });
    return result;
}

Lowered lower_pointwise_input_gradient(const Context& c, const Geometry& g) {
    const Pointwise p(c, g, {}, c.given(0), false);
    Lowered result = c.plain();
    result.inputs[0] = p.y_layout;
    result.outputs[0] = p.x_layout;
    result.workspace = p.workspace;
    result.kernel = loop_kernel(c, "pointwise input gradient", [&k = c.kernels, p, t = c.threads](const Arguments& a) {
        k.pointwise_input_gradient(p.x, p.y, p.stride.data(), a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
    });
    return result;
}

Lowered lower_pointwise_weight_gradient(const Context& c, const Geometry& g) {
    const Pointwise p(c, g, c.given(0), c.given(1), true);
    Lowered result = c.plain();
    result.inputs[0] = p.x_layout;
    result.inputs[1] = p.y_layout;
    result.workspace = p.workspace;
    result.kernel = loop_kernel(c, "pointwise weight gradient", [&k = c.kernels, p, t = c.threads](const Arguments& a) {
        k.pointwise_weight_gradient(p.x, p.y, p.stride.data(), a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
    });
    return result;
}

/// Whole vectors of channels together, weights row-major.
struct Winograd {
    Layout x_layout, y_layout;
    ActivationShape x, y;
    Pair padding;
    std::size_t workspace;

    Winograd(const Context& c, const Geometry& g, Direction direction) : padding(g.attributes.padding) {
        x_layout = blocked_layout(g.x, DType::f32, c.kernels.vector_width);
        y_layout = blocked_layout(g.y, DType::f32, c.kernels.vector_width);
        x = activation_shape(g.x, x_layout);
        y = activation_shape(g.y, y_layout);
        workspace = static_cast<std::size_t>(
                        c.kernels.winograd_scratch(x, y, padding.data(), static_cast<int>(direction), c.threads)) *
                    sizeof(float);
    }
};

Lowered lower_winograd(const Context& c, const Geometry& g) {
    const Winograd w(c, g, Direction::forward);
    Lowered result = c.plain();
    result.inputs[0] = w.x_layout;
    result.outputs[0] = w.y_layout;
    result.workspace = w.workspace;
    result.kernel =
        loop_kernel(c, "winograd", [&k = c.kernels, w, relu = g.attributes.relu, t = c.threads](const Arguments& a) {
            k.winograd_forward(w.x, w.y, w.padding.data(), a.in(0), a.in(1), a.in(2), relu, a.out(0),
                               a.scratch<float>(), t);
        });
    return result;
}

Lowered lower_winograd_input_gradient(const Context& c, const Geometry& g) {
    const Winograd w(c, g, Direction::input_gradient);
    Lowered result = c.plain();
    result.inputs[0] = w.y_layout;
    result.outputs[0] = w.x_layout;
    result.workspace = w.workspace;
    result.kernel = loop_kernel(c, "winograd input gradient", [&k = c.kernels, w, t = c.threads](const Arguments& a) {
        k.winograd_input_gradient(w.x, w.y, w.padding.data(), a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
    });
    return result;
}

Lowered lower_winograd_weight_gradient(const Context& c, const Geometry& g) {
    const Winograd w(c, g, Direction::weight_gradient);
    Lowered result = c.plain();
    result.inputs[0] = w.x_layout;
    result.inputs[1] = w.y_layout;
    result.workspace = w.workspace;
    result.kernel = loop_kernel(c, "winograd weight gradient", [&k = c.kernels, w, t = c.threads](const Arguments& a) {
        k.winograd_weight_gradient(w.x, w.y, w.padding.data(), a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
    });
    return result;
}

std::string depthwise_name(const Geometry& g, const char* what) {
    return "depthwise " + std::to_string(g.w[2]) + 'x' + std::to_string(g.w[3]) + what;
}

Lowered lower_conv2d(const Context& c) {
    const Geometry g{c.input(0).shape, c.input(1).shape, c.output(0).shape, Convolution::from(c.op.attributes)};
    if (uses_own_pointwise(c, g)) {
        return lower_pointwise(c, g);
    }
    if (uses_winograd(c, g)) {
        return lower_winograd(c, g);
    }
    if (!uses_own_depthwise(c, g)) {
        return lower_by_library(c, g, Direction::forward, {true, true, false, 0, 1, 0});
    }
    const Depthwise d(c, g, c.input(0), c.given(0), true);
    Lowered result = c.plain();
    result.inputs[0] = d.x_layout;
    result.outputs[0] = d.y_layout;
    result.workspace = d.workspace;
    result.kernel = loop_kernel(
        c, depthwise_name(g, ""), [&k = c.kernels, d, relu = g.attributes.relu, t = c.threads](const Arguments& a) {
            k.depthwise_forward(d.x, d.y, d.window, a.in(0), a.in(1), a.in(2), relu, a.out(0), a.scratch<float>(), t);
        });
    return result;
}

Lowered lower_input_gradient(const Context& c) {
    const Geometry g{c.output(0).shape, c.input(1).shape, c.input(0).shape, Convolution::from(c.op.attributes)};
    if (uses_own_pointwise(c, g)) {
        return lower_pointwise_input_gradient(c, g);
    }
    if (uses_winograd(c, g)) {
        return lower_winograd_input_gradient(c, g);
    }
    if (!uses_own_depthwise(c, g)) {
        return lower_by_library(c, g, Direction::input_gradient, {false, true, true, 0, 1, 0});
    }
    const Depthwise d(c, g, c.input(0), c.given(0), false);
    Lowered result = c.plain();
    result.inputs[0] = d.y_layout;
    result.outputs[0] = d.x_layout;
    result.workspace = d.workspace;
    result.kernel =
        loop_kernel(c, depthwise_name(g, " input gradient"), [&k = c.kernels, d, t = c.threads](const Arguments& a) {
            k.depthwise_input_gradient(d.x, d.y, d.window, a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
        });
    return result;
}

Lowered lower_weight_gradient(const Context& c) {
    const Geometry g{c.input(0).shape, c.output(0).shape, c.input(1).shape, Convolution::from(c.op.attributes)};
    if (uses_own_pointwise(c, g)) {
        return lower_pointwise_weight_gradient(c, g);
    }
    if (uses_winograd(c, g)) {
        return lower_winograd_weight_gradient(c, g);
    }
    if (!uses_own_depthwise(c, g)) {
        return lower_by_library(c, g, Direction::weight_gradient, {true, false, true, 0, 0, 1});
    }
    const Depthwise d(c, g, c.input(0), c.given(0), true);
    Lowered result = c.plain();
    result.inputs[0] = d.x_layout;
    result.inputs[1] = d.y_layout;
    result.workspace = d.workspace;
    result.kernel =
        loop_kernel(c, depthwise_name(g, " weight gradient"), [&k = c.kernels, d, t = c.threads](const Arguments& a) {
            k.depthwise_weight_gradient(d.x, d.y, d.window, a.in(0), a.in(1), a.out(0), a.scratch<float>(), t);
        });
    return result;
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
    Lowered result = lower_by_library(c, g, Direction::input_gradient, {false, true, true, 0, 1, 0});
    if (c.has_input(2)) {
        const ActivationShape y = activation_shape(c.output(0).shape, result.outputs[0]);
        result.kernel = std::make_unique<WithBias>(std::move(result.kernel), c.kernels, y, c.threads);
    }
    return result;
}

} // namespace

void add_convolution(LoweringTable& table) {
    table["conv2d"] = {lower_conv2d, {}};
    table["conv2d_input_gradient"] = {lower_input_gradient, {}};
    table["conv2d_weight_gradient"] = {lower_weight_gradient, {}};
    table["conv_transpose2d"] = {lower_transposed, {}};
}

} // namespace espalier::cpu
