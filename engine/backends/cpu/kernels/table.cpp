// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

#define ESPALIER_TEXT_OF(name) #name
#define ESPALIER_TEXT(name) ESPALIER_TEXT_OF(name)

extern const KernelTable table;
const KernelTable table = {
    .name = ESPALIER_TEXT(ESPALIER_INSTRUCTION_SET),
    .vector_width = native_width,
    .relu = relu,
    .relu_gradient = relu_gradient,
    .add = add,
    .scale = scale,
    .weighted_sum = weighted_sum,
    .weighted_sum_gradient = weighted_sum_gradient,
    .dots = dots,
    .sum_of_squares = sum_of_squares,
    .sgd = sgd,
    .adam = adam,
    .batch_norm_forward = batch_norm_forward,
    .batch_norm_apply = batch_norm_apply,
    .batch_norm_gradient = batch_norm_gradient,
    .channel_sum = channel_sum,
    .depthwise = {depthwise_scratch, depthwise_forward, depthwise_input_gradient, depthwise_weight_gradient},
    .pointwise = {pointwise_scratch, pointwise_forward, pointwise_input_gradient, pointwise_weight_gradient},
    .winograd = {winograd_scratch, winograd_forward, winograd_input_gradient, winograd_weight_gradient},
    .max_pool = max_pool,
    .max_pool_gradient = max_pool_gradient,
    .avg_pool = avg_pool,
    .avg_pool_gradient = avg_pool_gradient,
    .global_avg_pool = global_avg_pool,
    .global_avg_pool_gradient = global_avg_pool_gradient,
    .linear = linear,
    .linear_input_gradient = linear_input_gradient,
    .linear_weight_gradient = linear_weight_gradient,
};

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
