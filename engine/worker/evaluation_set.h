// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/sample_set.h"
#include "io/checkpoint.h"
#include "train/run_config.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Images to measure a network with.
struct EvaluationSource {
    std::string data; ///< SPEC of the command line
    /// The run whose parts are meant, with the data as its configuration names it: where that has no validation part,
    /// the images that the run held back from its training. Null: the parts of the data set itself.
    const RunConfig* run = nullptr;
    /// Bytes that decoded image files may take, the rest of them lying in a file; as in training, if it is not said.
    std::optional<std::size_t> memory{};
};

struct EvaluationSet {
    SampleSet set;                  ///< labelled by the network's classes; files that cannot be used are not in it
    std::string part;               ///< train, validation or test, as the run has named it
    std::vector<std::string> parts; ///< all that have images
};

/// The configuration of the run in whose folder a checkpoint's file lies. Throws ConfigError, asking for the data, if
/// it lies elsewhere.
[[nodiscard]] RunConfig config_around(const std::filesystem::path& checkpoint);

/// Throws ConfigError if `part` is neither empty nor train, validation or test.
void check_part_name(const std::string& part);

/// The part that is asked for; if `part` is empty the one that tells most about unseen images: test, validation, or
/// train, the first that has any. `leave` ends it with an Error of code `stopped`. Throws as
/// check_part_name, and DataError if the data cannot be used or have no such part.
[[nodiscard]] EvaluationSet set_to_evaluate(const EvaluationSource& source, const std::string& part,
                                            const CheckpointInfo& trained, const std::function<bool()>& leave);

} // namespace espalier
