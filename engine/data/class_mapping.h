// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

namespace espalier {

/// The same images with labels that are indices into `classes`, matched by name: what a network that knows these
/// classes is measured with. Throws DataError if the set has images of a class that is not among them.
[[nodiscard]] std::shared_ptr<const Dataset> with_classes(std::shared_ptr<const Dataset> dataset,
                                                          const std::vector<std::string>& classes);

} // namespace espalier
