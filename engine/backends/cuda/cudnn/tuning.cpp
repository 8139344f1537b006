// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/tuning.h"

#include "backends/cuda/error.h"
#include "backends/cuda/kernels/compare.h"
#include "base/error.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

namespace espalier::cuda::cudnn {
namespace {

/// Device memory for the time of a scope.
class Scratch {
public:
    explicit Scratch(std::size_t bytes) { ESPALIER_CUDA(cudaMalloc(&data_, std::max<std::size_t>(bytes, 256))); }
    ~Scratch() { cudaFree(data_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

private:
    void* data_ = nullptr;
};

class Timer {
public:
    explicit Timer(cudaStream_t stream) : stream_(stream) {
        ESPALIER_CUDA(cudaEventCreate(&begin_));
        ESPALIER_CUDA(cudaEventCreate(&end_));
    }
    ~Timer() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Milliseconds of one call among `repeats`.
    template <class Call>
    double time(int repeats, Call&& call) {
        ESPALIER_CUDA(cudaEventRecord(begin_, stream_));
        for (int i = 0; i < repeats; ++i)
            call();
        ESPALIER_CUDA(cudaEventRecord(end_, stream_));
        ESPALIER_CUDA(cudaEventSynchronize(end_));
        float milliseconds = 0;
        ESPALIER_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return milliseconds / repeats;
    }

private:
    cudaStream_t stream_;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// Launches recorded as one graph: those of a few microseconds take the host longer to enqueue than the device to run.
class Replay {
public:
    template <class Call>
    Replay(cudaStream_t stream, int repeats, Call&& call) : stream_(stream) {
        ESPALIER_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        bool failed = false;
        try {
            for (int i = 0; i < repeats; ++i)
                call();
        } catch (const DeviceError&) {
            failed = true; // the capture has to end all the same
        }
        cudaGraph_t graph = nullptr;
        failed |= cudaStreamEndCapture(stream, &graph) != cudaSuccess || graph == nullptr;
        if (!failed)
            failed = cudaGraphInstantiate(&executable_, graph, 0) != cudaSuccess;
        if (graph != nullptr)
            cudaGraphDestroy(graph);
        if (failed)
            throw DeviceError("An engine of cuDNN cannot be recorded.");
    }
    ~Replay() { cudaGraphExecDestroy(executable_); }
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;
    void run() const { ESPALIER_CUDA(cudaGraphLaunch(executable_, stream_)); }

private:
    cudaStream_t stream_;
    cudaGraphExec_t executable_ = nullptr;
};

constexpr double short_launch = 0.05; ///< milliseconds
constexpr int replayed = 6;           ///< launches of a graph

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

/// The tensors of a problem on the device, with random values.
class Bench {
public:
    Bench(const Problem& problem, std::size_t workspace, cudnnHandle_t handle, cudaStream_t stream)
        : problem_(problem), handle_(handle), stream_(stream),
          timer_(stream), counts_{count_of(problem.x), count_of(problem.w), count_of(problem.y)},
          output_(problem.direction == Problem::Direction::input_gradient    ? 0
                  : problem.direction == Problem::Direction::weight_gradient ? 1
                                                                             : 2),
          tensors_{Scratch(bytes(0)), Scratch(bytes(1)), Scratch(bytes(2))}, expected_(bytes(output_)),
          workspace_(workspace), sums_(16) {
        for (std::size_t i = 0; i < 3; ++i)
            fill_random(tensors_[i].data(), problem.type, counts_[i], static_cast<unsigned>(i + 1), stream);
    }

    /// Milliseconds of a launch; nothing if the engine refuses.
    std::optional<double> time(const std::shared_ptr<const Plan>& plan, double best) {
        try {
            const auto execution = execution_of(plan);
            const auto run = [&] { execution.run(handle_); };
            if (timer_.time(1, run) > 20 * best + 0.5) // the first may load a module, but never costs so much more
                return std::nullopt;
            if (timer_.time(2, run) > short_launch)
                return median([&] { return timer_.time(3, run); });
            const Replay replay(stream_, replayed, run);
            timer_.time(1, [&] { replay.run(); });
            return median([&] { return timer_.time(1, [&] { replay.run(); }) / replayed; });
        } catch (const DeviceError&) {
            cudaGetLastError(); // an engine that refuses at launch is no candidate; a broken device shows at the next
            return std::nullopt;
        }
    }

    /// Keeps what this plan computes, as what is right.
    void expect(const std::shared_ptr<const Plan>& plan) {
        execution_of(plan).run(handle_);
        ESPALIER_CUDA(cudaMemcpyAsync(expected_.data(), tensors_[output_].data(), bytes(output_),
                                      cudaMemcpyDeviceToDevice, stream_));
    }
    double difference(const std::shared_ptr<const Plan>& plan) {
        execution_of(plan).run(handle_);
        return relative_difference(expected_.data(), tensors_[output_].data(), problem_.type, counts_[output_],
                                   reinterpret_cast<double*>(sums_.data()), stream_);
    }

private:
    [[nodiscard]] std::size_t bytes(std::size_t i) const {
        return static_cast<std::size_t>(counts_[i]) * size_of(problem_.type);
    }
    [[nodiscard]] Execution execution_of(const std::shared_ptr<const Plan>& plan) const {
        return {plan, tensors_[0].data(), tensors_[1].data(), tensors_[2].data(), workspace_.data()};
    }

    const Problem& problem_;
    cudnnHandle_t handle_;
    cudaStream_t stream_;
    Timer timer_;
    std::array<std::int64_t, 3> counts_; ///< elements of x, w, y
    std::size_t output_;                 ///< which of them is computed
    std::array<Scratch, 3> tensors_;
    Scratch expected_, workspace_, sums_;
};

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
    return text;
}

} // namespace

Contest fastest(const Problem& problem, const std::shared_ptr<const Plan>& guess,
                const std::vector<std::shared_ptr<const Plan>>& candidates, cudnnHandle_t handle, cudaStream_t stream) {
    std::size_t workspace = guess->workspace();
    for (const auto& candidate : candidates)
        workspace = std::max(workspace, candidate->workspace());
    Bench bench(problem, workspace, handle, stream);

    std::vector<std::pair<double, std::shared_ptr<const Plan>>> times;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& candidate : candidates)
        if (const auto time = bench.time(candidate, best)) {
            times.emplace_back(*time, candidate);
            best = std::min(best, *time);
        }
    std::ranges::stable_sort(times, {}, [](const auto& entry) { return entry.first; });

    Contest contest{guess, {}};
    bench.expect(guess);
    for (const auto& [time, candidate] : times) {
        if (candidate->choice() == guess->choice())
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
