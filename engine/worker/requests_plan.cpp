// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/batches.h"
#include "train/layer_report.h"
#include "train/resources.h"
#include "train/run_events.h"
#include "train/run_setup.h"
#include "train/time_estimate.h"
#include "worker/measured_runs.h"
#include "worker/protocol.h"
#include "worker/requests.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace espalier {
namespace {

constexpr std::int64_t most_images = 65536; // the largest batch that a configuration may have
// Plans of a search for the largest batch: on a GPU each asks its libraries for kernels, which takes a second or two.
constexpr std::size_t most_plans = 10, most_gpu_plans = 5;

/// Bytes that a training step of so many images needs, whatever there is.
std::size_t planned_bytes(Backend& backend, RunConfig config, std::int64_t batch) {
    config.batch = batch;
    NetworkSession network(backend, config);
    network.prepare_training(batch);
    return network.memory().total();
}

/// Up to 64 images every number counts, above it multiples of 8.
std::int64_t grain(std::int64_t batch) { return batch < 64 ? 1 : 8; }

/// The largest batch whose plan fits: memory grows with the batch by a constant for each image, nearly, so that a line
/// through two plans tells where to look, and plans on both sides of the limit tell when it is found. 0: not even 1.
class LargestBatch {
public:
    LargestBatch(Backend& backend, const RunConfig& config, std::size_t limit, std::int64_t images)
        : backend_(backend), config_(config), limit_(static_cast<double>(limit)),
          high_(std::min(images, most_images) + 1) {}

    std::int64_t find(const RequestContext& context) {
        const auto most = high_ - 1;
        const auto plans = backend_.in_host_memory() ? most_plans : most_gpu_plans;
        for (auto guess = std::clamp<std::int64_t>(config_.batch, 1, most); bytes_.size() < plans && guess > low_;) {
            context.check();
            (fits(guess) ? low_ : high_) = guess;
            if (low_ == most || high_ - low_ <= grain(low_))
                break;
            guess = next();
        }
        return low_;
    }

private:
    bool fits(std::int64_t batch) {
        try {
            return (bytes_[batch] = static_cast<double>(planned_bytes(backend_, config_, batch))) <= limit_;
        } catch (const Error&) { // larger than the library can count
            bytes_[batch] = std::numeric_limits<double>::infinity();
            return false;
        }
    }
    /// Where a line through the two nearest plans meets the limit, between what fits and what does not.
    [[nodiscard]] std::int64_t next() const {
        auto guess = static_cast<double>(low_ + high_) / 2;
        if (bytes_.size() == 1) {
            guess = bytes_.begin()->first * (low_ > 0 ? 2.0 : 0.5);
        } else {
            auto second = bytes_.upper_bound(low_); // the smallest that does not fit, with what lies before it
            if (second == bytes_.begin())
                ++second;
            if (second == bytes_.end())
                --second;
            const auto first = std::prev(second);
            const double slope = (second->second - first->second) / static_cast<double>(second->first - first->first);
            if (std::isfinite(slope) && slope > 0)
                guess = static_cast<double>(first->first) + (limit_ - first->second) / slope;
        }
        const auto step = grain(std::max(low_, static_cast<std::int64_t>(std::min(guess, static_cast<double>(high_)))));
        const double down = std::floor(guess / static_cast<double>(step)) * static_cast<double>(step);
        const auto lowest = static_cast<double>((low_ / step + 1) * step), highest = static_cast<double>(high_ - 1);
        return static_cast<std::int64_t>(std::clamp(down, std::min(lowest, highest), highest));
    }

    Backend& backend_;
    RunConfig config_;
    double limit_;
    std::int64_t low_ = 0, high_;          ///< fits; does not
    std::map<std::int64_t, double> bytes_; ///< of the batches that have been planned
};

/// Memory with and without recomputation, and how much more is computed with it.
Json recompute_cost(Backend& backend, RunConfig config, const RequestContext& context) {
    double bytes[2]{}, flops[2]{};
    for (const bool on : {false, true}) {
        context.check();
        config.toggles.recompute = on;
        NetworkSession network(backend, config);
        network.prepare_training(config.batch);
        bytes[on] = static_cast<double>(network.memory().total());
        for (const auto& op : network.plan_of(network.training_step(config.batch)).ops())
            flops[on] += op.flops;
    }
    return {{"memory_without", bytes[0]},
            {"memory_with", bytes[1]},
            {"more_flops", flops[0] > 0 ? flops[1] / flops[0] - 1 : 0.0}};
}

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// What is known as soon as the network is planned.
Json quick_part(RunSetup& setup, const RunConfig& config) {
    auto answer = plan_event(setup);
    answer.erase("type");
    answer.erase("time");
    answer["limit"] = setup.memory_limit;
    answer["warnings"] = setup.warnings;
    auto note = fitted_batch(setup.sets.train.size(), config.batch).note;
    if (note.empty())
        note = last_batch_note(setup.sets.train.size(), setup.config.batch);
    if (!note.empty())
        answer["last_batch"] = std::move(note);
    const auto device = setup.backend->device().memory;
    const auto free = setup.backend->free_memory();
    const auto available = free ? free : available_memory();
    if (free && device > *free)
        answer["used_by_others"] = device - *free;
    if (available && config.memory_limit_mib == 0)
        answer["notes"].push_back("Memory: of " + mebibytes(*available) + " that are free on this " +
                                  (free ? "device" : "machine") + " now, a run may take " +
                                  mebibytes(setup.memory_limit) +
                                  "; the rest is left for other programs. memory_limit_mib sets another limit.");
    // What did not fit was made smaller: the answer describes what would really run.
    answer["fits"] = !setup.too_large;
    for (const auto& fallback : setup.fallbacks)
        answer["notes"].push_back(fallback.saves_memory() ? "Does not fit as it is: " + fallback.reason + " Then " +
                                                                fallback.rung + ": " + fallback.to + "."
                                                          : fallback.reason);
    if (setup.too_large)
        answer["asked"] = {{"memory", to_json(setup.too_large->memory())},
                           {"layer", setup.too_large->busiest().layer},
                           {"kind", setup.too_large->busiest().kind}};
    return answer;
}

} // namespace

Json answer_plan(const Json& arguments, const RequestContext& context) {
    const auto config = RunConfig::from_json(whole_config(arguments.value("config", Json())));
    const bool brief = protocol::flag_at(arguments, "brief");
    auto setup = set_up_run(config, {.progress = {}, .leave = [&] { return context.stop.stop_requested(); }},
                            ImageFilesUse::listed);
    context.check();
    auto answer = quick_part(setup, config);
    if (protocol::flag_at(arguments, "memory_only"))
        return answer;
    const auto tell = [&] {
        context.check();
        auto fit = answer;
        for (const char* key : {"layers", "passes"}) // long ones wait for the answer
            fit.erase(key);
        context.progress({{"fit", std::move(fit)}});
        context.check();
    };
    tell();
    answer["estimated_seconds"] = estimated_seconds(setup);
    tell();
    const auto images = static_cast<std::int64_t>(setup.sets.train.size());
    answer["largest_batch"] = !setup.too_large ? setup.config.batch : std::int64_t{0};
    if (brief && !setup.too_large)
        return answer;
    setup.network.reset();
    auto asked = config;
    std::vector<std::string> notes; // said already
    fit_to_data(asked, setup.dataset(), setup.sets.train.size(), notes);
    if (setup.memory_limit > 0)
        answer["largest_batch"] = LargestBatch(*setup.backend, asked, setup.memory_limit, images).find(context);
    else
        answer["largest_batch"] = std::min(images, most_images);
    if (brief)
        return answer;
    answer["recompute"] = recompute_cost(*setup.backend, asked, context);
    answer["measured"] = measured_runs(context.runs_root, config);
    return answer;
}

} // namespace espalier
