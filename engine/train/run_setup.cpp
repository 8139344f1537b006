// SPDX-License-Identifier: Apache-2.0
#include "train/run_setup.h"

#include "backends/kernel_fallback.h"
#include "backends/registry.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/user_folders.h"
#include "data/augmentation.h"
#include "data/class_balance.h"
#include "train/precision.h"
#include "train/resources.h"

#include <algorithm>
#include <set>

namespace espalier {
namespace {

constexpr int loader_threads = 1; // the device of a CPU run needs the cores itself; one thread keeps ahead of it

std::vector<std::int64_t> evaluation_sizes(const RunSetup& setup) {
    std::set<std::int64_t, std::greater<>> sizes;
    for (const SampleSet* set : {&setup.sets.validation, &setup.sets.test})
        if (!set->empty())
            for (auto size : Batches(set->size(), setup.config.batch, Batches::Use::evaluation).sizes())
                sizes.insert(size);
    return {sizes.begin(), sizes.end()};
}

/// Of a device's free memory, the largest part that a data set may take of it.
constexpr std::size_t data_share = 4;

/// Keeps the images on the device if the configuration asks for it, or lets the device decide and there is room.
void place_data(RunSetup& setup) {
    const auto& config = setup.config;
    if (config.data_on_device == "off" ||
        setup.dataset().may_crop()) // cut anew each time, from what the host alone has
        return;
    auto statistics = setup.statistics;
    if (statistics.mean.empty()) { // a fit check looks at no image
        const auto channels = static_cast<std::size_t>(setup.dataset().image().channels);
        statistics = {std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0)};
    }
    auto data = std::make_shared<const DeviceData>(
        setup.sets, statistics, Augmentation{config.augmentation.crop, config.augmentation.flip}, config.seed);
    if (data->images() > DeviceData::most_images)
        return;
    if (config.data_on_device == "auto") {
        const auto free = setup.backend->free_memory();
        const auto limit = static_cast<std::size_t>(config.memory_limit_mib) * mib;
        if (!free || data->bytes() > (limit > 0 ? std::min(limit, *free) : *free) / data_share)
            return;
    }
    setup.device_data = std::move(data);
}

/// Takes the rung in this process alone: it is found again at every start, as long as it is needed.
void take(RunSetup& setup, FallbackNote& note) {
    setup.config = RunConfig::from_json(merged(setup.config.to_json(), note.set));
    if (setup.config.data_on_device == "off")
        setup.device_data = nullptr;
    note.set = nullptr;
}

/// What "auto" means for this run.
void settle_precision(RunSetup& setup, const KeptPrecision& kept) {
    auto& toggles = setup.config.toggles;
    setup.precision_asked = toggles.effective().precision;
    if (setup.precision_asked != "auto")
        return;
    const auto candidates = setup.backend->automatic_precisions();
    if (kept.backend == setup.backend->name() && std::ranges::find(candidates, kept.precision) != candidates.end()) {
        toggles.precision = kept.precision;
    } else if (candidates.size() == 1) {
        toggles.precision = candidates.front();
    } else {
        auto untimed = setup.config;
        untimed.toggles.deterministic = true;
        untimed.toggles.precision = "fp32"; // what the others are measured by: no tf32 in it
        PrecisionChoice choice{.precision = candidates.front()};
        try {
            choice = choose_precision(*backend_for(untimed), setup.config, candidates);
        } catch (const OutOfMemory& error) { // the plan will find out, and has rungs for it
            setup.backend->enter_thread();   // the other one may not have come so far as to choose the same device
            choice.note = "The precision is " + choice.precision + ", without a self-test: " + error.what();
        }
        toggles.precision = choice.precision;
        if (!choice.note.empty())
            setup.notes.push_back(std::move(choice.note));
        std::ranges::move(choice.refused, std::back_inserter(setup.fallbacks));
    }
    if (toggles.precision == "fp32" && !setup.backend->in_host_memory())
        setup.backend = backend_for(setup.config, setup.kernel_fallbacks); // without tf32
}

std::size_t mebibytes_up(std::size_t bytes) { return (bytes + mib - 1) / mib; }

/// Where no rung of the ladder helps: what would.
OutOfMemory too_little_memory(const RunSetup& setup, const std::vector<std::int64_t>& batch_sizes) {
    const auto& config = setup.config; // of the last rung
    const auto unbounded =
        plan_network(*setup.backend, config, batch_sizes, evaluation_sizes(setup), nullptr, std::size_t{0});
    const auto least = mebibytes_up(unbounded->memory().total()),
               asked = mebibytes_up(setup.too_large->memory().total());
    auto text = "The run needs " + std::to_string(asked) + " MiB of memory";
    if (least < asked)
        text += std::string(" as it is, and ") + (config.toggles.recompute ? "with recomputation and " : "with ") +
                "a batch of " + std::to_string(config.batch) + " still " + std::to_string(least) + " MiB";
    const bool is_set = config.memory_limit_mib > 0;
    text += is_set ? ", but memory_limit_mib allows " + std::to_string(config.memory_limit_mib) +
                         ". Set memory_limit_mib=" + std::to_string(least) + " or more (0: what the machine has free)"
                   : ", but a run may take " + std::to_string(setup.memory_limit / mib) +
                         " MiB of what is free now. Close other programs";
    return OutOfMemory(text + ", or choose a smaller network or smaller images.");
}

void plan(RunSetup& setup) {
    for (;;) {
        const Batches batches(setup.sets.train.size(), setup.config.batch, Batches::Use::training);
        setup.batches_per_epoch = batches.count();
        setup.steps_per_epoch = (setup.batches_per_epoch + setup.config.accumulation - 1) / setup.config.accumulation;
        try {
            setup.memory_limit = memory_limit(*setup.backend, setup.config);
            setup.network = plan_network(*setup.backend, setup.config, batches.sizes(), evaluation_sizes(setup),
                                         setup.device_data, setup.memory_limit);
            std::ranges::move(std::exchange(*setup.kernel_fallbacks, {}), std::back_inserter(setup.fallbacks));
            return;
        } catch (const OutOfMemory& error) {
            const auto* too_large = dynamic_cast<const PlanTooLarge*>(&error);
            if (too_large && !setup.device_data && !setup.too_large)
                setup.too_large = *too_large;
            auto note = less_memory(setup, error.what());
            if (!note && too_large)
                throw too_little_memory(setup, batches.sizes());
            if (!note)
                throw;
            setup.backend->trim_caches(); // of what the plan that did not fit had made
            take(setup, *note);
            setup.fallbacks.push_back(std::move(*note));
        }
    }
}

/// Names the first files that were left out; empty if there are none.
std::string left_out_text(const Dataset& dataset) {
    constexpr std::size_t named = 5;
    const auto bad = dataset.left_out();
    if (bad.empty())
        return {};
    std::size_t total = bad.size();
    for (const auto part : all_parts)
        total += dataset.size(part);
    std::string text = std::to_string(bad.size()) + " of " + counted(total, "file") + " cannot be used and " +
                       plural(bad.size(), "is", "are") + " left out:";
    for (const auto& one : bad.first(std::min(named, bad.size())))
        text += " " + one.reason;
    return bad.size() > named ? text + " The others are named by a scan." : text;
}

void add_notes(RunSetup& setup) {
    const auto& config = setup.config;
    if (auto note = last_batch_note(setup.sets.train.size(), config.batch); !note.empty())
        setup.notes.push_back(std::move(note));
    if (config.accumulation > 1)
        setup.notes.push_back("Each update takes the mean gradient of " + std::to_string(config.accumulation) +
                              " batches of " + counted(config.batch, "image") + ".");
    for (auto& remark : setup.dataset().remarks())
        setup.notes.push_back(std::move(remark));
    if (auto text = left_out_text(setup.dataset()); !text.empty())
        setup.warnings.push_back(std::move(text));
    if (setup.dataset().classes() < 2)
        setup.warnings.push_back("The data set has a single class: there is nothing to tell apart, the loss is zero "
                                 "from the first step on, and an accuracy of 100 % means nothing. Is a folder of "
                                 "classes missing?");
    if (config.schedule.warmup_epochs >= static_cast<double>(config.epochs))
        setup.notes.push_back("The warm-up takes the whole run: the learning rate never reaches its value.");
    if (setup.sets.validation.empty())
        setup.notes.push_back("There is no validation part: no checkpoint will be called the best.");
}

} // namespace

std::optional<FallbackNote> less_memory(const RunSetup& setup, const std::string& reason) {
    if (!setup.device_data)
        return less_memory(setup.config, reason);
    return FallbackNote{.rung = "data",
                        .from = "on the device",
                        .to = "sent by the host",
                        .reason = reason,
                        .set = {{"data_on_device", "off"}}};
}

std::size_t memory_limit(const RunConfig& config) {
    if (config.memory_limit_mib > 0)
        return static_cast<std::size_t>(config.memory_limit_mib) * mib;
    const auto available = available_memory();
    return available ? memory_for_a_run(*available) : 0;
}

std::size_t memory_limit(const Backend& backend, const RunConfig& config) {
    if (const auto free = backend.free_memory(); free && config.memory_limit_mib == 0)
        return *free - *free / 20;
    return memory_limit(config);
}

std::unique_ptr<BatchFeed> RunSetup::training_feed() const {
    if (device_data)
        return std::make_unique<DeviceFeed>(
            Batches(sets.train.size(), config.batch, Batches::Use::training),
            [data = device_data](auto epoch) { return data->training_order(epoch); },
            [this](const auto& order) { network->follow(DeviceData::Use::training, order); });
    return std::make_unique<LoaderFeed>(
        sets.train, LoaderSettings{.batch = config.batch,
                                   .use = Batches::Use::training,
                                   .seed = config.seed,
                                   .augmentation = {config.augmentation.crop, config.augmentation.flip},
                                   .statistics = statistics,
                                   .threads = loader_threads});
}

std::unique_ptr<BatchFeed> RunSetup::evaluation_feed(const SampleSet& set) const {
    if (device_data)
        return std::make_unique<DeviceFeed>(
            Batches(set.size(), config.batch, Batches::Use::evaluation),
            [data = device_data, &set](auto) { return data->evaluation_order(set); },
            [this](const auto& order) { network->follow(DeviceData::Use::evaluation, order); });
    return std::make_unique<LoaderFeed>(set, LoaderSettings{.batch = config.batch,
                                                            .use = Batches::Use::evaluation,
                                                            .statistics = statistics,
                                                            .threads = loader_threads});
}

void fit_to_data(RunConfig& config, const Dataset& dataset, std::size_t training_images,
                 std::vector<std::string>& notes) {
    config.network.channels = dataset.image().channels;
    config.network.height = dataset.image().height;
    config.network.width = dataset.image().width;
    config.network.classes = static_cast<std::int64_t>(dataset.classes());
    check_augmentation({config.augmentation.crop, config.augmentation.flip}, dataset.image());
    auto fitted = fitted_batch(training_images, config.batch);
    config.batch = fitted.batch;
    if (!fitted.note.empty())
        notes.push_back(std::move(fitted.note));
}

RunSets fit_to_listed_data(RunConfig& config, const WorkWatch& watch) {
    auto sets = sets_for_run(open_dataset(config.data, {.image_size = config.image_size, .watch = watch}),
                             config.validation_share, config.seed);
    std::vector<std::string> notes; // the run tells them itself
    fit_to_data(config, *sets.train.dataset, sets.train.size(), notes);
    (void)training_graph(config);
    return sets;
}

std::unique_ptr<Backend> backend_for(const RunConfig& config, std::shared_ptr<std::vector<FallbackNote>> fallbacks) {
    const auto toggles = config.toggles.effective();
    const BackendOptions options{.threads = config.threads,
                                 .deterministic = toggles.deterministic,
                                 .winograd = toggles.winograd,
                                 .reference_separable = toggles.reference_separable,
                                 .tf32 = toggles.precision != "fp32",
                                 .graphs = toggles.cuda_graphs,
                                 // Timings choose differently from day to day, and with them the bits.
                                 .tune = config.tuning_seconds > 0 && !toggles.safe_mode && !toggles.deterministic};
    auto backend = choose_backend(config.backend, training_graph(config), options);
    if (backend->name() == "reference") // nothing could stand in for it
        return backend;
    return with_fallback(std::move(backend), [fallbacks = std::move(fallbacks)](const KernelFallback& found) {
        if (fallbacks)
            fallbacks->push_back({.rung = "kernel",
                                  .from = found.kernel.empty() ? found.kind : found.kernel,
                                  .to = "reference",
                                  .reason = "The kernel for " + found.kind + " cannot be used: " + found.reason +
                                            " Plain loops on the processor stand in for it, which is slow.",
                                  .layer = found.layer});
    });
}

std::unique_ptr<NetworkSession> plan_network(Backend& backend, const RunConfig& config,
                                             const std::vector<std::int64_t>& sizes,
                                             const std::vector<std::int64_t>& evaluation_sizes,
                                             std::shared_ptr<const DeviceData> data, std::optional<std::size_t> limit) {
    auto network = std::make_unique<NetworkSession>(backend, config, limit ? *limit : memory_limit(backend, config),
                                                    std::move(data));
    for (auto size : sizes)
        network->prepare_training(size);
    for (auto size : evaluation_sizes)
        network->prepare_evaluation(size);
    return network;
}

std::size_t memory_for_images() { return available_memory().value_or(0) / 2; }

std::filesystem::path image_cache_folder() {
    const auto folder = cache_folder();
    return folder.empty() ? folder : folder / "images";
}

RunSetup set_up_run(RunConfig config, const WorkWatch& watch, ImageFilesUse files, const KeptPrecision& kept) {
    const auto leaving = [&] { return watch.leave && watch.leave(); };
    RunSetup setup;
    std::shared_ptr<const Dataset> dataset;
    try {
        dataset = open_dataset(config.data, {.image_size = config.image_size,
                                             .decode = files == ImageFilesUse::decoded,
                                             .memory = memory_for_images(),
                                             .cache = image_cache_folder(),
                                             .max_bad_share = config.max_bad_share,
                                             .watch = watch});
    } catch (const Error& error) {
        if (error.code() != ExitCode::stopped)
            throw;
        return setup;
    }
    if (leaving())
        return setup;
    setup.sets = sets_for_run(dataset, config.validation_share, config.seed);
    if (files == ImageFilesUse::decoded) {
        setup.statistics = channel_statistics(setup.sets.train);
        setup.data_hash = dataset->content_hash();
    }
    if (leaving())
        return setup;
    fit_to_data(config, *dataset, setup.sets.train.size(), setup.notes);
    setup.config = std::move(config);
    setup.backend = backend_for(setup.config, setup.kernel_fallbacks);
    if (files == ImageFilesUse::decoded)
        settle_precision(setup, kept);
    if (leaving())
        return setup;
    place_data(setup);
    plan(setup);
    if (setup.config.class_weights == "balanced")
        setup.network->set_class_weights(balanced_class_weights(setup.sets.train));
    add_notes(setup);
    return setup;
}

} // namespace espalier
