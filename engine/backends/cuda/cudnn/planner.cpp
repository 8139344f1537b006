// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/planner.h"

#include "backends/cuda/cudnn/engines.h"
#include "backends/cuda/cudnn/tuning.h"
#include "base/error.h"
#include "base/user_folders.h"

#include <algorithm>
#include <chrono>

namespace espalier::cuda::cudnn {
namespace {

Json to_json(const Choice& choice) { return {{"engine", choice.engine}, {"knobs", choice.knobs}}; }

/// Nothing if it is none: the file may be anybody's.
std::optional<Choice> choice_from(const Json& json) {
    try {
        Choice choice;
        json.at("engine").get_to(choice.engine);
        json.at("knobs").get_to(choice.knobs);
        return choice;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

/// Multiplications: what takes long is worth timing first.
double work_of(const Problem& problem) {
    double work = 1;
    for (const auto extents : {problem.y, std::array<std::int64_t, 4>{1, problem.w[1], problem.w[2], problem.w[3]}})
        for (const auto extent : extents)
            work *= static_cast<double>(extent);
    return work;
}

} // namespace

Planner::Planner(cudaStream_t stream, std::size_t workspace_cap, std::string device)
    : handle_(stream), stream_(stream), current_(stream), workspace_cap_(workspace_cap), tunes_(!device.empty()),
      cache_(tunes_ ? cache_folder() : std::filesystem::path(), std::move(device)) {}

Planner::~Planner() { cache_.save(); }

cudnnHandle_t Planner::handle(cudaStream_t stream) {
    if (stream != current_) {
        ESPALIER_CUDNN(cudnnSetStream(handle_.get(), stream));
        current_ = stream;
    }
    return handle_.get();
}

std::shared_ptr<const Plan> Planner::plan(const Problem& problem) {
    const auto key = problem.key();
    if (const auto known = plans_.find(key); known != plans_.end())
        return known->second;
    return plans_[key] = first_plan(problem, key);
}

std::shared_ptr<const Plan> Planner::first_plan(const Problem& problem, const std::string& key) {
    const Engines engines(problem, handle_.get(), workspace_cap_);
    if (const auto known = cache_.find(key))
        if (const auto choice = choice_from(*known))
            if (auto plan = engines.chosen(*choice)) {
                tuning_.known += counted_.insert(key).second ? 1 : 0;
                return plan;
            }
    auto plan = engines.guess();
    if (tunes_ && plan != nullptr)
        open_.insert(std::ranges::lower_bound(open_, work_of(problem), {}, work_of), problem);
    return plan;
}

void Planner::warn(const Problem& problem, const std::string& reason) {
    if (warned_.insert(problem.key()).second)
        warnings_.push_back("A slower kernel computes the convolution " + problem.key() + ". " + reason);
}

void Planner::trim() {
    std::erase_if(plans_, [](const auto& entry) { return entry.second.use_count() == 1; });
    std::erase_if(open_, [this](const Problem& problem) { return !plans_.contains(problem.key()); });
}

bool Planner::tune(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    while (!open_.empty() && spent() < seconds) {
        const auto problem = open_.back();
        open_.pop_back();
        tune(problem);
    }
    tuning_.seconds += spent();
    if (open_.empty() || seconds <= 0)
        cache_.save();
    return !open_.empty();
}

std::optional<Companion> Planner::companion_of(const Problem& problem) const {
    using Direction = Problem::Direction;
    // In strict fp32 either plan fills the card with arithmetic, and timed in pairs slower ones were chosen.
    if (problem.direction == Direction::forward || problem.is_strict())
        return std::nullopt;
    auto other = problem;
    other.direction =
        problem.direction == Direction::input_gradient ? Direction::weight_gradient : Direction::input_gradient;
    for (const bool winograd : {true, false}) { // one of the two may be too long a sum for it
        other.winograd = winograd;
        const auto found = plans_.find(other.key());
        const bool is_open = std::ranges::any_of(open_, [&](const Problem& p) { return p.key() == other.key(); });
        if (found != plans_.end() && found->second != nullptr && !is_open)
            return Companion{other, found->second};
    }
    return std::nullopt;
}

void Planner::tune(const Problem& problem) {
    const auto key = problem.key();
    auto& plan = plans_.at(key);
    try {
        const Engines engines(problem, handle_.get(), workspace_cap_);
        auto contest = fastest(problem, plan, engines, companion_of(problem), handle(stream_), stream_);
        for (const auto& text : contest.rejected)
            tuning_.rejected.push_back(text + " for the convolution " + key);
        ++tuning_.timed;
        tuning_.in_pairs += contest.in_pairs ? 1 : 0;
        counted_.insert(key);
        if (contest.winner->choice() != plan->choice()) {
            ++tuning_.improved;
            plan = contest.winner;
        }
        cache_.put(key, to_json(plan->choice()));
    } catch (const OutOfMemory&) {
        ++tuning_.skipped; // the network needs the memory; the guess stays
    }
}

Tuning Planner::tuning() const {
    auto result = tuning_;
    result.open = open_.size();
    result.warnings = cache_.warnings();
    return result;
}

} // namespace espalier::cuda::cudnn
