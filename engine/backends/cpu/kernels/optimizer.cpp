// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_common.h"
#include "backends/cpu/kernels/tables.h"
#include "graph/step_block.h"

#include <math.h> // the C functions: std:: has inline ones, see kernels.h

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

/// What a gradient is multiplied by before the update; negative: nothing may be changed.
static float gradient_factor(const OptimizerStep& s) {
    const float scale = s.step[step_block::loss_scale] * s.step[step_block::micro_steps];
    float factor = 1.0f / scale;
    if (s.norm != nullptr) {
        const float norm = *s.norm;
        if (!__builtin_isfinite(norm)) {
            return -1.0f;
        }
        if (s.clip_norm > 0.0f) {
            const float clip = s.clip_norm / (norm + 1e-6f);
            factor *= clip < 1.0f ? clip : 1.0f;
        }
    }
    return factor;
}

/// All tensors as one range, cut evenly between the threads: many are small, some are large.
template <class Body>
static void over_all(const OptimizerStep& s, const Body& body) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < s.count; ++i) {
        total += s.tensors[i].count;
    }
    parallel_floats(total, s.threads, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t offset = 0;
        for (std::int64_t i = 0; i < s.count && offset < end; ++i) {
            const OptimizerTensor& t = s.tensors[i];
            const std::int64_t first = begin > offset ? begin - offset : 0;
            const std::int64_t last = end - offset < t.count ? end - offset : t.count;
            if (first < last) {
                body(t, first, last);
            }
            offset += t.count;
        }
    });
}

void sgd(const OptimizerStep& s) {
    const float factor = gradient_factor(s);
    if (factor < 0.0f) {
        return;
    }
    const float rate = s.step[step_block::learning_rate];
    const float momentum = s.momentum;
    const bool nesterov = s.nesterov;
    over_all(s, [=](const OptimizerTensor& t, std::int64_t begin, std::int64_t end) {
        float* ESPALIER_RESTRICT p = t.parameter;
        float* ESPALIER_RESTRICT m = t.slot[0];
        const float* ESPALIER_RESTRICT g = t.gradient;
        const float decay = t.weight_decay;
        if (nesterov) {
#pragma omp simd
            for (std::int64_t i = begin; i < end; ++i) {
                const float d = g[i] * factor + decay * p[i];
                const float v = momentum * m[i] + d;
                m[i] = v;
                p[i] -= rate * (d + momentum * v);
            }
        } else {
#pragma omp simd
            for (std::int64_t i = begin; i < end; ++i) {
                const float d = g[i] * factor + decay * p[i];
                const float v = momentum * m[i] + d;
                m[i] = v;
                p[i] -= rate * v;
            }
        }
    });
}

void adam(const OptimizerStep& s) {
    const float factor = gradient_factor(s);
    if (factor < 0.0f) {
        return;
    }
    const float rate = s.step[step_block::learning_rate];
    const auto beta1 = static_cast<float>(s.beta1);
    const auto beta2 = static_cast<float>(s.beta2);
    const auto rest1 = static_cast<float>(1.0 - s.beta1);
    const auto rest2 = static_cast<float>(1.0 - s.beta2);
    const auto eps = static_cast<float>(s.eps);
    const bool decoupled = s.decoupled;
    over_all(s, [=, &s](const OptimizerTensor& t, std::int64_t begin, std::int64_t end) {
        // Entries of one tensor mostly have the same age: the powers are computed again only where it changes.
        float age = -1.0f;
        float correction1 = 1.0f;
        float root_correction2 = 1.0f;
        for (std::int64_t i = begin; i < end; ++i) {
            const float steps = t.slot[2][i] + 1.0f;
            if (steps != age) {
                age = steps;
                correction1 = static_cast<float>(1.0 - pow(s.beta1, static_cast<double>(steps)));
                root_correction2 = static_cast<float>(sqrt(1.0 - pow(s.beta2, static_cast<double>(steps))));
            }
            float p = t.parameter[i];
            float g = t.gradient[i] * factor;
            if (decoupled) {
                p -= rate * t.weight_decay * p;
            } else {
                g += t.weight_decay * p;
            }
            const float m = beta1 * t.slot[0][i] + rest1 * g;
            const float v = beta2 * t.slot[1][i] + rest2 * g * g;
            const float denominator = sqrtf(v) / root_correction2 + eps;
            t.slot[0][i] = m;
            t.slot[1][i] = v;
            t.slot[2][i] = steps;
            t.parameter[i] = p - rate * (m / correction1) / denominator;
        }
    });
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
