// SPDX-License-Identifier: Apache-2.0
#include "backends/fake_capture.h"

#include "backends/fake_cuda.h"
#include "base/error.h"

#include <cstdint>

/// What a captured stream, or an event recorded in one, waits for.
struct End {
    bool captured = false;
    std::set<int> nodes;
};
struct CUstream_st {
    End end;
};
struct CUevent_st {
    End end;
};
struct CUgraph_st {};
struct CUgraphExec_st {};

namespace espalier::test::fake_capture {
namespace {

std::set<cudaStream_t> streams;

cudaError_t answer() { return fake_cuda::told(++calls == failing ? cudaErrorUnknown : cudaSuccess); }

void add(cudaStream_t stream, Node node) {
    node.after = stream->end.nodes;
    captured.push_back(std::move(node));
    stream->end.nodes = {static_cast<int>(captured.size()) - 1};
}

/// Whether the end of this stream comes after everything that was captured.
bool ends_all(cudaStream_t stream) {
    auto open = stream->end.nodes, seen = open;
    while (!open.empty()) {
        const auto node = *open.begin();
        open.erase(open.begin());
        for (const auto before : captured[static_cast<std::size_t>(node)].after)
            if (seen.insert(before).second)
                open.insert(before);
    }
    return seen.size() == captured.size();
}

template <class Thing>
cudaError_t make(Thing*& thing) {
    if (const auto error = answer(); error != cudaSuccess)
        return error;
    thing = new Thing;
    ++alive;
    return cudaSuccess;
}

template <class Thing>
cudaError_t end(Thing* thing) {
    delete thing;
    --alive;
    return cudaSuccess;
}

} // namespace

void begin(int failing_call) {
    captured.clear();
    calls = 0;
    failing = failing_call;
    fake_cuda::kept = cudaSuccess;
}

void launch(const cuda::LaunchStream& stream, int kernel) {
    if (!capturing || !stream.handle->end.captured)
        throw Error("A kernel was launched beside the capture.");
    add(stream.handle, {.kernel = kernel, .early = stream.early});
}

} // namespace espalier::test::fake_capture

using namespace espalier::test::fake_capture;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = new CUstream_st;
    streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return answer(); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    const auto error = answer();
    capturing = stream->end.captured = error == cudaSuccess;
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const bool whole = ends_all(stream);
    capturing = false;
    for (auto* one : streams)
        one->end = {};
    *graph = nullptr;
    return whole ? make(*graph) : espalier::test::fake_cuda::told(cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long*,
                                     cudaGraph_t*, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
    static std::vector<cudaGraphNode_t> found;
    found.clear();
    for (const auto node : stream->end.nodes)
        found.push_back(reinterpret_cast<cudaGraphNode_t>(static_cast<std::uintptr_t>(node) + 1));
    *status = stream->end.captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    *nodes = found.data();
    *edges = nullptr;
    *count = found.size();
    return answer();
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    const bool kernel = captured[reinterpret_cast<std::uintptr_t>(node) - 1].kernel >= 0;
    *type = kernel ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeEventRecord;
    return answer();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t, unsigned long long) {
    return make(*executable);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return answer(); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return answer(); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return end(graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return end(executable); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return make(*event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return end(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->end = stream->end;
    return answer();
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
    add(stream, {});
    return cudaEventRecord(event, stream);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) { return *milliseconds = 1, answer(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    stream->end.captured |= event->end.captured;
    stream->end.nodes.insert(event->end.nodes.begin(), event->end.nodes.end());
    return answer();
}
