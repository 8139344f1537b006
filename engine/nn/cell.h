// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/layer_builder.h"

#include <functional>
#include <string>
#include <vector>

namespace espalier {

/// Every candidate operation of the search (DARTS family), in order: none, avg_pool_3x3, max_pool_3x3, skip_connect,
/// sep_conv_3x3/5x5/7x7, dil_conv_3x3/5x5, conv_7x1_1x7.
[[nodiscard]] const std::vector<std::string>& all_candidates();
/// Throws ConfigError naming `path` if there is no such operation.
void check_candidate(const std::string& path, const std::string& name);

/// The candidate `name` on x in the current scope, keeping the channels. Pools are followed by a batch norm only where
/// `pool_norm` says so. Not for "none", which is always zero and has no op.
[[nodiscard]] TensorId candidate(LayerBuilder& layers, const std::string& name, TensorId x, std::int64_t stride,
                                 bool affine, bool pool_norm);

/// Halves height and width (rounded up): ReLU, then two 1x1 convolutions of stride 2, the second on the input shifted
/// by one pixel (zero beyond the edge), concatenated, batch norm.
[[nodiscard]] TensorId factorized_reduce(LayerBuilder& layers, TensorId x, std::int64_t channels, bool affine);

/// What the search network and a genotype's network share: stem, cells with reductions at layers/3 and 2 layers/3 where
/// the channels double, classifier.
struct CellNetworkSettings {
    std::int64_t init_channels = 16;
    std::int64_t layers = 8;
    std::int64_t stem_multiplier = 3;
};

/// A cell as its body sees it: states 0 and 1 are the outputs of the two cells before, brought to the cell's shape.
struct CellPlace {
    std::size_t number;
    bool reduction;
    std::int64_t channels; ///< of each node
    std::array<TensorId, 2> states;
};

/// Builds one cell's nodes; returns them. The stride is 2 on edges that leave states 0 and 1 of a reduction cell.
using CellBody = std::function<std::vector<TensorId>(LayerBuilder& layers, const CellPlace& place)>;

[[nodiscard]] TensorId build_cell_network(LayerBuilder& layers, const NetworkSpec& spec,
                                          const CellNetworkSettings& settings, bool affine, TensorId images,
                                          const CellBody& body);

} // namespace espalier
