// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

namespace espalier {

/// Names of the ten classes of Fashion-MNIST, in the order of its labels.
[[nodiscard]] std::vector<std::string> fashion_mnist_classes();

/// The images of resources/data, which are linked into the program.
[[nodiscard]] std::shared_ptr<const Dataset> open_builtin();

} // namespace espalier
