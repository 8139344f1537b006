// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/choice_cache.h"
#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/cudnn/tuning.h"
#include "plan/backend.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace espalier::cuda::cudnn {

/// Finds plans and keeps them: the same problem is planned once in the life of a backend, unless it is tuned in
/// between. A problem has at first the plan that was chosen for it in an earlier process (where timing is on), else the
/// library's guess.
class Planner {
public:
    /// `device` names what the choices of other processes must have been made for; empty: nothing is timed or kept.
    Planner(cudaStream_t stream, std::size_t workspace_cap, std::string device);
    ~Planner();
    Planner(const Planner&) = delete;
    Planner& operator=(const Planner&) = delete;

    /// The plan for a problem; null if the library has no engine for it within the cap.
    [[nodiscard]] std::shared_ptr<const Plan> plan(const Problem& problem);
    /// As Backend::tune().
    bool tune(double seconds);
    [[nodiscard]] Tuning tuning() const;
    /// Tells once that a convolution goes to a slower kernel since the library failed.
    void warn(const Problem& problem, const std::string& reason);
    /// What was not told yet.
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
    /// Forgets the plans that no kernel uses, and to time them.
    void trim();
    /// The library's context, set to launch on that stream.
    [[nodiscard]] cudnnHandle_t handle(cudaStream_t stream);

private:
    [[nodiscard]] std::shared_ptr<const Plan> first_plan(const Problem& problem, const std::string& key);
    /// The plan of the other gradient of the same convolution, if a pair of them is to be timed and that one is tuned.
    [[nodiscard]] std::optional<Companion> companion_of(const Problem& problem) const;
    void tune(const Problem& problem);

    Handle handle_;
    cudaStream_t stream_;
    cudaStream_t current_; ///< of the handle
    std::size_t workspace_cap_;
    bool tunes_;
    ChoiceCache cache_;
    std::map<std::string, std::shared_ptr<const Plan>> plans_;
    std::vector<Problem> open_;     ///< planned by the library's guess; the one with the least work first
    std::set<std::string> counted_; ///< problems that tuning_ counts as known or timed; they may be planned again
    Tuning tuning_;
    std::set<std::string> warned_; ///< problems
    std::vector<std::string> warnings_;
};

} // namespace espalier::cuda::cudnn
