// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/tuning.h"

#include "backends/cuda/device_memory.h"
#include "backends/cuda/kernels/compare.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/timing_contest.h"
#include "base/error.h"

#include <algorithm>
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

/// Milliseconds: the launch of a graph costs so little beside a longer kernel that one is enough.
constexpr double short_launch = 0.05;
constexpr int several_launches = 6;

template <class Measure>
double median(Measure&& measure) {
    double times[5];
    for (double& time : times)
        time = measure();
    std::sort(std::begin(times), std::end(times));
    return times[2];
}

std::int64_t count_of(const std::array<std::int64_t, 4>& extents) {
    return extents[0] * extents[1] * extents[2] * extents[3];
}

/// Rounding that two right engines may differ by: mean |a - b| / mean |a|.
double tolerance(const Problem& problem) {
    switch (problem.type) {
    case DType::f16:
        return 2e-3;
    case DType::bf16:
        return 1.5e-2;
    default:
        return problem.tf32 ? 2e-3 : 1e-5;
    }
}

/// x, w and y of a problem on the device, with random values.
class Tensors {
public:
    Tensors(const Problem& problem, cudaStream_t stream)
        : type_(problem.type), counts_{count_of(problem.x), count_of(problem.w), count_of(problem.y)},
          memory_{DeviceMemory(bytes(0)), DeviceMemory(bytes(1)), DeviceMemory(bytes(2))} {
        for (std::size_t i = 0; i < 3; ++i)
            fill_random(memory_[i].data(), type_, counts_[i], static_cast<unsigned>(i + 1), stream);
    }

    [[nodiscard]] std::int64_t count(std::size_t i) const { return counts_[i]; }
    [[nodiscard]] std::size_t bytes(std::size_t i) const {
        return static_cast<std::size_t>(counts_[i]) * size_of(type_);
    }
    [[nodiscard]] std::byte* data(std::size_t i) const { return memory_[i].data(); }
    [[nodiscard]] Execution execution(const std::shared_ptr<const Plan>& plan, std::byte* workspace) const {
        return {plan, data(0), data(1), data(2), workspace};
    }

private:
    DType type_;
    std::array<std::int64_t, 3> counts_;
    std::array<DeviceMemory, 3> memory_;
};

/// A companion on a stream of its own.
class SideBySide {
public:
    SideBySide(const Companion& companion, cudnnHandle_t handle, cudaStream_t main)
        : handle_(handle), main_(main), tensors_(companion.problem, main), workspace_(companion.plan->workspace()),
          execution_(tensors_.execution(companion.plan, workspace_.data())) {
        ESPALIER_CUDA(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking));
    }
    ~SideBySide() {
        cudaStreamSynchronize(side_);
        cudaStreamDestroy(side_);
    }
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    /// Enqueues what `other` enqueues on the main stream, the companion beside it, and that both are waited for.
    template <class Call>
    void run_with(Call&& other) {
        ESPALIER_CUDA(cudaEventRecord(begin_.get(), main_));
        ESPALIER_CUDA(cudaStreamWaitEvent(side_, begin_.get(), 0));
        other();
        {
            struct BackToMain {
                SideBySide& self;
                ~BackToMain() { cudnnSetStream(self.handle_, self.main_); }
            } const back{*this};
            ESPALIER_CUDNN(cudnnSetStream(handle_, side_));
            execution_.run(handle_);
        }
        ESPALIER_CUDA(cudaEventRecord(end_.get(), side_));
        ESPALIER_CUDA(cudaStreamWaitEvent(main_, end_.get(), 0));
    }

private:
    cudnnHandle_t handle_;
    cudaStream_t main_, side_ = nullptr;
    Tensors tensors_;
    DeviceMemory workspace_;
    Execution execution_;
    Event begin_, end_;
};

std::unique_ptr<SideBySide> side_by_side(const std::optional<Companion>& companion, cudnnHandle_t handle,
                                         cudaStream_t stream) {
    if (!companion)
        return nullptr;
    try {
        return std::make_unique<SideBySide>(*companion, handle, stream);
    } catch (const OutOfMemory&) {
        return nullptr; // the network needs it; the plan is then timed alone
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
            const int launches = timer_.time(2, run) > short_launch ? 1 : several_launches;
            const LaunchGraph graph(stream_, [&] {
                for (int i = 0; i < launches; ++i)
                    beside_ ? beside_->run_with(run) : run();
            });
            const auto replay = [&] { graph.launch(); };
            timer_.time(1, replay);
            return median([&] { return timer_.time(1, replay) / launches; });
        } catch (const DeviceError&) {
            cudaGetLastError(); // an engine that refuses at launch is no candidate; a broken device shows at the next
            return std::nullopt;
        }
    }

    /// Keeps what this plan computes, as what is right.
    void expect(const std::shared_ptr<const Plan>& plan) {
        execution_of(plan).run(handle_);
        ESPALIER_CUDA(cudaMemcpyAsync(expected_.data(), tensors_.data(output_), tensors_.bytes(output_),
                                      cudaMemcpyDeviceToDevice, stream_));
    }
    double difference(const std::shared_ptr<const Plan>& plan) {
        execution_of(plan).run(handle_);
        return relative_difference(expected_.data(), tensors_.data(output_), problem_.type, tensors_.count(output_),
                                   reinterpret_cast<double*>(sums_.data()), stream_);
    }

private:
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
    Tensors tensors_;
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

    Contest contest{guess, {}};
    if (order.empty() || order.front() == 0)
        return contest; // there is nothing to compare with, or nothing faster
    bench.expect(guess);
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
