// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/peak.h"

namespace espalier::cuda {
namespace {

/// FLOPs of one multiprocessor in a cycle; 0: it lacks that type.
struct Rate {
    int major, minor;
    int halves_fp16, halves_bf16, tf32, fp32;
    bool geforce_half; ///< the consumer cards of this generation sum in fp32 at half the rate
};

constexpr Rate rates[] = {
    {7, 5, 1024, 0, 0, 128, true},         // Turing: T4 65 TFLOP/s fp16
    {8, 0, 2048, 2048, 1024, 128, false},  // A100 312, tf32 156
    {8, 6, 1024, 1024, 512, 256, true},    // A6000 155; RTX 3090 71, tf32 36
    {8, 9, 1024, 1024, 512, 256, true},    // L40S 362; RTX 4090 165, tf32 83
    {9, 0, 4096, 4096, 2048, 256, false},  // H100 989 at 1,830 MHz, fp32 67 at 1,980 MHz
    {10, 0, 8192, 8192, 4096, 256, false}, // B200 2,250
    {12, 0, 1024, 1024, 512, 256, true},   // RTX PRO 6000 504; RTX 5090 210, tf32 105
};

} // namespace

std::map<std::string, double> peak_flops(int major, int minor, int multiprocessors, double core_hertz,
                                         const std::string& name) {
    std::map<std::string, double> peaks;
    for (const auto& rate : rates) {
        if (rate.major != major || rate.minor != minor)
            continue;
        const double cycles = multiprocessors * core_hertz;
        const double tensor = rate.geforce_half && name.find("GeForce") != std::string::npos ? 0.5 : 1.0;
        const auto add = [&](const char* precision, double flops) {
            if (flops * cycles > 0)
                peaks[precision] = flops * cycles;
        };
        add("fp16", rate.halves_fp16 * tensor);
        add("bf16", rate.halves_bf16 * tensor);
        add("tf32", rate.tf32 * tensor);
        add("fp32", rate.fp32);
    }
    return peaks;
}

} // namespace espalier::cuda
