// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/direction.h"

#include <cstddef>
#include <cstdint>

/// The backend's own loops. Each source in this folder is compiled once for every instruction set, into a namespace of
/// its own, and reached through a table of functions. Because of that, nothing in them (and nothing in this header) may
/// be a function or template with external linkage that another translation unit could also define: the linker would
/// keep one copy, perhaps the one that an older processor cannot run.
///
/// Results depend on shapes and the number of threads, never on addresses or on timing.
namespace espalier::cpu {

/// An activation in memory: [n][c/block][h][w][block], channels padded with zeros to a multiple of `block`.
struct ActivationShape {
    std::int64_t n = 1, c = 1, h = 1, w = 1, block = 1;

    // Always inlined: see above.
    [[gnu::always_inline]] std::int64_t blocks() const { return (c + block - 1) / block; }
    [[gnu::always_inline]] std::int64_t pixels() const { return h * w; }
    [[gnu::always_inline]] std::int64_t plane() const { return h * w * block; } ///< floats of one image and block
    [[gnu::always_inline]] std::int64_t planes() const { return n * blocks(); }
    [[gnu::always_inline]] std::int64_t padded_channels() const { return blocks() * block; }
    [[gnu::always_inline]] std::int64_t floats() const { return planes() * plane(); } ///< elements with padding
};

/// Window of a convolution or a pool. Pairs are {height, width}.
struct Window {
    std::int64_t kernel[2]{1, 1}, stride[2]{1, 1}, padding[2]{0, 0}, dilation[2]{1, 1};
};

struct BatchNorm {
    ActivationShape shape;
    float eps = 1e-5f, momentum = 0.1f;
    bool relu = false;
    int threads = 1;
    /// Per channel, `shape.c` long; null where the op has none.
    const float* weight = nullptr;
    const float* bias = nullptr;
};

/// One parameter with its gradient and slots, for the optimizers.
struct OptimizerTensor {
    float* parameter;
    const float* gradient;
    float* slot[3]; ///< sgd: momentum; adam: exp_avg, exp_avg_sq, steps
    std::int64_t count;
    float weight_decay;
};

struct OptimizerStep {
    const OptimizerTensor* tensors;
    std::int64_t count;
    const float* step; ///< the step block
    const float* norm; ///< null: not given
    float clip_norm;   ///< 0: none
    float momentum;    ///< sgd
    bool nesterov;
    double beta1, beta2, eps; ///< adam
    bool decoupled;
    int threads;
};

/// A family of convolutions, w row-major: x has shape `in`, y has shape `out`, whatever the direction. `scratch` is
/// memory for as many floats as scratch() says.
struct ConvolutionKernels {
    std::int64_t (*scratch)(const ActivationShape& in, const ActivationShape& out, const Window& window,
                            Direction direction, int threads);
    /// y = act(x * w + bias); `bias` may be null.
    void (*forward)(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                    const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads);
    void (*input_gradient)(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* gy,
                           const float* w, float* gx, float* scratch, int threads);
    void (*weight_gradient)(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                            const float* gy, float* gw, float* scratch, int threads);
};

/// One instruction set's copy of every kernel. `threads` is how many threads share the work.
struct KernelTable {
    const char* name;
    int vector_width; ///< floats of one vector register

    // elementwise.cpp: `count` floats in any layout, all in the same one
    void (*relu)(const float* x, float* y, std::int64_t count, int threads);
    void (*relu_gradient)(const float* y, const float* gy, float* gx, std::int64_t count, int threads);
    void (*add)(const float* const* x, int inputs, float* y, bool relu, std::int64_t count, int threads);
    /// y = *c * x
    void (*scale)(const float* x, const float* c, float* y, std::int64_t count, int threads);
    /// y = sum_i weights[columns[i]] * x[i]
    void (*weighted_sum)(const float* weights, const std::int64_t* columns, const float* const* x, int inputs, float* y,
                         std::int64_t count, int threads);
    /// g[i] = weights[columns[i]] * gy
    void (*weighted_sum_gradient)(const float* weights, const std::int64_t* columns, const float* gy, float* const* g,
                                  int outputs, std::int64_t count, int threads);
    /// result[i] = sum(a * b[i]); `partial` has dot_partials(count) * inputs doubles
    void (*dots)(const float* a, const float* const* b, int inputs, double* partial, double* result, std::int64_t count,
                 int threads);

    // optimizer.cpp
    /// Sum of squares of one tensor, for the gradient's norm; `partial` has dot_partials(count) doubles.
    double (*sum_of_squares)(const float* x, double* partial, std::int64_t count, int threads);
    void (*sgd)(const OptimizerStep& step);
    void (*adam)(const OptimizerStep& step);

    // normalization.cpp
    /// Statistics of the batch. mean, inv_std [c]; the running ones may be null. `partial`: batch_norm_partials()
    /// floats.
    void (*batch_norm_forward)(const BatchNorm& norm, const float* x, const float* residual, float* y, float* mean,
                               float* inv_std, float* running_mean, float* running_var, float* partial);
    /// y = act((x - mean) inv_std weight + bias + residual); with `variance` the second statistic is a variance.
    void (*batch_norm_apply)(const BatchNorm& norm, const float* x, const float* mean, const float* statistic,
                             bool variance, const float* residual, float* y, float* partial);
    /// y (null unless relu) masks gy. gweight, gbias and gresidual may be null.
    void (*batch_norm_gradient)(const BatchNorm& norm, const float* x, const float* gy, const float* mean,
                                const float* inv_std, const float* y, float* gx, float* gweight, float* gbias,
                                float* gresidual, float* partial);
    /// result[c] = sum of x over everything but the channel
    void (*channel_sum)(const ActivationShape& shape, const float* x, float* result, double* partial, int threads);

    /// depthwise.cpp: as many groups as channels, w is [c][kernel]; `in` and `out` have one block.
    ConvolutionKernels depthwise;
    /// pointwise.cpp: 1x1 with any stride, no padding, w is [out.c][in.c].
    ConvolutionKernels pointwise;
    /// winograd.cpp, winograd_weight_gradient.cpp: 3x3, stride 1, w is [out.c][in.c][3][3]; blocks are multiples of the
    /// vector width.
    ConvolutionKernels winograd;

    // pooling.cpp
    void (*max_pool)(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                     float* y, std::uint8_t* argmax, int threads);
    void (*max_pool_gradient)(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* gy, const std::uint8_t* argmax, float* gx, int threads);
    void (*avg_pool)(const ActivationShape& in, const ActivationShape& out, const Window& window, bool include_padding,
                     const float* x, float* y, int threads);
    void (*avg_pool_gradient)(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              bool include_padding, const float* gy, float* gx, int threads);
    /// y [n, c] row-major
    void (*global_avg_pool)(const ActivationShape& shape, const float* x, float* y, int threads);
    void (*global_avg_pool_gradient)(const ActivationShape& shape, const float* gy, float* gx, int threads);

    // linear.cpp: all row-major; x [rows, in], w [out, in], y [rows, out]
    void (*linear)(const float* x, const float* w, const float* bias, float* y, std::int64_t rows, std::int64_t in,
                   std::int64_t out, int threads);
    void (*linear_input_gradient)(const float* gy, const float* w, float* gx, std::int64_t rows, std::int64_t in,
                                  std::int64_t out, int threads);
    void (*linear_weight_gradient)(const float* x, const float* gy, float* gw, std::int64_t rows, std::int64_t in,
                                   std::int64_t out, int threads);
};

/// Pieces into which sums over a flat array are cut, so that their order does not depend on the number of threads.
inline constexpr std::int64_t dot_piece = 16384;
static inline std::int64_t dot_partials(std::int64_t count) { return (count + dot_piece - 1) / dot_piece; }
/// Floats of scratch memory of the batch-norm kernels.
static inline std::int64_t batch_norm_partials(const ActivationShape& s) { return (2 * s.n + 4) * s.padded_channels(); }
enum class InstructionSet { baseline, avx2, avx512 };
[[nodiscard]] bool is_available(InstructionSet set);
[[nodiscard]] InstructionSet best_instruction_set();
/// Throws std::logic_error if this processor lacks the set.
[[nodiscard]] const KernelTable& kernel_table(InstructionSet set);

} // namespace espalier::cpu
