// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/sample_set.h"

#include <vector>

namespace espalier {

/// A weight for each class with which all classes count the same in a sum over the set, and a mean image counts 1:
/// n / (classes * n_c), with n images, n_c of them of class c. A class without images has weight 0.
[[nodiscard]] std::vector<float> balanced_class_weights(const SampleSet& set);

} // namespace espalier
