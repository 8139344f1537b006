// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise_weight_gradient.cuh"
#include "backends/cuda/kernels/split_sum.h"

/// Weight gradients of depthwise convolutions that read their input through a ReLU, or a batch norm and a ReLU.
namespace espalier::cuda {

using namespace depthwise_weights;

namespace {

template <class T, int K>
void launch_form(const Depthwise& d, const DepthwiseInput& x, const T* gy, float* partials,
                 const LaunchStream& stream) {
    if (form_of(x) == InputForm::normalised)
        launch<T, T, K, InputForm::normalised>(d, x, gy, partials, stream);
    else if (x.f32)
        launch<T, float, K, InputForm::relu>(d, x, gy, partials, stream);
    else
        launch<T, T, K, InputForm::relu>(d, x, gy, partials, stream);
}

} // namespace

void launch_depthwise_weight_gradient(const Depthwise& d, const DepthwiseInput& x, const void* gy, float* workspace,
                                      void* gw, DType gw_type, const LaunchStream& stream) {
    if (form_of(x) == InputForm::plain)
        return launch_depthwise_weight_gradient(d, x.x, gy, workspace, gw, gw_type, stream);
    with_type(d.type, [&](auto element) {
        using T = decltype(element);
        if (d.kernel[0] == 3)
            launch_form<T, 3>(d, x, static_cast<const T*>(gy), workspace, stream);
        else
            launch_form<T, 5>(d, x, static_cast<const T*>(gy), workspace, stream);
    });
    launch_split_sum(workspace, shares_of(d).splits, d.kernel[0] * d.kernel[1] * d.channels, gw, gw_type,
                     stream.behind());
}

} // namespace espalier::cuda
