// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"
#include "plan/plan_too_large.h"
#include "train/batch_feed.h"
#include "train/fallback.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Everything that a run needs before its first step: the data, and the network planned for every batch size that will
/// come up in training and in evaluation.
struct RunSetup {
    RunConfig
        config; ///< as it will run: the batch fits the set and memory, the network has the set's shape and classes
    RunSets sets;
    ChannelStatistics statistics;
    std::string precision_asked = "auto"; ///< before "auto" was settled
    std::string data_hash;                ///< Dataset::content_hash; empty where only files were listed
    std::unique_ptr<Backend> backend;
    std::shared_ptr<const DeviceData> device_data; ///< null: the host sends every batch
    std::unique_ptr<NetworkSession> network;
    std::size_t memory_limit = 0;          ///< bytes that it was planned with; 0: none
    std::optional<PlanTooLarge> too_large; ///< as it was asked for, if that did not fit
    std::int64_t batches_per_epoch = 0;
    std::int64_t steps_per_epoch = 0;  ///< updates: batches joined by accumulation
    std::vector<std::string> notes;    ///< for people, before the start
    std::vector<std::string> warnings; ///< the same, of what is most likely not meant
    std::vector<FallbackNote> fallbacks;
    double first_step_seconds = 0; ///< from the worker's begin to the end of its first update; 0: not yet
    double tuned_seconds = 0; ///< to the new plans with algorithms that were timed (train/tuner.h); 0: not, or not yet
    /// Of kernels, as the backend finds them while it plans.
    std::shared_ptr<std::vector<FallbackNote>> kernel_fallbacks = std::make_shared<std::vector<FallbackNote>>();

    [[nodiscard]] const Dataset& dataset() const { return *sets.train.dataset; }
    /// Images of an update (the last one of an epoch may have fewer).
    [[nodiscard]] std::int64_t images_per_step() const { return config.batch * config.accumulation; }
    /// Of `network`, which must outlive them.
    [[nodiscard]] std::unique_ptr<BatchFeed> training_feed() const;
    [[nodiscard]] std::unique_ptr<BatchFeed> evaluation_feed(const SampleSet& set) const;
};

/// What "auto" came to before; empty: nothing.
struct KeptPrecision {
    std::string backend, precision;
};

/// Whether a setup decodes image files (a run does), or only lists them (a fit check needs no more than their number).
enum class ImageFilesUse { decoded, listed };

/// Opens the data and plans the network. What does not fit in memory is tried with the data set on the host, with
/// recomputation, then with half the batch and twice the accumulation, as often as need be; each try is a fallback.
/// `watch.leave` is asked between the stages and while images are read; when it says yes, the setup is given up and
/// comes back without a network. In a run the precision "auto" is what a self-test says (train/precision.h), or `kept`:
/// what it was before, on the same backend. Throws ConfigError, DataError, and OutOfMemory if nothing helps.
[[nodiscard]] RunSetup set_up_run(RunConfig config, const WorkWatch& watch = {},
                                  ImageFilesUse files = ImageFilesUse::decoded, const KeptPrecision& kept = {});

/// The next smaller thing to try where memory is short: the data set on the host, then less_memory(config).
[[nodiscard]] std::optional<FallbackNote> less_memory(const RunSetup& setup, const std::string& reason);

/// The set's shape and classes put into the network, the batch cut to the set: what a fit check needs, too. Throws
/// ConfigError if what is done to the images at random does not fit their size.
void fit_to_data(RunConfig& config, const Dataset& dataset, std::size_t training_images,
                 std::vector<std::string>& notes);

/// All that can be known of a run without a device, and without decoding its images: lists the data set, fits the
/// configuration to it and builds the graph of its training step. Returns the parts of the set. Throws ConfigError and
/// DataError, as set_up_run would.
RunSets fit_to_listed_data(RunConfig& config, const WorkWatch& watch = {});

/// Plans the network for training batches of `sizes` and evaluation batches of `evaluation_sizes`, largest first,
/// within `limit` bytes (0: any number); without it, within memory_limit().
[[nodiscard]] std::unique_ptr<NetworkSession> plan_network(Backend& backend, const RunConfig& config,
                                                           const std::vector<std::int64_t>& sizes,
                                                           const std::vector<std::int64_t>& evaluation_sizes,
                                                           std::shared_ptr<const DeviceData> data = nullptr,
                                                           std::optional<std::size_t> limit = std::nullopt);

/// Bytes that decoded image files may take, the rest of them lying in a file: half of what the machine has free; 0 (no
/// limit) where it does not tell.
[[nodiscard]] std::size_t memory_for_images();
/// Where decoded image files are kept for the next time (OpenOptions::cache); empty where the user has no such folder.
[[nodiscard]] std::filesystem::path image_cache_folder();

/// Bytes that the run may plan with: its memory_limit_mib, else what this machine has to give (memory_for_a_run); 0 if
/// that is not known.
[[nodiscard]] std::size_t memory_limit(const RunConfig& config);

/// The same on that backend: where the device has memory of its own, what is free there now, less a twentieth for
/// contexts and modules that load later.
[[nodiscard]] std::size_t memory_limit(const Backend& backend, const RunConfig& config);

/// The backend that the configuration asks for and that runs its training step. Kernels that fail there are replaced by
/// the reference backend's, and told in `fallbacks`.
[[nodiscard]] std::unique_ptr<Backend> backend_for(const RunConfig& config,
                                                   std::shared_ptr<std::vector<FallbackNote>> fallbacks = nullptr);

} // namespace espalier
