// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/descriptor.h"
#include "backends/cuda/cudnn/library.h"
#include "base/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace espalier::cuda::cudnn {

/// A convolution in one of its three directions, channels last: x [N,H,W,C], w [K,R,S,C/groups], y [N,P,Q,K]; or channels
/// first: x [N,C,H,W], w [K,C/groups,R,S], y [N,K,P,Q].
struct Problem {
    enum class Direction { forward, input_gradient, weight_gradient };

    Direction direction = Direction::forward;
    DType type = DType::f32; ///< of all three; sums are in f32
    bool tf32 = false;       ///< f32 products may round their factors to 10 bits
    bool channels_first = false;
    std::array<std::int64_t, 4> x{}; ///< N, C, H, W
    std::array<std::int64_t, 4> w{}; ///< K, C/groups, R, S
    std::array<std::int64_t, 4> y{}; ///< N, K, P, Q
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
    std::int64_t groups = 1;
    bool deterministic = false;
    bool winograd = true;

    /// Whether no factor of a product may be rounded.
    [[nodiscard]] bool is_strict() const { return type == DType::f32 && !tf32; }
    /// Everything that decides the plan, but the device and the library's version.
    [[nodiscard]] std::string key() const;
};

/// An engine of the library and how it is set: what names it in another process.
struct Choice {
    std::int64_t engine = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> knobs; ///< type and value, in the library's own numbers

    friend bool operator==(const Choice&, const Choice&) = default;
};

/// An engine of the library made ready for one problem.
class Plan {
public:
    Plan(Descriptor descriptor, Choice choice, std::string name, std::size_t workspace)
        : descriptor_(std::move(descriptor)), choice_(std::move(choice)), name_(std::move(name)),
          workspace_(workspace) {}

    [[nodiscard]] const std::string& name() const { return name_; } ///< "cudnn 62 tensor cores"
    [[nodiscard]] std::size_t workspace() const { return workspace_; }
    [[nodiscard]] const Choice& choice() const { return choice_; }
    [[nodiscard]] const Descriptor& descriptor() const { return descriptor_; }

private:
    Descriptor descriptor_;
    Choice choice_;
    std::string name_;
    std::size_t workspace_;
};

/// Plan and addresses together: what one launch needs.
class Execution {
public:
    Execution(std::shared_ptr<const Plan> plan, const void* x, const void* w, const void* y, std::byte* workspace);
    void run(cudnnHandle_t handle) const;

private:
    std::shared_ptr<const Plan> plan_;
    Descriptor pack_;
};

/// What the library is asked to compute; of `handle`'s device.
[[nodiscard]] Descriptor operation_graph(const Problem& problem, cudnnHandle_t handle);

} // namespace espalier::cuda::cudnn
