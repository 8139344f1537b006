// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "nn/network_spec.h"
#include "passes/pipeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

struct OptimizerConfig {
    std::string kind = "sgd"; ///< sgd, adam, adamw
    double learning_rate = 0.1;
    double momentum = 0.9;
    double weight_decay = 5e-4;
    bool nesterov = false;
    double clip_norm = 0; ///< 0: none
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
};

struct ScheduleConfig {
    std::string kind = "cosine";     ///< constant, step, cosine
    double warmup_epochs = 0;        ///< linear from 0
    double minimum = 0;              ///< end of the cosine
    std::vector<double> step_epochs; ///< step: multiply by gamma at each of these epochs
    double gamma = 0.1;
};

struct AugmentationConfig {
    std::int64_t crop = 0; ///< pixels of zero padding on every side before a random crop back to size
    bool flip = false;     ///< horizontal, with probability 1/2
};

struct CheckpointConfig {
    std::int64_t every_steps = 0; ///< 0: by time alone
    double every_minutes = 5;     ///< 0: by steps alone; best and last are always kept
    std::int64_t keep = 3;        ///< step checkpoints kept, at least 2
};

/// Everything that decides a run. config.json in the run's folder holds it whole; presets are the same JSON with fewer
/// keys.
struct RunConfig {
    std::string preset;
    std::string name;
    std::string data = "builtin"; ///< SPEC of the command line
    NetworkSpec network;
    std::int64_t image_size =
        0; ///< side in pixels to which photos are resized (shorter side, then crop); 0: as they are
    double max_bad_share = 0.1; ///< of the image files, how many may be bad before the run refuses to start
    std::int64_t batch = 64;
    std::int64_t epochs = 10;
    std::uint64_t seed = 1;
    std::string backend = "auto"; ///< auto, cpu, reference, cuda; one of several cards as cuda:0 or cuda:UUID
    int threads = 0;
    std::int64_t memory_limit_mib = 0; ///< what a plan may take; 0: what the machine has free, less a margin
    std::string data_on_device =
        "auto"; ///< the images stay in its memory: auto (a device of its own with room), on, off
    double tuning_seconds = 60; ///< of timing algorithms between the first updates, at most (GPU); 0: none
    std::int64_t accumulation = 1;
    double label_smoothing = 0;
    std::string class_weights = "none"; ///< of the loss in training: none, balanced (data/class_balance.h)
    double validation_share = 0.1;   ///< of the training set, by seed, where the data set has no validation part
    std::int64_t patience = 0;       ///< early stopping after so many evaluations without a better one; 0: never
    std::int64_t max_bad_steps = 20; ///< steps in a row with a non-finite loss or gradient before the run fails
    bool tensorboard = true; ///< event files for TensorBoard in the run's folder
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    AugmentationConfig augmentation;
    CheckpointConfig checkpoint;
    Toggles toggles;

    [[nodiscard]] Json to_json() const;
    /// Unknown keys, wrong types and values outside of their limits throw ConfigError naming the key, the limit and the
    /// value.
    static RunConfig from_json(const Json& json);
};

/// Puts `value` at a dotted key ("optimizer.learning_rate=0.05", "epochs=1"): JSON where it parses, else text. Throws
/// ConfigError without an equals sign or key, or where the path leads through a value that is no object.
void set_by_path(Json& json, const std::string& assignment);
/// `over` laid over `base`, object by object; everything else (lists too) is replaced whole. An object that names
/// another "network" than the base's replaces it: the settings of one network mean nothing to another.
[[nodiscard]] Json merged(Json base, const Json& over);

/// The presets in resources/presets (part of the program, nothing to install), by name, in the order shown to people.
[[nodiscard]] std::vector<std::string> preset_names();
/// The gallery's entry of a preset: {"name", "title", "row", "size", "summary", "available", "reason", "config"};
/// `reason` says why it is not available. Throws ConfigError listing the names if there is none of that name.
[[nodiscard]] const Json& preset_card(const std::string& name);
/// The RunConfig of a preset, with fewer keys and with "preset" set. Throws as preset_card, and with its reason if the
/// preset is not available.
[[nodiscard]] Json preset(const std::string& name);

} // namespace espalier
