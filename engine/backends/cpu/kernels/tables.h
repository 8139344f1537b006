// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernels.h"

/// The kernels of one instruction set, as table.cpp collects them. See kernels.h for what they do.
namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

void relu(const float* x, float* y, std::int64_t count, int threads);
void relu_gradient(const float* y, const float* gy, float* gx, std::int64_t count, int threads);
void add(const float* const* x, int inputs, float* y, bool with_relu, std::int64_t count, int threads);
void scale(const float* x, const float* c, float* y, std::int64_t count, int threads);
void weighted_sum(const float* weights, const std::int64_t* columns, const float* const* x, int inputs, float* y,
                  std::int64_t count, int threads);
void weighted_sum_gradient(const float* weights, const std::int64_t* columns, const float* gy, float* const* g,
                           int outputs, std::int64_t count, int threads);
void dots(const float* a, const float* const* b, int inputs, double* partial, double* result, std::int64_t count,
          int threads);
double sum_of_squares(const float* x, double* partial, std::int64_t count, int threads);
void sgd(const OptimizerStep& step);
void adam(const OptimizerStep& step);
void batch_norm_forward(const BatchNorm& norm, const float* x, const float* residual, float* y, float* mean,
                        float* inv_std, float* running_mean, float* running_var, float* partial);
void batch_norm_apply(const BatchNorm& norm, const float* x, const float* mean, const float* statistic, bool variance,
                      const float* residual, float* y, float* partial);
void batch_norm_gradient(const BatchNorm& norm, const float* x, const float* gy, const float* mean,
                         const float* inv_std, const float* y, float* gx, float* gweight, float* gbias,
                         float* gresidual, float* partial);
void channel_sum(const ActivationShape& shape, const float* x, float* result, double* partial, int threads);
std::int64_t depthwise_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               Direction direction, int threads);
void depthwise_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                       const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads);
void depthwise_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* gy, const float* w, float* gx, float* scratch, int threads);
void depthwise_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               const float* x, const float* gy, float* gw, float* scratch, int threads);
std::int64_t pointwise_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               Direction direction, int threads);
void pointwise_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                       const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads);
void pointwise_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* gy, const float* w, float* gx, float* scratch, int threads);
void pointwise_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                               const float* x, const float* gy, float* gw, float* scratch, int threads);
std::int64_t winograd_scratch(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              Direction direction, int threads);
void winograd_forward(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x,
                      const float* w, const float* bias, bool with_relu, float* y, float* scratch, int threads);
void winograd_input_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                             const float* gy, const float* w, float* gx, float* scratch, int threads);
void winograd_weight_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                              const float* x, const float* gy, float* gw, float* scratch, int threads);
void max_pool(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* x, float* y,
              std::uint8_t* argmax, int threads);
void max_pool_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window, const float* gy,
                       const std::uint8_t* argmax, float* gx, int threads);
void avg_pool(const ActivationShape& in, const ActivationShape& out, const Window& window, bool include_padding,
              const float* x, float* y, int threads);
void avg_pool_gradient(const ActivationShape& in, const ActivationShape& out, const Window& window,
                       bool include_padding, const float* gy, float* gx, int threads);
void global_avg_pool(const ActivationShape& shape, const float* x, float* y, int threads);
void global_avg_pool_gradient(const ActivationShape& shape, const float* gy, float* gx, int threads);
void linear(const float* x, const float* w, const float* bias, float* y, std::int64_t rows, std::int64_t in,
            std::int64_t out, int threads);
void linear_input_gradient(const float* gy, const float* w, float* gx, std::int64_t rows, std::int64_t in,
                           std::int64_t out, int threads);
void linear_weight_gradient(const float* x, const float* gy, float* gw, std::int64_t rows, std::int64_t in,
                            std::int64_t out, int threads);

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
