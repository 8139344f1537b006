// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/recording.h"

#include "backends/cuda/error.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

class GraphRecording final : public Recording {
public:
    GraphRecording(cudaStream_t stream, const std::function<void()>& launch) : graph_(stream, launch) {}
    void replay() override { graph_.launch(); }

private:
    LaunchGraph graph_;
};

/// Whether what comes next in a stream that is captured waits for a kernel and nothing else.
bool follows_one_kernel(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
    const cudaGraphEdgeData* edges = nullptr;
    ESPALIER_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count));
    if (status != cudaStreamCaptureStatusActive || count != 1)
        return false;
    cudaGraphNodeType type{};
    ESPALIER_CUDA(cudaGraphNodeGetType(nodes[0], &type));
    return type == cudaGraphNodeTypeKernel;
}

/// Sends kernels to streams. For each stream it is known up to which of its kernels another one has waited for it, so
/// that no wait is recorded twice.
class Branches {
public:
    Branches(Streams& streams, std::size_t kernels) : streams_(streams), place_(kernels) {}

    void launch(std::size_t index, Kernel& kernel, std::span<const std::int32_t> after) {
        const auto to = choose(after);
        auto& branch = branches_[to];
        if (!branch.joined) { // a capture spreads to a stream by a wait for one that is in it
            if (to != 0)
                wait(to, start());
            branch.joined = true;
        }
        bool alone = true; // other branches end before the kernel begins
        for (const auto step : after) {
            const auto [stream, position] = place_[static_cast<std::size_t>(step)];
            if (stream == to || branch.seen[stream] >= position)
                continue;
            wait(to, event_after(static_cast<std::size_t>(step)));
            alone = false;
            for (std::size_t i = 0; i < Streams::count; ++i)
                branch.seen[i] = std::max(branch.seen[i], clocks_[static_cast<std::size_t>(step)][i]);
        }
        streams_.turn_to(to, alone && branch.length > 0 && follows_one_kernel(streams_.at(to)));
        kernel.run();
        branch.seen[to] = ++branch.length;
        place_[index] = {to, branch.length};
        clocks_.push_back(branch.seen);
        ESPALIER_CUDA(cudaEventRecord(events_.emplace_back().get(), streams_.at(to)));
    }

    /// The main stream ends after all others.
    void join() {
        for (std::size_t i = 1; i < Streams::count; ++i)
            if (branches_[i].joined) {
                const Event end;
                ESPALIER_CUDA(cudaEventRecord(end.get(), streams_.at(i)));
                wait(0, end.get());
            }
    }

private:
    using Clock = std::array<int, Streams::count>; ///< kernels of each stream that are known to be done
    struct Branch {
        bool joined = false;
        int length = 0;
        Clock seen{};
    };
    struct Place {
        std::size_t stream = 0;
        int position = 0;
    };

    /// The stream that ends with the latest kernel to wait for; else the one that has done least, whose own end holds
    /// back least.
    [[nodiscard]] std::size_t choose(std::span<const std::int32_t> after) const {
        for (auto step = after.rbegin(); step != after.rend(); ++step) {
            const auto [stream, position] = place_[static_cast<std::size_t>(*step)];
            if (branches_[stream].length == position)
                return stream;
        }
        std::size_t best = 0;
        for (std::size_t i = 1; i < Streams::count; ++i)
            if (last_index(i) < last_index(best))
                best = i;
        return best;
    }
    [[nodiscard]] int last_index(std::size_t stream) const {
        for (auto i = clocks_.size(); i-- > 0;)
            if (place_[i].stream == stream)
                return static_cast<int>(i);
        return -1;
    }
    cudaEvent_t start() {
        if (!start_) {
            start_ = std::make_unique<Event>();
            ESPALIER_CUDA(cudaEventRecord(start_->get(), streams_.main()));
        }
        return start_->get();
    }
    [[nodiscard]] cudaEvent_t event_after(std::size_t step) const { return events_[step].get(); }
    void wait(std::size_t stream, cudaEvent_t event) {
        ESPALIER_CUDA(cudaStreamWaitEvent(streams_.at(stream), event, 0));
    }

    Streams& streams_;
    std::array<Branch, Streams::count> branches_{};
    std::vector<Place> place_;  ///< of each kernel
    std::vector<Clock> clocks_; ///< of each kernel, itself included
    std::vector<Event> events_;
    std::unique_ptr<Event> start_;
};

} // namespace

LaunchGraph::LaunchGraph(cudaStream_t stream, const std::function<void()>& launch) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    ESPALIER_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
        launch();
    } catch (...) {
        if (succeeded(cudaStreamEndCapture(stream, &graph))) // the capture has to end all the same
            cudaGraphDestroy(graph);
        throw;
    }
    ESPALIER_CUDA(cudaStreamEndCapture(stream, &graph));
    const auto error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
    if (const auto upload = cudaGraphUpload(executable_, stream); upload != cudaSuccess) {
        cudaGraphExecDestroy(executable_);
        check(upload, "cudaGraphUpload");
    }
}

LaunchGraph::~LaunchGraph() { cudaGraphExecDestroy(executable_); }

void LaunchGraph::launch() const { ESPALIER_CUDA(cudaGraphLaunch(executable_, stream_)); }

std::unique_ptr<Recording> record_graph(Streams& streams, std::span<Kernel* const> kernels,
                                        std::span<const std::vector<std::int32_t>> after) {
    struct BackToMain {
        Streams& streams;
        ~BackToMain() { streams.turn_to(0, false); }
    } const back{streams};
    return std::make_unique<GraphRecording>(streams.main(), [&] {
        Branches branches(streams, kernels.size());
        for (std::size_t i = 0; i < kernels.size(); ++i)
            branches.launch(i, *kernels[i], after[i]);
        branches.join();
    });
}

std::vector<double> time_kernels(Streams& streams, std::span<Kernel* const> kernels) {
    std::vector<Event> events;
    for (std::size_t i = 0; i <= kernels.size(); ++i)
        events.emplace_back(cudaEventDefault);
    const LaunchGraph graph(streams.main(), [&] {
        const auto record = [&](std::size_t i) {
            ESPALIER_CUDA(cudaEventRecordWithFlags(events[i].get(), streams.main(), cudaEventRecordExternal));
        };
        record(0);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            kernels[i]->run();
            record(i + 1);
        }
    });
    graph.launch();
    ESPALIER_CUDA(cudaStreamSynchronize(streams.main()));
    std::vector<double> milliseconds;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        float time = 0;
        ESPALIER_CUDA(cudaEventElapsedTime(&time, events[i].get(), events[i + 1].get()));
        milliseconds.push_back(time);
    }
    return milliseconds;
}

} // namespace espalier::cuda
