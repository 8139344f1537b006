// SPDX-License-Identifier: Apache-2.0
#include "backends/fake_copies.h"

#include "backends/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <deque>

struct CUevent_st {
    bool waits = false;
};

namespace espalier::test::fake_copies {
namespace {

struct Work {
    void* to;
    const void* from;
    std::size_t bytes;
    CUevent_st* event; ///< what comes to pass, if it is no copy
};
std::deque<Work> enqueued;

cudaError_t answer() { return fake_cuda::told(++calls == failing ? cudaErrorUnknown : cudaSuccess); }

void run_one() {
    const auto work = enqueued.front();
    enqueued.pop_front();
    if (work.event)
        work.event->waits = false;
    else
        std::memcpy(work.to, work.from, work.bytes);
}

} // namespace

void begin(int failing_call) {
    enqueued.clear();
    pinned = events = calls = 0;
    gives_pinned = true;
    failing = failing_call;
    fake_cuda::kept = cudaSuccess;
}

void run() {
    while (!enqueued.empty())
        run_one();
}

} // namespace espalier::test::fake_copies

using namespace espalier::test::fake_copies;

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    if (!gives_pinned)
        return espalier::test::fake_cuda::told(cudaErrorMemoryAllocation);
    *memory = std::malloc(bytes);
    ++pinned;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
    std::free(memory);
    --pinned;
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
    if (const auto error = answer(); error != cudaSuccess)
        return error;
    enqueued.push_back({to, from, bytes, nullptr});
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    run();
    return answer();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    if (const auto error = answer(); error != cudaSuccess)
        return error;
    *event = new CUevent_st;
    ++events;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    --events;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (const auto error = answer(); error != cudaSuccess)
        return error;
    event->waits = true;
    enqueued.push_back({nullptr, nullptr, 0, event});
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return event->waits ? espalier::test::fake_cuda::told(cudaErrorNotReady) : answer();
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    while (event->waits)
        run_one();
    return answer();
}
