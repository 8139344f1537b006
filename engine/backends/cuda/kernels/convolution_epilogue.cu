// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/convolution_epilogue.h"

#include "backends/cuda/kernels/common.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void epilogue_kernel(T* y, const float* bias, Epilogue e) {
    for (auto i = grid_index(); i < e.elements; i += grid_size()) {
        const auto channel = i / e.step % e.pitch;
        if (channel >= e.channels)
            continue;
        float value = to_float(y[i]);
        if (bias != nullptr)
            value += bias[channel];
        y[i] = from_float<T>(e.relu ? fmaxf(value, 0.0F) : value);
    }
}

} // namespace

void launch_epilogue(void* y, const float* bias, const Epilogue& epilogue, cudaStream_t stream) {
    with_type(epilogue.type, [&](auto element) {
        using T = decltype(element);
        epilogue_kernel<<<blocks_for(epilogue.elements, threads), threads, 0, stream>>>(static_cast<T*>(y), bias,
                                                                                        epilogue);
    });
}

} // namespace espalier::cuda
