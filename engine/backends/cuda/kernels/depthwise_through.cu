// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_gather.cuh"

/// Depthwise convolutions that read their input through a ReLU, or a batch norm and a ReLU.
namespace espalier::cuda {
namespace {

struct Forward {
    const Gather& gather;
    const DepthwiseInput& input;
    const void* filter;
    void* y;
    const LaunchStream& stream;

    template <class T, int K, InputForm form>
    void run() const {
        constexpr auto end = GatherEnd::activation;
        const T* const taps = static_cast<const T*>(filter);
        if (gather_width(gather) == 8)
            enqueue_gather<T, T, K, 1, 8, form, end>(gather, input.x, taps, y, input, {}, stream);
        else
            enqueue_gather<T, T, K, 1, 4, form, end>(gather, input.x, taps, y, input, {}, stream);
    }
    template <class T, int K>
    void run() const {
        if (form_of(input) == InputForm::normalised)
            run<T, K, InputForm::normalised>();
        else
            run<T, K, InputForm::relu>();
    }
};

/// More would take long to merge.
constexpr std::int64_t most_sums = 2048;

} // namespace

bool reads_through(const Depthwise& d) {
    using Pair = std::array<std::int64_t, 2>;
    const auto k = d.kernel[0];
    return (k == 3 || k == 5) && d.kernel[1] == k && d.stride == Pair{1, 1} && d.dilation == Pair{1, 1} &&
           is_unrolled(forward_gather(d, false)) && is_unrolled(input_gradient_gather(d)) &&
           fits_32_bits((d.y[1] + 32 + d.padding[1] + k + d.x[1]) * d.channels) && // as the weight gradient counts
           depthwise_input_gradient_blocks(d) <= most_sums;
}

void launch_depthwise(const Depthwise& shape, const DepthwiseInput& input, const void* filter, void* y,
                      const LaunchStream& stream) {
    if (form_of(input) == InputForm::plain)
        return launch_depthwise(shape, input.x, filter, nullptr, false, y, stream);
    const auto gather = forward_gather(shape, false);
    const Forward forward{gather, input, filter, y, stream};
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        if (shape.kernel[0] == 3)
            forward.run<T, 3>();
        else
            forward.run<T, 5>();
    });
}

} // namespace espalier::cuda
