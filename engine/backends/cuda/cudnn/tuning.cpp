// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/tuning.h"

#include "backends/cuda/kernels/compare.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/timing_contest.h"
#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace espalier::cuda::cudnn {
namespace {

class Timer {
public:
    explicit Timer(cudaStream_t stream) : stream_(stream) {}

    /// Milliseconds of one call among `repeats`.
    template <class Call>
    double time(int repeats, Call&& call) {
        ESPALIER_CUDA(cudaEventRecord(begin_.get(), stream_));
        for (int i = 0; i < repeats; ++i)
            call();
        ESPALIER_CUDA(cudaEventRecord(end_.get(), stream_));
        ESPALIER_CUDA(cudaEventSynchronize(end_.get()));
        float milliseconds = 0;
        ESPALIER_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
        return milliseconds / repeats;
    }

private:
    cudaStream_t stream_;
    Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

constexpr double launch = 0.02; // milliseconds, more than the host takes for one

/// Launches of a kernel that takes so many milliseconds which a graph needs to be timed as a step runs it, one behind
/// the other: with a few short ones the graph's own launch shows in the time.
int launches_in_graph(double milliseconds) {
    constexpr double long_enough = 0.25;
    constexpr int most = 24;
    return static_cast<int>(std::clamp(std::ceil(long_enough / milliseconds), 1.0, double{most}));
}

template <class Measure>
double median(Measure&& measure) {
    double times[5];
    for (double& time : times)
        time = measure();
    std::sort(std::begin(times), std::end(times));
    return times[2];
}

/// Rounding that two right engines may differ by: mean |a - b| / mean |a|.
double tolerance(const Problem& problem) {
    switch (problem.type) {
    case DType::f16:
        return 2e-3;
    case DType::bf16:
        return 1.5e-2;
    default:
        return problem.is_strict() ? 1e-5 : 2e-3;
    }
}

/// Runs and compares plans of one problem.
class Bench {
public:
    Bench(const Problem& problem, const std::optional<Companion>& companion, cudnnHandle_t handle, cudaStream_t stream)
        : problem_(problem), handle_(handle), stream_(stream), timer_(stream), tensors_(problem, stream),
          output_(problem.direction == Problem::Direction::input_gradient    ? 0
                  : problem.direction == Problem::Direction::weight_gradient ? 1
                                                                             : 2),
          expected_(tensors_.bytes(output_)), sums_(16), beside_(side_by_side(companion, handle, stream)) {}

    /// Milliseconds of a launch within a graph, as a step launches it; nothing if the engine refuses, or refuses to be
    /// recorded, as some do that make a texture at each launch.
    std::optional<double> time(const std::shared_ptr<const Plan>& plan, double best) {
        try {
            const auto execution = execution_of(plan);
            const auto run = [&] { execution.run(handle_); };
            if (timer_.time(1, run) > 20 * best + 0.5) // the first may load a module, but never costs so much more
                return std::nullopt;
            const double alone = timer_.time(2, run);
            if (alone > 2 * best + launch)
                return alone; // far from the final: not worth a graph
            const int launches = launches_in_graph(alone);
            const LaunchGraph graph(stream_, [&] {
                for (int i = 0; i < launches; ++i)
                    beside_ ? beside_->run_with(run) : run();
            });
            const auto replay = [&] { graph.launch(); };
            timer_.time(1, replay);
            return median([&] { return timer_.time(1, replay) / launches; });
        } catch (const DeviceError&) { // an engine that refuses at launch is no candidate; a broken device shows next
            return std::nullopt;
        }
    }

    [[nodiscard]] bool in_pairs() const { return beside_ != nullptr; }

    /// Keeps what this plan computes, as what is right. False if it cannot be run at all.
    bool expect(const std::shared_ptr<const Plan>& plan) {
        try {
            compute(plan);
        } catch (const DeviceError&) {
            return false;
        }
        ESPALIER_CUDA(cudaMemcpyAsync(expected_.data(), tensors_.data(output_), tensors_.bytes(output_),
                                      cudaMemcpyDeviceToDevice, stream_));
        return true;
    }
    double difference(const std::shared_ptr<const Plan>& plan) {
        compute(plan);
        return relative_difference(expected_.data(), tensors_.data(output_), problem_.type, tensors_.count(output_),
                                   reinterpret_cast<double*>(sums_.data()), stream_);
    }

private:
    /// Over rubbish: what a plan leaves out must not be what another one has left there.
    void compute(const std::shared_ptr<const Plan>& plan) {
        ESPALIER_CUDA(cudaMemsetAsync(tensors_.data(output_), 0xff, tensors_.bytes(output_), stream_));
        execution_of(plan).run(handle_);
    }

    [[nodiscard]] Execution execution_of(const std::shared_ptr<const Plan>& plan) {
        if (workspace_ == nullptr || workspace_->bytes() < plan->workspace()) {
            workspace_.reset(); // which waits for what runs
            workspace_ = std::make_unique<DeviceMemory>(plan->workspace());
        }
        return tensors_.execution(plan, workspace_->data());
    }

    const Problem& problem_;
    cudnnHandle_t handle_;
    cudaStream_t stream_;
    Timer timer_;
    RandomTensors tensors_;
    std::size_t output_; ///< which of them is computed
    DeviceMemory expected_, sums_;
    std::unique_ptr<DeviceMemory> workspace_; ///< as large as any plan has needed
    std::unique_ptr<SideBySide> beside_;      ///< null: plans are timed alone
};

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
    return text;
}

} // namespace

Contest fastest(const Problem& problem, const std::shared_ptr<const Plan>& guess, const Engines& engines,
                const std::optional<Companion>& companion, cudnnHandle_t handle, cudaStream_t stream) {
    std::vector<std::shared_ptr<const Plan>> entrants{guess};
    const auto add = [&](std::shared_ptr<const Plan> plan) {
        const bool is_new =
            plan && std::ranges::none_of(entrants, [&](const auto& e) { return e->choice() == plan->choice(); });
        if (is_new)
            entrants.push_back(std::move(plan));
        return is_new;
    };
    for (auto& candidate : engines.candidates())
        add(std::move(candidate));
    Bench bench(problem, companion, handle, stream);
    const auto order = fastest_nearby(
        entrants.size(), [&](std::size_t entrant, double best) { return bench.time(entrants[entrant], best); },
        [&](std::size_t entrant) {
            std::vector<std::size_t> near;
            for (const auto& choice : engines.neighbours(entrants[entrant]->choice()))
                if (add(engines.chosen(choice)))
                    near.push_back(entrants.size() - 1);
            return near;
        });

    Contest contest{guess, bench.in_pairs(), {}};
    if (order.empty() || order.front() == 0)
        return contest; // nothing is faster
    if (!bench.expect(guess))
        return contest;
    for (const auto entrant : order) {
        const auto& candidate = entrants[entrant];
        if (candidate == guess)
            break;
        const double difference = bench.difference(candidate);
        if (difference <= tolerance(problem)) {
            contest.winner = candidate;
            break;
        }
        contest.rejected.push_back(candidate->name() + " was the fastest, but differs from " + guess->name() + " by " +
                                   percent(difference));
    }
    ESPALIER_CUDA(cudaStreamSynchronize(stream));
    return contest;
}

} // namespace espalier::cuda::cudnn
