// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/divisor.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/packed.cuh"
#include "backends/cuda/kernels/pooling.h"

#include <algorithm>
#include <limits>
#include <string>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// One item a thread: eight channels of one pixel. Items are numbered with the channels fastest.
struct Items {
    std::uint32_t count = 0;
    Divisor groups, width, height;

    Items(std::int64_t n, int h, int w, int channel_groups) : groups(channel_groups), width(w), height(h) {
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

/// Calls body(place in the window, eight values) for every place inside the image, in the order of the places. A window
/// of size x size where `size` is above 0: all its loads are on their way before the first is used, those outside go to
/// the nearest place inside and are dropped.
template <int size, class T, class Body>
__device__ void for_window(const T* x, const PoolingShape& s, const Item& item, Body body) {
    const int top = item.row * s.stride_h - s.padding_h, left = item.column * s.stride_w - s.padding_w;
    if constexpr (size > 0) {
        Packed<T> packed[size * size];
#pragma unroll
        for (int r = 0; r < size; ++r)
#pragma unroll
            for (int c = 0; c < size; ++c) {
                const int row = min(max(top + r, 0), s.h - 1), column = min(max(left + c, 0), s.w - 1);
                packed[r * size + c] = load_packed(x + offset_of(item.n, row, column, item.group, s.h, s.w, s.groups));
            }
#pragma unroll
        for (int r = 0; r < size; ++r)
#pragma unroll
            for (int c = 0; c < size; ++c)
                if (top + r >= 0 && top + r < s.h && left + c >= 0 && left + c < s.w)
                    body(r * size + c, unpack(packed[r * size + c]));
    } else {
        for (int r = max(-top, 0); r < min(s.kernel_h, s.h - top); ++r)
            for (int c = max(-left, 0); c < min(s.kernel_w, s.w - left); ++c)
                body(r * s.kernel_w + c,
                     load8(x + offset_of(item.n, top + r, left + c, item.group, s.h, s.w, s.groups)));
    }
}

/// The windows that hold a place of x: rows and columns of y.
struct Holders {
    int y, x; ///< the place, counted from the padding's edge
    int first_row, last_row, first_column, last_column;
};
__device__ Holders holders_of(const PoolingShape& s, const Item& item) {
    Holders h;
    h.y = item.row + s.padding_h;
    h.x = item.column + s.padding_w;
    // The first window is the first that ends behind the place.
    h.first_row = h.y < s.kernel_h ? 0 : (h.y - s.kernel_h) / s.stride_h + 1;
    h.first_column = h.x < s.kernel_w ? 0 : (h.x - s.kernel_w) / s.stride_w + 1;
    h.last_row = min(h.y / s.stride_h, s.p - 1);
    h.last_column = min(h.x / s.stride_w, s.q - 1);
    return h;
}

/// Loads load(offset in y) of all windows that hold a place, then calls body(place in the window, row, column, what was
/// loaded) for each. At most `most` x `most` of them where that is above 0: loads as in for_window.
template <int most, class Load, class Body>
__device__ void for_holders(const PoolingShape& s, const Item& item, Load load, Body body) {
    const Holders h = holders_of(s, item);
    const auto place = [&](int row, int column) {
        return (h.y - row * s.stride_h) * s.kernel_w + h.x - column * s.stride_w;
    };
    const auto offset = [&](int row, int column) {
        return offset_of(item.n, row, column, item.group, s.p, s.q, s.groups);
    };
    if constexpr (most > 0) {
        decltype(load(std::int64_t{})) loaded[most * most];
#pragma unroll
        for (int r = 0; r < most; ++r)
#pragma unroll
            for (int c = 0; c < most; ++c)
                loaded[r * most + c] = load(offset(min(h.first_row + r, s.p - 1), min(h.first_column + c, s.q - 1)));
#pragma unroll
        for (int r = 0; r < most; ++r)
#pragma unroll
            for (int c = 0; c < most; ++c) {
                const int row = h.first_row + r, column = h.first_column + c;
                if (row <= h.last_row && column <= h.last_column)
                    body(place(row, column), row, column, loaded[r * most + c]);
            }
    } else {
        for (int row = h.first_row; row <= h.last_row; ++row)
            for (int column = h.first_column; column <= h.last_column; ++column)
                body(place(row, column), row, column, load(offset(row, column)));
    }
}

/// By how much the sum of the window at (row, column) of y is divided.
__device__ float divisor_of(const PoolingShape& s, int row, int column) {
    if (s.count_include_pad)
        return static_cast<float>(s.kernel_h * s.kernel_w);
    const int top = row * s.stride_h - s.padding_h, left = column * s.stride_w - s.padding_w;
    const int rows = min(top + s.kernel_h, s.h) - max(top, 0);
    const int columns = min(left + s.kernel_w, s.w) - max(left, 0);
    return static_cast<float>(rows * columns);
}

/// Byte j of eight.
__device__ int place_at(const uint2& places, int j) {
    return static_cast<int>(((j < 4 ? places.x : places.y) >> (8 * (j % 4))) & 0xffU);
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

template <int size, class T>
__global__ void __launch_bounds__(threads)
    max_pool_kernel(const T* x, T* y, std::uint8_t* argmax, PoolingShape s, Items items) {
    take_turn();
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
    for_window<size>(x, s, item, [&](int at, const Eight& value) {
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

template <int most, class T>
__global__ void __launch_bounds__(threads)
    max_pool_gradient_kernel(const T* gy, const std::uint8_t* argmax, T* gx, PoolingShape s, Items items) {
    take_turn();
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    struct Loaded {
        Packed<T> gy;
        uint2 places;
    };
    for_holders<most>(
        s, item,
        [&](std::int64_t at) {
            return Loaded{load_packed(gy + at), *reinterpret_cast<const uint2*>(argmax + at)};
        },
        [&](int place, int, int, const Loaded& loaded) {
            const Eight value = unpack(loaded.gy);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sum.v[j] += place_at(loaded.places, j) == place ? value.v[j] : 0.0F;
        });
    store8(gx + std::int64_t{8} * index, sum);
}

template <int size, class T>
__global__ void __launch_bounds__(threads) avg_pool_kernel(const T* x, T* y, PoolingShape s, Items items) {
    take_turn();
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    for_window<size>(x, s, item, [&](int, const Eight& value) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
            sum.v[j] += value.v[j];
    });
    const float divisor = divisor_of(s, item.row, item.column);
#pragma unroll
    for (float& value : sum.v)
        value /= divisor;
    store8(y + std::int64_t{8} * index, sum);
}

template <int most, class T>
__global__ void __launch_bounds__(threads) avg_pool_gradient_kernel(const T* gy, T* gx, PoolingShape s, Items items) {
    take_turn();
    const std::uint32_t index = blockIdx.x * threads + threadIdx.x;
    if (index >= items.count)
        return;
    const Item item = item_of(items, index);
    Eight sum{};
    for_holders<most>(
        s, item, [&](std::int64_t at) { return load_packed(gy + at); },
        [&](int, int row, int column, const Packed<T>& loaded) {
            const Eight value = unpack(loaded);
            const float share = 1.0F / divisor_of(s, row, column);
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
    take_turn();
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
    take_turn();
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

/// Calls body(std::integral_constant) with the window's size where the kernels unroll it, else 0.
template <class Body>
void with_size(const PoolingShape& s, Body&& body) {
    if (s.kernel_h == 3 && s.kernel_w == 3)
        return body(std::integral_constant<int, 3>{});
    if (s.kernel_h == 2 && s.kernel_w == 2)
        return body(std::integral_constant<int, 2>{});
    return body(std::integral_constant<int, 0>{});
}

/// The same with the largest number of windows, by axis, that hold one place.
template <class Body>
void with_most_holders(const PoolingShape& s, Body&& body) {
    const int rows = (s.kernel_h + s.stride_h - 1) / s.stride_h, columns = (s.kernel_w + s.stride_w - 1) / s.stride_w;
    switch (std::max(rows, columns)) {
    case 1:
        return body(std::integral_constant<int, 1>{});
    case 2:
        return body(std::integral_constant<int, 2>{});
    case 3:
        return body(std::integral_constant<int, 3>{});
    default:
        return body(std::integral_constant<int, 0>{});
    }
}

Items items_of_y(const PoolingShape& s) { return {s.n, s.p, s.q, s.groups}; }
Items items_of_x(const PoolingShape& s) { return {s.n, s.h, s.w, s.groups}; }

} // namespace

void launch_max_pool(const void* x, void* y, std::uint8_t* argmax, const PoolingShape& s, DType type,
                     const LaunchStream& stream) {
    const Items items = items_of_y(s);
    with_size(s, [&](auto size) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            enqueue(max_pool_kernel<size(), T>, dim3(items.blocks()), dim3(threads), 0, stream,
                    static_cast<const T*>(x), static_cast<T*>(y), argmax, s, items);
        });
    });
}

void launch_max_pool_gradient(const void* gy, const std::uint8_t* argmax, void* gx, const PoolingShape& s, DType type,
                              const LaunchStream& stream) {
    const Items items = items_of_x(s);
    with_most_holders(s, [&](auto most) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            enqueue(max_pool_gradient_kernel<most(), T>, dim3(items.blocks()), dim3(threads), 0, stream,
                    static_cast<const T*>(gy), argmax, static_cast<T*>(gx), s, items);
        });
    });
}

void launch_avg_pool(const void* x, void* y, const PoolingShape& s, DType type, const LaunchStream& stream) {
    const Items items = items_of_y(s);
    with_size(s, [&](auto size) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            enqueue(avg_pool_kernel<size(), T>, dim3(items.blocks()), dim3(threads), 0, stream,
                    static_cast<const T*>(x), static_cast<T*>(y), s, items);
        });
    });
}

void launch_avg_pool_gradient(const void* gy, void* gx, const PoolingShape& s, DType type, const LaunchStream& stream) {
    const Items items = items_of_x(s);
    with_most_holders(s, [&](auto most) {
        with_type(type, [&](auto element) {
            using T = decltype(element);
            enqueue(avg_pool_gradient_kernel<most(), T>, dim3(items.blocks()), dim3(threads), 0, stream,
                    static_cast<const T*>(gy), static_cast<T*>(gx), s, items);
        });
    });
}

void launch_global_avg_pool(const void* x, void* y, const GlobalPoolingShape& s, DType type,
                            const LaunchStream& stream) {
    // Narrow enough that a small image still has a lane a pixel or two, wide enough for whole cache lines.
    int columns = 1;
    while (columns < 32 && columns < s.groups && columns * s.pixels < threads)
        columns *= 2;
    columns = columns < 4 ? (s.groups < 4 ? s.groups : 4) : columns;
    const int tiles = (s.groups + columns - 1) / columns;
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(global_avg_pool_kernel<T>, dim3(static_cast<unsigned>(s.n * tiles)), dim3(threads), 0, stream,
                static_cast<const T*>(x), static_cast<T*>(y), s, columns, tiles);
    });
}

void launch_global_avg_pool_gradient(const void* gy, void* gx, const GlobalPoolingShape& s, DType type,
                                     const LaunchStream& stream) {
    const Items items(s.n, 1, s.pixels, s.groups);
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(global_avg_pool_gradient_kernel<T>, dim3(items.blocks()), dim3(threads), 0, stream,
                static_cast<const T*>(gy), static_cast<T*>(gx), s, items);
    });
}

} // namespace espalier::cuda
