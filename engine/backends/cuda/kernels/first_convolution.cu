// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/first_convolution.h"
#include "backends/cuda/kernels/squares.cuh"

#include <algorithm>

/// A matrix product on tensor cores whose left side is never built. With four channels a pixel and a stride of two,
/// what an output sees of one row of the image is a run of shared memory that begins on 16 bytes: a row of ldmatrix.
/// The sum runs over the rows of the kernel, and there over runs of 4 or 8 pixels, those behind the kernel times zero.
namespace espalier::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int block_filters = 64; ///< of a block
constexpr int most_outputs = 128; ///< of a block's row
constexpr int channels = 4;       ///< of a pixel in shared memory
constexpr int given_channels = 8; ///< of a pixel in device memory
constexpr int chunk = 16;         ///< bytes of a row of ldmatrix

/// How the work is cut: each block computes `rows` rows of `outputs` (whole 16) places for block_filters filters.
struct Cut {
    int rows = 1, outputs = 16;
    int pixels = 0;       ///< of a row of the image in shared memory
    int weight_pitch = 0; ///< bytes of a filter there: an odd number of chunks, so that eight of them meet every bank
    int columns = 8;      ///< pixels of a run

    explicit Cut(const FirstConvolution& c)
        : rows(c.block_rows), outputs(std::min((c.q + 15) / 16 * 16, most_outputs)), columns(run_columns(c)) {
        pixels = 2 * outputs + columns;
        const int chunks = c.kernel_h * columns * pixel_bytes(c) / chunk;
        weight_pitch = (chunks | 1) * chunk;
    }
    static int run_columns(const FirstConvolution& c) { return c.kernel_w <= 4 ? 4 : 8; }
    static int pixel_bytes(const FirstConvolution& c) { return channels * static_cast<int>(size_of(c.type)); }
    [[nodiscard]] int image_rows(const FirstConvolution& c) const { return (rows - 1) * c.stride_h + c.kernel_h; }
    [[nodiscard]] int bytes(const FirstConvolution& c) const {
        return block_filters * weight_pitch + image_rows(c) * pixels * pixel_bytes(c);
    }
};

int shared_memory_limit() {
    int device = 0, limit = 0;
    ESPALIER_CUDA(cudaGetDevice(&device));
    ESPALIER_CUDA(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return limit;
}

/// Four channels of a pixel.
template <class T>
struct Pixel {
    uint2 bits;
};
template <>
struct Pixel<float> {
    uint4 bits;
};

#if __CUDA_ARCH__ >= 800
__device__ std::uint32_t rounded(std::uint32_t bits) {
    std::uint32_t result;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
    return result;
}

template <class T>
__device__ Pixel<T> load_pixel(const T* p) {
    auto pixel = *reinterpret_cast<const Pixel<T>*>(p);
    if constexpr (sizeof(T) == 4)
        pixel.bits =
            make_uint4(rounded(pixel.bits.x), rounded(pixel.bits.y), rounded(pixel.bits.z), rounded(pixel.bits.w));
    return pixel;
}
#endif

/// Which filter stands in a row of shared memory. A thread gets columns 2t and 2t + 1 of every eight filters: in this
/// order those of several eights are one vector of y.
template <class T>
__device__ int filter_of(int row) {
    const int eight = row / 8, thread = row % 8 / 2, place = row % 2;
    constexpr int eights = 8 / sizeof(T); // whose pairs make up 16 bytes
    return eight / eights * (8 * eights) + thread * (2 * eights) + eight % eights * 2 + place;
}

template <class T, int columns>
__global__ void __launch_bounds__(threads, 2)
    first_convolution_kernel(const T* x, const T* w, T* y, FirstConvolution c, Cut cut) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) unsigned char memory[];
    constexpr int pixel = static_cast<int>(sizeof(Pixel<T>));
    constexpr int chunks = columns * pixel / chunk; // of a run
    const int thread = static_cast<int>(threadIdx.x);
    const int row_tiles = (c.q + cut.outputs - 1) / cut.outputs;
    const int first_output = static_cast<int>(blockIdx.x) % row_tiles * cut.outputs;
    const int first_filter = static_cast<int>(blockIdx.x) / row_tiles * block_filters;
    const int first_row = static_cast<int>(blockIdx.y) * cut.rows;
    unsigned char* images = memory + block_filters * cut.weight_pitch;
    const int row_pitch = cut.pixels * pixel;

    for (int i = thread; i < block_filters * c.kernel_h * columns; i += threads) {
        const int s = i % columns, r = i / columns % c.kernel_h, row = i / columns / c.kernel_h;
        const int filter = first_filter + filter_of<T>(row);
        Pixel<T> weights{};
        if (s < c.kernel_w && filter < c.filters)
            weights =
                load_pixel(w + static_cast<std::int64_t>((filter * c.kernel_h + r) * c.kernel_w + s) * given_channels);
        *reinterpret_cast<Pixel<T>*>(memory + row * cut.weight_pitch + (r * columns + s) * pixel) = weights;
    }
    const T* image = x + static_cast<std::int64_t>(blockIdx.z) * c.h * c.w * given_channels;
    const int top = first_row * c.stride_h - c.padding_h, left = 2 * first_output - c.padding_w;
    const int image_rows = (cut.rows - 1) * c.stride_h + c.kernel_h;
#pragma unroll 4
    for (int i = thread; i < image_rows * cut.pixels; i += threads) {
        const int h = top + i / cut.pixels, column = left + i % cut.pixels;
        Pixel<T> value{};
        if (h >= 0 && h < c.h && column >= 0 && column < c.w)
            value = load_pixel(image + static_cast<std::int64_t>(h * c.w + column) * given_channels);
        *reinterpret_cast<Pixel<T>*>(images + i * pixel) = value;
    }
    __syncthreads();

    const int lane = thread % 32, group = lane / 4, quarter = lane % 4;
    const int units = cut.rows * cut.outputs / 16; // of 16 outputs; a warp computes two at a time
    const unsigned char* b_lane = memory + (lane / 16 * 8 + lane % 8) * cut.weight_pitch + lane / 8 % 2 * chunk;
    for (int pair = thread / 32; 2 * pair < units; pair += warps) {
        int row[2], output[2]; // of a unit, in the block
        const unsigned char* a_lane[2];
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const int unit = min(2 * pair + m, units - 1); // an odd last one is computed twice
            row[m] = 16 * unit / cut.outputs;
            output[m] = 16 * unit % cut.outputs;
            a_lane[m] = memory + block_filters * cut.weight_pitch + row[m] * c.stride_h * row_pitch +
                        (output[m] + lane % 16) * 2 * pixel + lane / 16 * chunk;
        }
        Piece16x8 sum[2][block_filters / 8];
        for (int r = 0; r < c.kernel_h; ++r) {
#pragma unroll
            for (int step = 0; step < chunks; step += 2) {
                std::uint32_t a[2][4];
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    load_squares<4, false>(a[m], a_lane[m] + r * row_pitch + step * chunk);
#pragma unroll
                for (int j = 0; j < block_filters / 8; j += 2) {
                    std::uint32_t b[4];
                    load_squares<4, false>(b, b_lane + j * 8 * cut.weight_pitch + (r * chunks + step) * chunk);
                    const std::uint32_t left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
#pragma unroll
                    for (int m = 0; m < 2; ++m) {
                        multiply_squares(sum[m][j], a[m], left, T{});
                        multiply_squares(sum[m][j + 1], a[m], right, T{});
                    }
                }
            }
        }
        constexpr int eights = 8 / sizeof(T), width = 2 * eights; // of a vector of y
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int below = 0; below < 2; ++below) {
                const int p = first_row + row[m], q = first_output + output[m] + group + 8 * below;
                if (p >= c.p || q >= c.q)
                    continue;
                T* target = y + ((static_cast<std::int64_t>(blockIdx.z) * c.p + p) * c.q + q) * c.filters;
#pragma unroll
                for (int j = 0; j < block_filters / 8; j += eights) {
                    const int filter = first_filter + j * 8 + quarter * width;
                    alignas(16) T vector[width];
#pragma unroll
                    for (int i = 0; i < width; ++i)
                        vector[i] = from_float<T>(sum[m][j + i / 2].v[2 * below + i % 2]);
                    if (filter < c.filters)
                        *reinterpret_cast<uint4*>(target + filter) = *reinterpret_cast<const uint4*>(vector);
                }
            }
    }
#endif
}

/// Calls body(T{}, kernel) for the convolution's type and the columns of its runs.
template <class Body>
void with_kernel(const FirstConvolution& c, Body&& body) {
    with_type(c.type, [&](auto element) {
        using T = decltype(element);
        body(element, Cut::run_columns(c) == 4 ? first_convolution_kernel<T, 4> : first_convolution_kernel<T, 8>);
    });
}

} // namespace

bool FirstConvolution::prepare(int architecture) {
    constexpr int least_architecture = 80, widest = 8, grid_limit = 65535; // the kernel is empty below
    if (architecture < least_architecture || kernel_w > widest || kernel_h > widest || stride_h > 2 || n > grid_limit ||
        p > grid_limit)
        return false;
    bool ready = false;
    with_kernel(*this, [&](auto, auto kernel) {
        cudaFuncAttributes attributes{};
        ESPALIER_CUDA(cudaFuncGetAttributes(&attributes, kernel));
        const int room = shared_memory_limit() - static_cast<int>(attributes.sharedSizeBytes);
        for (const int rows : {4, 2, 1}) { // four rows a block share most of what they read
            block_rows = rows;
            if (Cut(*this).bytes(*this) <= room) {
                // All of it: another convolution of the same kernel may need more than this one.
                ESPALIER_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
                ready = true;
                return;
            }
        }
    });
    return ready;
}

void launch_first_convolution(const FirstConvolution& c, const void* x, const void* w, void* y, cudaStream_t stream) {
    const Cut cut(c);
    const auto tiles = [](int count, int size) { return static_cast<unsigned>((count + size - 1) / size); };
    const dim3 grid(tiles(c.q, cut.outputs) * tiles(c.filters, block_filters), tiles(c.p, cut.rows),
                    static_cast<unsigned>(c.n));
    with_kernel(c, [&](auto element, auto kernel) {
        using T = decltype(element);
        kernel<<<grid, threads, cut.bytes(c), stream>>>(static_cast<const T*>(x), static_cast<const T*>(w),
                                                        static_cast<T*>(y), c, cut);
    });
}

} // namespace espalier::cuda
