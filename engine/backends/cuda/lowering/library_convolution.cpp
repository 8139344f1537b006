// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/lowering/library_convolution.h"

#include "backends/cuda/cudnn/planner.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/ceil_divide.h"

namespace espalier::cuda {
namespace {

std::byte* tensor_at(const Binding& binding, int place) {
    return place < 0 ? binding.outputs[0] : binding.inputs[static_cast<std::size_t>(place)];
}

class ConvolutionKernel final : public Kernel {
public:
    ConvolutionKernel(const Context& c, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                      std::optional<Epilogue> epilogue)
        : planner_(*c.settings.planner), stream_(c.settings.stream), plan_(std::move(plan)), places_(places),
          epilogue_(epilogue) {}

    void bind(const Binding& b) override {
        execution_.emplace(plan_, tensor_at(b, places_.x), tensor_at(b, places_.w), tensor_at(b, places_.y),
                           b.workspace);
        output_ = b.outputs[0];
        bias_ = b.inputs.size() > 2 ? b.inputs[2] : nullptr;
    }

    void run() override {
        execution_->run(planner_.handle(*stream_));
        if (epilogue_)
            launch_epilogue(output_, reinterpret_cast<const float*>(bias_), *epilogue_, *stream_);
        check_launch(plan_->name().c_str());
    }

    [[nodiscard]] std::string name() const override { return plan_->name(); }

private:
    cudnn::Planner& planner_;
    const LaunchStream* stream_;
    std::shared_ptr<const cudnn::Plan> plan_;
    ConvolutionPlaces places_;
    std::optional<Epilogue> epilogue_;
    std::optional<cudnn::Execution> execution_;
    std::byte* output_ = nullptr;
    std::byte* bias_ = nullptr;
};

class SlicedConvolutionKernel final : public Kernel {
public:
    SlicedConvolutionKernel(const Context& c, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                            bool of_input, const ShiftedSlice& slice)
        : planner_(*c.settings.planner), stream_(c.settings.stream), plan_(std::move(plan)), places_(places),
          of_input_(of_input), slice_(slice) {}

    [[nodiscard]] std::size_t workspace() const { return slice_bytes() + plan_->workspace(); }

    void bind(const Binding& b) override {
        image_ = tensor_at(b, places_.x);
        met_ = b.workspace;
        execution_.emplace(plan_, met_, tensor_at(b, places_.w), tensor_at(b, places_.y), b.workspace + slice_bytes());
    }

    void run() override {
        if (!of_input_)
            launch_shifted_slice(image_, met_, slice_, *stream_);
        execution_->run(planner_.handle(*stream_));
        if (of_input_)
            launch_shifted_slice_gradient(met_, image_, slice_, *stream_);
        check_launch(plan_->name().c_str());
    }

    [[nodiscard]] std::string name() const override { return plan_->name() + " of a slice"; }

private:
    /// In the workspace, in front of what the plan needs.
    [[nodiscard]] std::size_t slice_bytes() const {
        constexpr std::int64_t alignment = 256;
        return static_cast<std::size_t>(alignment *
                                        ceil_divide(slice_.n * slice_.p * slice_.q * slice_.pixel, alignment));
    }

    cudnn::Planner& planner_;
    const LaunchStream* stream_;
    std::shared_ptr<const cudnn::Plan> plan_;
    ConvolutionPlaces places_;
    bool of_input_;
    ShiftedSlice slice_;
    std::optional<cudnn::Execution> execution_;
    std::byte *image_ = nullptr, *met_ = nullptr; ///< all pixels, and those that the convolution meets
};

} // namespace

void run_by_library(const Context& c, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                    std::optional<Epilogue> epilogue, Lowered& lowered) {
    lowered.workspace = plan->workspace();
    lowered.kernel = std::make_unique<ConvolutionKernel>(c, std::move(plan), places, epilogue);
}

void run_by_library_sliced(const Context& c, std::shared_ptr<const cudnn::Plan> plan, ConvolutionPlaces places,
                           bool of_input, const ShiftedSlice& slice, Lowered& lowered) {
    auto kernel = std::make_unique<SlicedConvolutionKernel>(c, std::move(plan), places, of_input, slice);
    lowered.workspace = kernel->workspace();
    lowered.kernel = std::move(kernel);
}

} // namespace espalier::cuda
