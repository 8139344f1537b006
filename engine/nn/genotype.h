// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "nn/parameter_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

/// One edge of a discrete cell: an operation on state `input` (0 and 1 are the cell's inputs, 2 its first node).
struct GenotypeEdge {
    std::string operation;
    std::int64_t input = 0;
    friend bool operator==(const GenotypeEdge&, const GenotypeEdge&) = default;
};

/// The outcome of a search: two edges a node, in the order of the nodes. As JSON:
///   {"normal": [["sep_conv_3x3", 0], ["skip_connect", 1], ...], "reduce": [...]}
struct Genotype {
    std::vector<GenotypeEdge> normal, reduce;
    friend bool operator==(const Genotype&, const Genotype&) = default;

    [[nodiscard]] Json to_json() const;
    /// Throws ConfigError if `json` has not this form, names an unknown operation (or "none"), or an input that its
    /// node cannot see.
    static Genotype from_json(const Json& json);
};

/// The cell that a search has found so far: per node the two edges whose best operation other than "none" has the
/// largest softmax weight; of equal ones the first. `alpha` is [edges, ops], row-major. Throws ConfigError if its size
/// does not fit.
[[nodiscard]] std::vector<GenotypeEdge> derive_cell(const std::vector<float>& alpha,
                                                    const std::vector<std::string>& ops);

/// Both cells of a trained supernet with these settings. Throws ConfigError if the store has no alphas of that network.
[[nodiscard]] Genotype derive_genotype(const ParameterStore& store, const std::vector<std::string>& ops);

} // namespace espalier
