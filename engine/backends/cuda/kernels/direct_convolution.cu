// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/direct_convolution.h"
#include "backends/cuda/kernels/split_sum.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

/// A block makes a tile of 64 x 64 results, a thread 4 x 4 of them, from slices of 16 terms in shared memory.
constexpr int tile = 64, depth = 16, threads = 256, each = 4;
constexpr std::int64_t wanted_blocks = 264;

/// One group of a convolution as a product: result(row, column) = sum over k of a(row, k) b(k, column).
struct Shape {
    std::int64_t n, h, w, p, q, r, s;
    std::int64_t stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
    std::int64_t in, out;              ///< channels of a group of x, of y
    std::int64_t x_pitch, y_pitch;     ///< channels of x, of y
    std::int64_t rows, columns, terms; ///< of the product
    std::int64_t terms_a_block;        ///< weight gradient: each block of a tile takes this many terms
    std::int64_t results;              ///< weight gradient: elements of w
};

struct Pixel {
    std::int64_t image, h, w;
};
__device__ Pixel pixel_of(std::int64_t index, std::int64_t height, std::int64_t width) {
    const auto row = index / width;
    return {row / height, row % height, index % width};
}

/// Place in the window and channel, from an index over [R,S,channels].
struct Tap {
    std::int64_t r, s, channel;
};
__device__ Tap tap_of(std::int64_t index, std::int64_t width, std::int64_t channels) {
    const auto place = index / channels;
    return {place / width, place % width, index % channels};
}

/// The element of x under a tap at an output; 0 in the padding.
template <class T>
__device__ float under(const Shape& c, const T* x, std::int64_t group, const Pixel& at, const Tap& tap) {
    const auto h = at.h * c.stride_h - c.padding_h + tap.r * c.dilation_h;
    const auto w = at.w * c.stride_w - c.padding_w + tap.s * c.dilation_w;
    if (h < 0 || h >= c.h || w < 0 || w >= c.w)
        return 0.0F;
    return to_float(x[((at.image * c.h + h) * c.w + w) * c.x_pitch + group * c.in + tap.channel]);
}

/// y(pixel, k) = sum over (r, s, c) of x(...) w(k, r, s, c).
template <class T>
struct Forward {
    static constexpr bool a_along_terms = true, b_along_terms = true; ///< along what neighbours in memory lie
    const T *x, *w;
    T* y;
    __device__ float a(const Shape& c, std::int64_t group, std::int64_t row, std::int64_t k) const {
        return under(c, x, group, pixel_of(row, c.p, c.q), tap_of(k, c.s, c.in));
    }
    __device__ float b(const Shape& c, std::int64_t group, std::int64_t k, std::int64_t column) const {
        return to_float(w[(group * c.out + column) * c.terms + k]);
    }
    __device__ void store(const Shape& c, std::int64_t group, std::int64_t, std::int64_t row, std::int64_t column,
                          float value) const {
        y[row * c.y_pitch + group * c.out + column] = from_float<T>(value);
    }
};

/// x(pixel, c) = sum over (r, s, k) of y(...) w(k, r, s, c).
template <class T>
struct InputGradient {
    static constexpr bool a_along_terms = true, b_along_terms = false;
    const T *y, *w;
    T* x;
    __device__ float a(const Shape& c, std::int64_t group, std::int64_t row, std::int64_t k) const {
        const auto at = pixel_of(row, c.h, c.w);
        const auto tap = tap_of(k, c.s, c.out);
        const auto u = at.h + c.padding_h - tap.r * c.dilation_h, v = at.w + c.padding_w - tap.s * c.dilation_w;
        const auto p = u / c.stride_h, q = v / c.stride_w;
        if (u < 0 || v < 0 || p >= c.p || q >= c.q || p * c.stride_h != u || q * c.stride_w != v)
            return 0.0F;
        return to_float(y[((at.image * c.p + p) * c.q + q) * c.y_pitch + group * c.out + tap.channel]);
    }
    __device__ float b(const Shape& c, std::int64_t group, std::int64_t k, std::int64_t column) const {
        const auto tap = tap_of(k, c.s, c.out);
        return to_float(w[(((group * c.out + tap.channel) * c.r + tap.r) * c.s + tap.s) * c.in + column]);
    }
    __device__ void store(const Shape& c, std::int64_t group, std::int64_t, std::int64_t row, std::int64_t column,
                          float value) const {
        x[row * c.x_pitch + group * c.in + column] = from_float<T>(value);
    }
};

/// w(k, r, s, c) = sum over pixels of y(pixel, k) x(...); each split of the pixels has a partial of its own.
template <class T>
struct WeightGradient {
    static constexpr bool a_along_terms = false, b_along_terms = false;
    const T *x, *y;
    float* partials;
    __device__ float a(const Shape& c, std::int64_t group, std::int64_t row, std::int64_t k) const {
        return to_float(y[k * c.y_pitch + group * c.out + row]);
    }
    __device__ float b(const Shape& c, std::int64_t group, std::int64_t k, std::int64_t column) const {
        return under(c, x, group, pixel_of(k, c.p, c.q), tap_of(column, c.s, c.in));
    }
    __device__ void store(const Shape& c, std::int64_t group, std::int64_t split, std::int64_t row, std::int64_t column,
                          float value) const {
        partials[split * c.results + (group * c.out + row) * c.columns + column] = value;
    }
};

/// Blocks: x over the tiles of one group, y over groups, z over splits of the terms.
template <class Operands>
__global__ void __launch_bounds__(threads) product_kernel(const Operands operands, const Shape c) {
    __shared__ float a[depth][tile + 4], b[depth][tile + 4];
    const auto column_tiles = (c.columns + tile - 1) / tile;
    const auto first_row = blockIdx.x / column_tiles * tile, first_column = blockIdx.x % column_tiles * tile;
    const std::int64_t group = blockIdx.y;
    const std::int64_t begin = blockIdx.z * c.terms_a_block;
    const std::int64_t end = begin + c.terms_a_block < c.terms ? begin + c.terms_a_block : c.terms;
    const int thread = static_cast<int>(threadIdx.x), y = thread / 16, x = thread % 16;

    // Sums with what they have lost so far (Kahan): slices are short, so that the error does not grow with the terms.
    float sum[each][each] = {}, lost[each][each] = {};
    for (std::int64_t first = begin; first < end; first += depth) {
        for (int i = thread; i < tile * depth; i += threads) {
            const int row = Operands::a_along_terms ? i / depth : i % tile;
            const int k = Operands::a_along_terms ? i % depth : i / tile;
            a[k][row] =
                first_row + row < c.rows && first + k < end ? operands.a(c, group, first_row + row, first + k) : 0.0F;
        }
        for (int i = thread; i < tile * depth; i += threads) {
            const int column = Operands::b_along_terms ? i / depth : i % tile;
            const int k = Operands::b_along_terms ? i % depth : i / tile;
            b[k][column] = first_column + column < c.columns && first + k < end
                               ? operands.b(c, group, first + k, first_column + column)
                               : 0.0F;
        }
        __syncthreads();
        float slice[each][each] = {};
#pragma unroll
        for (int k = 0; k < depth; ++k)
#pragma unroll
            for (int i = 0; i < each; ++i)
#pragma unroll
                for (int j = 0; j < each; ++j)
                    slice[i][j] = fmaf(a[k][y * each + i], b[k][x * each + j], slice[i][j]);
#pragma unroll
        for (int i = 0; i < each; ++i)
#pragma unroll
            for (int j = 0; j < each; ++j) {
                const float added = slice[i][j] - lost[i][j], next = sum[i][j] + added;
                lost[i][j] = (next - sum[i][j]) - added;
                sum[i][j] = next;
            }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) {
            const std::int64_t row = first_row + y * each + i, column = first_column + x * each + j;
            if (row < c.rows && column < c.columns)
                operands.store(c, group, blockIdx.z, row, column, sum[i][j]);
        }
}

std::int64_t tiles(std::int64_t extent) { return (extent + tile - 1) / tile; }

Shape shape_of(const DirectConvolution& d) {
    Shape c{};
    c.n = d.x[0], c.h = d.x[2], c.w = d.x[3], c.p = d.y[2], c.q = d.y[3], c.r = d.w[2], c.s = d.w[3];
    c.stride_h = d.stride[0], c.stride_w = d.stride[1];
    c.padding_h = d.padding[0], c.padding_w = d.padding[1];
    c.dilation_h = d.dilation[0], c.dilation_w = d.dilation[1];
    c.in = d.w[1], c.out = d.w[0] / d.groups;
    c.x_pitch = d.x[1], c.y_pitch = d.y[1];
    switch (d.direction) {
    case DirectConvolution::Direction::forward:
        c.rows = c.n * c.p * c.q, c.columns = c.out, c.terms = c.r * c.s * c.in;
        break;
    case DirectConvolution::Direction::input_gradient:
        c.rows = c.n * c.h * c.w, c.columns = c.in, c.terms = c.r * c.s * c.out;
        break;
    case DirectConvolution::Direction::weight_gradient:
        c.rows = c.out, c.columns = c.r * c.s * c.in, c.terms = c.n * c.p * c.q;
        break;
    }
    c.terms_a_block = c.terms;
    c.results = d.w[0] * d.w[1] * d.w[2] * d.w[3];
    if (d.direction == DirectConvolution::Direction::weight_gradient) {
        const auto blocks = tiles(c.rows) * tiles(c.columns) * d.groups;
        const auto slices = (c.terms + depth - 1) / depth;
        const auto splits = std::min(slices, std::max<std::int64_t>(wanted_blocks / blocks, 1));
        c.terms_a_block = (slices + splits - 1) / splits * depth;
    }
    return c;
}

std::int64_t splits_of(const Shape& c) { return (c.terms + c.terms_a_block - 1) / c.terms_a_block; }

template <class Operands>
void launch(const Operands& operands, const Shape& c, std::int64_t groups, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(tiles(c.rows) * tiles(c.columns)), static_cast<unsigned>(groups),
                    static_cast<unsigned>(splits_of(c)));
    product_kernel<<<grid, threads, 0, stream>>>(operands, c);
}

} // namespace

std::size_t DirectConvolution::workspace() const {
    if (direction != Direction::weight_gradient)
        return 0;
    const auto c = shape_of(*this);
    return static_cast<std::size_t>(splits_of(c) * c.results) * sizeof(float);
}

void launch_direct_convolution(const DirectConvolution& d, void* x, void* w, void* y, float* workspace,
                               cudaStream_t stream) {
    const auto c = shape_of(d);
    with_type(d.type, [&](auto element) {
        using T = decltype(element);
        auto *xs = static_cast<T*>(x), *ws = static_cast<T*>(w), *ys = static_cast<T*>(y);
        switch (d.direction) {
        case DirectConvolution::Direction::forward:
            return launch(Forward<T>{xs, ws, ys}, c, d.groups, stream);
        case DirectConvolution::Direction::input_gradient:
            return launch(InputGradient<T>{ys, ws, xs}, c, d.groups, stream);
        case DirectConvolution::Direction::weight_gradient:
            return launch(WeightGradient<T>{xs, ys, workspace}, c, d.groups, stream);
        }
    });
    if (d.direction == DirectConvolution::Direction::weight_gradient)
        launch_split_sum(workspace, splits_of(c), c.results, w, d.result_type, stream);
}

} // namespace espalier::cuda
