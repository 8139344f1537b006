// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/library_convolution.h"

#include "backends/cpu/onednn_adapter.h"
#include "backends/cpu/team.h"
#include "base/error.h"

#include <algorithm>

namespace espalier::cpu {
namespace {

using onednn::Problem;

Problem problem_of(const ConvolutionGeometry& g, Direction direction, bool bias) {
    Problem p;
    p.direction = direction;
    p.n = g.x[0];
    p.groups = g.attributes.groups;
    p.ic = g.x[1];
    p.ih = g.x[2];
    p.iw = g.x[3];
    p.oc = g.y[1];
    p.oh = g.y[2];
    p.ow = g.y[3];
    p.kh = g.w[2];
    p.kw = g.w[3];
    p.stride = g.attributes.stride;
    p.padding = g.attributes.padding;
    p.dilation = g.attributes.dilation;
    p.bias = bias;
    p.relu = g.attributes.relu;
    return p;
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
    LibraryConvolution(std::shared_ptr<onednn::Convolution> convolution, ConvolutionPlaces places, int threads)
        : convolution_(std::move(convolution)), places_(places), threads_(threads) {}

    void bind(const Binding& b) override {
        const auto at = [&b](const ConvolutionPlaces::Place& place) {
            return (place.input ? b.inputs : b.outputs)[place.position];
        };
        void* bias = b.inputs.size() > 2 ? b.inputs[2] : nullptr;
        convolution_->bind(at(places_.x), at(places_.w), bias, at(places_.y), b.workspace);
    }
    void run() override {
        set_team(threads_);
        convolution_->run();
    }
    [[nodiscard]] std::string name() const override { return "onednn " + convolution_->name(); }

private:
    std::shared_ptr<onednn::Convolution> convolution_;
    ConvolutionPlaces places_;
    int threads_;
};

} // namespace

ConvolutionPlaces ConvolutionPlaces::of(Direction direction) {
    switch (direction) {
    case Direction::forward:
        return {{true, 0}, {true, 1}, {false, 0}};
    case Direction::input_gradient:
        return {{false, 0}, {true, 1}, {true, 0}};
    case Direction::weight_gradient:
        break;
    }
    return {{true, 0}, {false, 0}, {true, 1}};
}

Lowered lower_by_library(const Context& c, const ConvolutionGeometry& g, Direction direction) {
    set_team(c.threads); // a primitive is made for the number of threads of its time
    const auto places = ConvolutionPlaces::of(direction);
    const Layout now = places.w.input ? c.given(places.w.position) : Layout{};
    onednn::DescriptionPtr weights;
    if (is_library_layout(now)) {
        weights = detail_of(now).library;
    }
    const bool bias = direction == Direction::forward && c.has_input(2);
    const Choice choice = choose(c, problem_of(g, direction, bias), weights);
    Lowered result = c.plain();
    const auto layout = [&result](const ConvolutionPlaces::Place& place) -> Layout& {
        return (place.input ? result.inputs : result.outputs)[place.position];
    };
    layout(places.x) = blocked_layout(g.x, DType::f32, choice.x_block);
    layout(places.w) = library_layout(g.w, choice.convolution->weights());
    layout(places.y) = blocked_layout(g.y, DType::f32, choice.y_block);
    result.workspace = choice.convolution->workspace();
    result.kernel = std::make_unique<LibraryConvolution>(choice.convolution, places, c.threads);
    return result;
}

} // namespace espalier::cpu
