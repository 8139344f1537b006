// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace espalier {

/// Images as a network takes them, of the data set where that can be opened.
struct SampleImages {
    std::vector<std::uint8_t> pixels; ///< [count, C, H, W]
    std::int64_t count = 0;
    std::string origin; ///< in words: "builtin (test)", or why they are random
};

/// At most that many images, spread evenly over the part of `data` that tells most about unseen images; image files
/// that cannot be read are left out. Random pixels where `data` is empty or no image of it can be used.
[[nodiscard]] SampleImages sample_images(const std::string& data, const NetworkSpec& network, std::int64_t most);

/// How far probabilities may differ that the engine computes twice in fp32, of the network and of the file: both round
/// in other places (folded weights, other kernels), which moves a probability by about 1e-6.
inline constexpr double onnx_tolerance = 1e-4;

/// Reads an ONNX file back into the engine and compares its probabilities with those of the checkpoint's network, on
/// the same images in fp32 by the backend of that name. `progress` is told how many are done, and may throw to leave.
/// Returns the largest difference. Throws Error naming it if it is above onnx_tolerance, or not a number.
double compare_onnx(const std::string& model, const Checkpoint& checkpoint, const SampleImages& images,
                    const std::string& backend, const std::function<void(std::int64_t done)>& progress = {});

} // namespace espalier
