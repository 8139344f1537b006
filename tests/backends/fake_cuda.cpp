// SPDX-License-Identifier: Apache-2.0
#include "backends/fake_cuda.h"

#include "backends/cuda/cudnn/library.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/self_test.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace espalier::test::fake_cuda {

void begin_with(std::vector<Card> all) {
    cards = std::move(all);
    touched.clear();
    current = 0;
    kept = cudaSuccess;
}

cudaError_t told(cudaError_t error) {
    if (error != cudaSuccess)
        kept = error;
    return error;
}

namespace {

const Card& card(int device) { return cards.at(static_cast<std::size_t>(device)); }

} // namespace
} // namespace espalier::test::fake_cuda

using namespace espalier::test::fake_cuda;

cudaError_t cudaGetLastError() { return std::exchange(kept, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return kept; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfTests"; }
const char* cudaGetErrorString(cudaError_t) { return "an error of tests"; }

cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = static_cast<int>(cards.size());
    return told(cards.empty() ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    const auto& one = card(device);
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s", one.name.c_str());
    std::fill(std::begin(properties->uuid.bytes), std::end(properties->uuid.bytes), static_cast<char>(one.uuid));
    properties->major = one.major;
    properties->minor = one.minor;
    return told(one.properties);
}

cudaError_t cudaDeviceGetPCIBusId(char* bus, int length, int device) {
    std::snprintf(bus, static_cast<std::size_t>(length), "%s", card(device).bus.c_str());
    return told(card(device).place);
}

cudaError_t cudaSetDevice(int device) {
    touched.insert(device);
    if (card(device).context == cudaSuccess)
        current = device;
    return told(card(device).context);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = *total = 1 << 30;
    return cudaSuccess;
}

namespace espalier::cuda {

bool self_test() {
    check_launch("the test kernel");
    check(told(card(current).kernel), "cudaMemcpy");
    return card(current).right;
}

int code_architecture() { return 90; }

namespace cudnn {
std::string version() { return "9.19.0"; }
Support usable() { return {}; }
} // namespace cudnn

} // namespace espalier::cuda
