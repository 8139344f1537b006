// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/convolution_epilogue.h"

#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/divisor.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// The channel of an element, for tensors of any size.
struct LargeTensor {
    std::int64_t step, pitch;
    __device__ std::int64_t channel(std::int64_t i) const { return i / step % pitch; }
};

/// The same below 2^31 elements, without a division.
struct SmallTensor {
    Divisor step, pitch;
    __device__ std::uint32_t channel(std::int64_t i) const {
        auto channel = step.quotient(static_cast<std::uint32_t>(i));
        pitch.split(channel);
        return channel;
    }
};

template <class T, class Place>
__global__ void epilogue_kernel(T* y, const float* bias, Epilogue e, Place place) {
    for (auto i = grid_index(); i < e.elements; i += grid_size()) {
        const auto channel = place.channel(i);
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
    const auto launch = [&](auto element, auto place) {
        using T = decltype(element);
        epilogue_kernel<<<blocks_for(epilogue.elements, threads), threads, 0, stream>>>(static_cast<T*>(y), bias,
                                                                                        epilogue, place);
    };
    with_type(epilogue.type, [&](auto element) {
        if (epilogue.elements < std::int64_t{1} << 31)
            launch(element, SmallTensor{Divisor(epilogue.step), Divisor(epilogue.pitch)});
        else
            launch(element, LargeTensor{epilogue.step, epilogue.pitch});
    });
}

} // namespace espalier::cuda
