// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <set>
#include <string>
#include <vector>

/// As much of CUDA's runtime as finding a card takes, without a card. As there, an error stays until it is asked for.
namespace espalier::test::fake_cuda {

struct Card {
    std::string name;
    std::string bus = "00000000:17:00.0";
    unsigned char uuid = 0; ///< each of its bytes
    int major = 9, minor = 0;
    cudaError_t properties = cudaSuccess; ///< what the call answers
    cudaError_t place = cudaSuccess;      ///< on the bus
    cudaError_t context = cudaSuccess;    ///< when it becomes the current device
    cudaError_t kernel = cudaSuccess;     ///< when the test kernel has run
    bool right = true;                    ///< the numbers that it leaves
};

inline std::vector<Card> cards;
inline std::set<int> touched; ///< cards on which a context was made
inline int current = 0;
inline cudaError_t kept = cudaSuccess;
/// What a call answers, kept if it is an error.
cudaError_t told(cudaError_t error);

/// From here on there are these cards, and nothing has happened yet.
void begin_with(std::vector<Card> all);

} // namespace espalier::test::fake_cuda
