// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_gather.cuh"
#include "backends/cuda/kernels/depthwise_rows.h"

/// Input gradients of depthwise convolutions that read their input through a ReLU, or a batch norm and a ReLU.
namespace espalier::cuda {
namespace {

struct Backward {
    const Gather& gather;
    const void* gy;
    const Weights& filter;
    void* gx;
    const GatherExtras& extras;
    const LaunchStream& stream;

    template <class T, class X, int K, GatherEnd end>
    void run() const {
        constexpr auto form = InputForm::plain;
        if (gather_width(gather) == 8)
            enqueue_gather<T, X, K, 1, 8, form, end>(gather, gy, filter, gx, {}, extras, stream);
        else
            enqueue_gather<T, X, K, 1, 4, form, end>(gather, gy, filter, gx, {}, extras, stream);
    }
    template <class T, int K>
    void run() const {
        if (extras.x.mean != nullptr)
            run<T, T, K, GatherEnd::mask_and_sums>();
        else if (extras.x.f32)
            run<T, float, K, GatherEnd::mask>();
        else
            run<T, T, K, GatherEnd::mask>();
    }
};

} // namespace

std::int64_t depthwise_input_gradient_blocks(const Depthwise& shape) {
    if (const auto rows = depthwise_rows(shape))
        return rows->blocks;
    const auto gather = input_gradient_gather(shape);
    return gather_plan(gather, static_cast<int>(shape.kernel[0]), gather_width(gather)).blocks();
}

void launch_depthwise_input_gradient(const Depthwise& shape, const void* gy, const DepthwiseInput& input,
                                     const Weights& filter, void* gx, float* partials, const LaunchStream& stream) {
    if (form_of(input) == InputForm::plain)
        return launch_depthwise_input_gradient(shape, gy, filter.data, nullptr, gx, stream);
    if (const auto rows = depthwise_rows(shape))
        return launch_depthwise_rows(shape, *rows, gy, input, filter, gx, partials, stream);
    const auto gather = input_gradient_gather(shape);
    GatherExtras extras;
    extras.x = input;
    extras.partials = partials;
    const Backward backward{gather, gy, filter, gx, extras, stream};
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        if (shape.kernel[0] == 3)
            backward.run<T, 3>();
        else
            backward.run<T, 5>();
    });
}

} // namespace espalier::cuda
