// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/divider.cuh"
#include "backends/cuda/kernels/pooling.h"

#include <limits>
#include <string>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// One item a thread: eight channels of one pixel. Items are numbered with the channels fastest.
struct Items {
    std::uint32_t count = 0;
    Divider groups, width, height;

    Items(std::int64_t n, int h, int w, int channel_groups)
        : groups(static_cast<std::uint32_t>(channel_groups)), width(static_cast<std::uint32_t>(w)),
          height(static_cast<std::uint32_t>(h)) {
        const std::int64_t all = n * h * w * channel_groups;
        if (all > std::numeric_limits<std::int32_t>::max())
            throw DeviceError("The GPU's pooling serves images of at most 2^31 values in eights, but there are " +
                              std::to_string(all) + " of them: use a smaller batch.");
        count = static_cast<std::uint32_t>(all);
    }
    [[nodiscard]] unsigned blocks() const { return (count + threads - 1) / threads; }
};

struct Item {
    int n, row, column, group;
};
__device__ Item item_of(const Items& items, std::uint32_t index) {
    Item item;
    std::uint32_t rest = index;
    const std::uint32_t pixel = items.groups.split(rest);
    item.group = static_cast<int>(rest);
    rest = pixel;
    const std::uint32_t line = items.width.split(rest);
    item.column = static_cast<int>(rest);
    rest = line;
    item.n = static_cast<int>(items.height.split(rest));
    item.row = static_cast<int>(rest);
    return item;
}

/// Where eight channels of a pixel lie in [N,height,width,8 groups].
__device__ std::int64_t offset_of(int n, int row, int column, int group, int height, int width, int groups) {
    return 8 * (((static_cast<std::int64_t>(n) * height + row) * width + column) * groups + group);
}

/// The window's size: a constant where the loops are to be unrolled (kernel 3, 2), else 0.
template <int constant>
struct Window {
    __device__ static int height(const PoolingShape& s) { return constant > 0 ? constant : s.kernel_h; }
    __device__ static int width(const PoolingShape& s) { return constant > 0 ? constant : s.kernel_w; }
};

/// Calls body(place in the window, eight values) for every place inside the image, in the order of the places.
template <int constant, class T, class Body>
__device__ void for_window(const T* x, const PoolingShape& s, const Item& item, Body body) {
    const int top = item.row * s.stride_h - s.padding_h, left = item.column * s.stride_w - s.padding_w;
    const int height = Window<constant>::height(s), width = Window<constant>::width(s);
#pragma unroll
    for (int r = 0; r < height; ++r) {
        const int row = top + r;
        if (row < 0 || row >= s.h)
            continue;
#pragma unroll
        for (int c = 0; c < width; ++c) {
            const int column = left + c;
            if (column >= 0 && column < s.w)
                body(r * width + c, load8(x + offset_of(item.n, row, column, item.group, s.h, s.w, s.groups)));
        }
    }
}

/// Calls body(place in the window, row, column of y) for every window that holds a place of x.
template <int constant, class Body>
__device__ void for_windows_of(const PoolingShape& s, const Item& item, Body body) {
    const int height = Window<constant>::height(s), width = Window<constant>::width(s);
    const int y = item.row + s.padding_h, x = item.column + s.padding_w;
    // The first window is the first that ends behind the place.
    const int first_row = y < height ? 0 : (y - height) / s.stride_h + 1, last_row = min(y / s.stride_h, s.p - 1);
    const int first_column = x < width ? 0 : (x - width) / s.stride_w + 1, last_column = min(x / s.stride_w, s.q - 1);
    for (int row = first_row; row <= last_row; ++row)
        for (int column = first_column; column <= last_column; ++column)
            body((y - row * s.stride_h) * width + x - column * s.stride_w, row, column);
}

/// By how much the sum of the window at (row, column) of y is divided.
template <int constant>
__device__ float divisor_of(const PoolingShape& s, int row, int column) {
    const int height = Window<constant>::height(s), width = Window<constant>::width(s);
    if (s.count_include_pad)
        return static_cast<float>(height * width);
    const int top = row * s.stride_h - s.padding_h, left = column * s.stride_w - s.padding_w;
    const int rows = min(top + height, s.h) - max(top, 0), columns = min(left + width, s.w) - max(left, 0);
    return static_cast<float>(rows * columns);
}

/// Eight bytes at once.
struct EightPlaces {
    std::uint8_t v[8];
};
__device__ EightPlaces load_places(const std::uint8_t* p) {
    const uint2 raw = *reinterpret_cast<const uint2*>(p);
    EightPlaces e;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        e.v[j] = static_cast<std::uint8_t>(raw.x >> (8 * j));
        e.v[4 + j] = static_cast<std::uint8_t>(raw.y >> (8 * j));
    }
    return e;
}
__device__ void store_places(std::uint8_t* p, const int (&place)[8]) {
    uint2 raw{0, 0};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        raw.x |= static_cast<unsigned>(place[j]) << (8 * j);
        raw.y |= static_cast<unsigned>(place[4 + j]) << (8 * j);
    }
    *reinterpret_cast<uint2*>(p) = raw;
}

template <int constant, class T>
__global__ void __launch_bounds__(threads)
    max_pool_kernel(const T* x, T* y, std::uint8_t* argmax, PoolingShape s, Items items) {
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight best;
    int place[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        best.v[j] = -std::numeric_limits<float>::infinity();
        place[j] = -1;
    }
    for_window<constant>(x, s, item, [&](int at, const Eight& value) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
            if (place[j] < 0 || value.v[j] > best.v[j] || value.v[j] != value.v[j]) {
                best.v[j] = value.v[j];
                place[j] = at;
            }
    });
    const auto at = std::int64_t{8} * index;
    store8(y + at, best);
    if (argmax != nullptr) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
            if (8 * item.group + j >= s.channels)
                place[j] = 0;
        store_places(argmax + at, place);
    }
}

template <int constant, class T>
__global__ void __launch_bounds__(threads)
    max_pool_gradient_kernel(const T* gy, const std::uint8_t* argmax, T* gx, PoolingShape s, Items items) {
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    for_windows_of<constant>(s, item, [&](int place, int row, int column) {
        const auto at = offset_of(item.n, row, column, item.group, s.p, s.q, s.groups);
        const Eight value = load8(gy + at);
        const EightPlaces places = load_places(argmax + at);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            sum.v[j] += places.v[j] == place ? value.v[j] : 0.0F;
    });
    store8(gx + std::int64_t{8} * index, sum);
}

template <int constant, class T>
__global__ void __launch_bounds__(threads) avg_pool_kernel(const T* x, T* y, PoolingShape s, Items items) {
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    for_window<constant>(x, s, item, [&](int, const Eight& value) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
            sum.v[j] += value.v[j];
    });
    const float divisor = divisor_of<constant>(s, item.row, item.column);
#pragma unroll
    for (float& value : sum.v)
        value /= divisor;
    store8(y + std::int64_t{8} * index, sum);
}

template <int constant, class T>
__global__ void __launch_bounds__(threads) avg_pool_gradient_kernel(const T* gy, T* gx, PoolingShape s, Items items) {
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    for_windows_of<constant>(s, item, [&](int, int row, int column) {
        const Eight value = load8(gy + offset_of(item.n, row, column, item.group, s.p, s.q, s.groups));
        const float share = 1.0F / divisor_of<constant>(s, row, column);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            sum.v[j] = fmaf(value.v[j], share, sum.v[j]);
    });
    store8(gx + std::int64_t{8} * index, sum);
}

/// A block sums some eights of channels of one image; `columns` eights side by side.
template <class T>
__global__ void __launch_bounds__(threads)
    global_avg_pool_kernel(const T* x, T* y, GlobalPoolingShape s, int columns, int tiles) {
    __shared__ alignas(16) float sums[8 * threads];
    const auto n = static_cast<std::int64_t>(blockIdx.x) / tiles;
    const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles)) * columns;
    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % columns, lane = thread / columns, lanes = threads / columns;
    const int group = first + column;
    Eight sum{};
    if (group < s.groups && lane < lanes) {
        const T* image = x + 8 * (n * s.pixels * s.groups + group);
#pragma unroll 4
        for (int pixel = lane; pixel < s.pixels; pixel += lanes) {
            const Eight value = load8(image + std::int64_t{8} * pixel * s.groups);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sum.v[j] += value.v[j];
        }
    }
    store8(sums + 8 * thread, sum); // [lane][column][8]
    __syncthreads();
    const int width = 8 * columns;
    for (int i = thread; i < width; i += threads) {
        const int channel = 8 * first + i;
        if (channel >= s.channels)
            break;
        float total = 0;
        for (int k = 0; k < lanes; ++k)
            total += sums[k * width + i];
        y[n * s.channels + channel] = from_float<T>(total / static_cast<float>(s.pixels));
    }
}

/// A thread writes the same eight values to some pixels.
template <class T>
__global__ void __launch_bounds__(threads)
    global_avg_pool_gradient_kernel(const T* gy, T* gx, GlobalPoolingShape s, Items items) {
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index); // column: the pixel, row: none
    const T* from = gy + static_cast<std::int64_t>(item.n) * s.channels;
    Eight value;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const int channel = 8 * item.group + j;
        value.v[j] = channel < s.channels ? to_float(from[channel]) / static_cast<float>(s.pixels) : 0.0F;
    }
    store8(gx + std::int64_t{8} * index, value);
}

/// Calls body(std::integral_constant) with the window's size where the kernels unroll it.
template <class Body>
void with_window(const PoolingShape& s, Body&& body) {
    if (s.kernel_h == 3 && s.kernel_w == 3)
        return body(std::integral_constant<int, 3>{});
    if (s.kernel_h == 2 && s.kernel_w == 2)
        return body(std::integral_constant<int, 2>{});
    return body(std::integral_constant<int, 0>{});
}

Items items_of_y(const PoolingShape& s) { return {s.n, s.p, s.q, s.groups}; }
Items items_of_x(const PoolingShape& s) { return {s.n, s.h, s.w, s.groups}; }

} // namespace

void launch_max_pool(const void* x, void* y, std::uint8_t* argmax, const PoolingShape& s, DType type,
                     cudaStream_t stream) {
    const Items items = items_of_y(s);
    with_window(s, [&](auto window) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            max_pool_kernel<window(), T><<<items.blocks(), threads, 0, stream>>>(static_cast<const T*>(x),
                                                                                 static_cast<T*>(y), argmax, s, items);
        });
    });
}

void launch_max_pool_gradient(const void* gy, const std::uint8_t* argmax, void* gx, const PoolingShape& s, DType type,
                              cudaStream_t stream) {
    const Items items = items_of_x(s);
    with_window(s, [&](auto window) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            max_pool_gradient_kernel<window(), T><<<items.blocks(), threads, 0, stream>>>(
                static_cast<const T*>(gy), argmax, static_cast<T*>(gx), s, items);
        });
    });
}

void launch_avg_pool(const void* x, void* y, const PoolingShape& s, DType type, cudaStream_t stream) {
    const Items items = items_of_y(s);
    with_window(s, [&](auto window) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            avg_pool_kernel<window(), T>
                <<<items.blocks(), threads, 0, stream>>>(static_cast<const T*>(x), static_cast<T*>(y), s, items);
        });
    });
}

void launch_avg_pool_gradient(const void* gy, void* gx, const PoolingShape& s, DType type, cudaStream_t stream) {
    const Items items = items_of_x(s);
    with_window(s, [&](auto window) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            avg_pool_gradient_kernel<window(), T>
                <<<items.blocks(), threads, 0, stream>>>(static_cast<const T*>(gy), static_cast<T*>(gx), s, items);
        });
    });
}

void launch_global_avg_pool(const void* x, void* y, const GlobalPoolingShape& s, DType type, cudaStream_t stream) {
    // Narrow enough that a small image still has a lane a pixel or two, wide enough for whole cache lines.
    int columns = 1;
    while (columns < 32 && columns < s.groups && columns * s.pixels < threads)
        columns *= 2;
    columns = columns < 4 ? (s.groups < 4 ? s.groups : 4) : columns;
    const int tiles = (s.groups + columns - 1) / columns;
    with_type(type, [&](auto element) {
        using T = decltype(element);
        global_avg_pool_kernel<<<static_cast<unsigned>(s.n * tiles), threads, 0, stream>>>(
            static_cast<const T*>(x), static_cast<T*>(y), s, columns, tiles);
    });
}

void launch_global_avg_pool_gradient(const void* gy, void* gx, const GlobalPoolingShape& s, DType type,
                                     cudaStream_t stream) {
    const Items items(s.n, 1, s.pixels, s.groups);
    with_type(type, [&](auto element) {
        using T = decltype(element);
        global_avg_pool_gradient_kernel<<<items.blocks(), threads, 0, stream>>>(static_cast<const T*>(gy),
                                                                                static_cast<T*>(gx), s, items);
    });
}

} // namespace espalier::cuda
