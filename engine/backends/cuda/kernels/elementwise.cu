// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/overlap.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// Applies body(eight values of each input) to eights of elements, then the rest one by one. Every tensor begins on 64
/// bytes.
template <class T, class Body>
__global__ void map1_kernel(const T* x, T* y, std::int64_t count, Body body) {
    const auto eights = count / 8;
    take_turn();
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        Eight e = load8(x + 8 * i);
#pragma unroll
        for (float& value : e.v)
            value = body(value);
        store8(y + 8 * i, e);
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size())
        y[i] = from_float<T>(body(to_float(x[i])));
}

template <class T, class Body>
__global__ void map2_kernel(const T* a, const T* b, T* y, std::int64_t count, Body body) {
    const auto eights = count / 8;
    take_turn();
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        Eight e = load8(a + 8 * i);
        const Eight f = load8(b + 8 * i);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            e.v[j] = body(e.v[j], f.v[j]);
        store8(y + 8 * i, e);
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size())
        y[i] = from_float<T>(body(to_float(a[i]), to_float(b[i])));
}

struct Relu {
    __device__ float operator()(float x) const { return fmaxf(x, 0.0F); }
};
struct Mask {
    __device__ float operator()(float y, float gy) const { return y > 0.0F ? gy : 0.0F; }
};
struct Scale {
    const float* c;
    __device__ float operator()(float x) const { return *c * x; }
};

template <class T>
struct Summands {
    const T* x[most_summands];
    int count;
};

template <class T>
__global__ void add_kernel(Summands<T> s, T* y, bool relu, std::int64_t count) {
    const auto eights = count / 8;
    take_turn();
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        Eight sum = load8(s.x[0] + 8 * i);
        for (int k = 1; k < s.count; ++k) {
            const Eight e = load8(s.x[k] + 8 * i);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sum.v[j] += e.v[j];
        }
        if (relu)
#pragma unroll
            for (float& value : sum.v)
                value = fmaxf(value, 0.0F);
        store8(y + 8 * i, sum);
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size()) {
        float sum = to_float(s.x[0][i]);
        for (int k = 1; k < s.count; ++k)
            sum += to_float(s.x[k][i]);
        y[i] = from_float<T>(relu ? fmaxf(sum, 0.0F) : sum);
    }
}

/// Rows of `pitch` elements, of which `channels` are real and the others zero; a pitch beyond is a multiple of eight.
/// Neighbouring threads store neighbouring 16 bytes, and each several of them.
template <class T>
__global__ void constant_kernel(T* y, float value, std::int64_t channels, std::int64_t pitch, std::int64_t count) {
    constexpr int per = 16 / static_cast<int>(sizeof(T));
    struct alignas(16) Vector {
        T v[per];
    };
    const T real = from_float<T>(value), padding = from_float<T>(0.0F);
    const auto vectors = count / per, step = grid_size();
    // Without padding there is one vector in a row, all of it real.
    const auto of_row = channels == pitch ? 1 : pitch / per, end = channels == pitch ? per : channels;
    auto column = grid_index() % of_row;
    const auto step_columns = step % of_row;
    take_turn();
    for (auto i = grid_index(); i < vectors; i += step) {
        Vector e;
#pragma unroll
        for (int j = 0; j < per; ++j)
            e.v[j] = column * per + j < end ? real : padding;
        reinterpret_cast<Vector*>(y)[i] = e;
        column += step_columns;
        column -= column >= of_row ? of_row : 0;
    }
    for (auto i = per * vectors + grid_index(); i < count; i += step)
        y[i] = real;
}

unsigned eight_blocks(std::int64_t count) { return blocks_for(count / 8 + 1, threads); }

} // namespace

void launch_relu(const void* x, void* y, std::int64_t count, DType type, const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(map1_kernel<T, Relu>, dim3(eight_blocks(count)), dim3(threads), 0, stream, static_cast<const T*>(x),
                static_cast<T*>(y), count, Relu{});
    });
}

void launch_relu_gradient(const void* y, const void* gy, void* gx, std::int64_t count, DType type,
                          const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(map2_kernel<T, Mask>, dim3(eight_blocks(count)), dim3(threads), 0, stream, static_cast<const T*>(y),
                static_cast<const T*>(gy), static_cast<T*>(gx), count, Mask{});
    });
}

void launch_add(const std::vector<const void*>& x, void* y, bool relu, std::int64_t count, DType type,
                const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        Summands<T> summands{};
        summands.count = static_cast<int>(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            summands.x[i] = static_cast<const T*>(x[i]);
        enqueue(add_kernel<T>, dim3(eight_blocks(count)), dim3(threads), 0, stream, summands, static_cast<T*>(y), relu,
                count);
    });
}

void launch_scale(const void* x, const float* c, void* y, std::int64_t count, DType type, const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(map1_kernel<T, Scale>, dim3(eight_blocks(count)), dim3(threads), 0, stream, static_cast<const T*>(x),
                static_cast<T*>(y), count, Scale{c});
    });
}

void launch_constant(void* y, float value, std::int64_t channels, std::int64_t pitch, std::int64_t count, DType type,
                     const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        constexpr std::int64_t blocks_at_once = 8 * 132; // of a large chip; more would only take turns
        const auto vectors = count / (16 / static_cast<std::int64_t>(sizeof(T))) + 1;
        enqueue(constant_kernel<T>, dim3(blocks_for(vectors, threads, blocks_at_once)), dim3(threads), 0, stream,
                static_cast<T*>(y), value, channels, pitch, count);
    });
}

} // namespace espalier::cuda
