// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/event.h"
#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/stream.h"
#include "plan/backend.h"

#include <cuda_runtime_api.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace espalier::cuda {

/// The streams of a backend, on the current device: everything runs on the first; the others exist for the branches of
/// a recorded graph.
class Streams {
public:
    static constexpr std::size_t count = 4;

    /// `overlaps`: whether our kernels may begin before the one before them has ended.
    explicit Streams(bool overlaps) : overlaps_(overlaps) { turn_to(0, false); }

    [[nodiscard]] cudaStream_t main() const { return at(0); }
    [[nodiscard]] cudaStream_t at(std::size_t index) const { return streams_[index].get(); }

    LaunchStream current; ///< where kernels launch now

    /// The next kernel launches there; `early`: it waits for nothing but the kernel before it in that stream.
    void turn_to(std::size_t index, bool early) { current = {at(index), early && overlaps_, overlaps_}; }

private:
    std::array<Stream, count> streams_;
    bool overlaps_;
};

/// Launches that were recorded once and go to the device as one.
class LaunchGraph {
public:
    /// Captures what `launch` enqueues on the stream and on others that it joins to it. Throws DeviceError,
    /// OutOfMemory.
    LaunchGraph(cudaStream_t stream, const std::function<void()>& launch);
    ~LaunchGraph();
    LaunchGraph(const LaunchGraph&) = delete;
    LaunchGraph& operator=(const LaunchGraph&) = delete;

    void launch() const;

private:
    cudaStream_t stream_;
    cudaGraphExec_t executable_ = nullptr;
};

/// A step as one CUDA graph. Kernels that need not wait for each other go to different streams of the capture and so
/// to parallel branches of the graph.
[[nodiscard]] std::unique_ptr<Recording> record_graph(Streams& streams, std::span<Kernel* const> kernels,
                                                      std::span<const std::vector<std::int32_t>> after);

/// Milliseconds of each kernel, one after another in a graph with an event between any two: no launch from the host is
/// in the time, but about a microsecond of the event is.
[[nodiscard]] std::vector<double> time_kernels(Streams& streams, std::span<Kernel* const> kernels);

} // namespace espalier::cuda
