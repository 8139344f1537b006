// SPDX-License-Identifier: Apache-2.0
// libespalier-trap.so: kernels that fail on purpose, for tests on a machine with a GPU. They run in the context that the
// process uses already, so that everything else on the device fails from then on, as after a fault of our own.
#include <cuda_runtime.h>

#include <cstring>

namespace {

enum class Kind { trap, address };

__global__ void fail(Kind kind, int* nowhere) {
    if (kind == Kind::trap)
        __trap();
    if (kind == Kind::address)
        *nowhere = 1;
}

} // namespace

extern "C" void espalier_trap(const char* kind) {
    const Kind which = std::strcmp(kind, "address") == 0 ? Kind::address : Kind::trap;
    fail<<<1, 1>>>(which, reinterpret_cast<int*>(16));
}
