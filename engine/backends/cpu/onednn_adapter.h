// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/direction.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The only door to oneDNN. Version 2 makes a primitive from an operation descriptor, version 3 knows none of these;
/// which one is linked is known in onednn_adapter.cpp alone. Scratchpads are the caller's; nothing here allocates while
/// it runs.
namespace espalier::cpu::onednn {

/// How the library stores one tensor of floats (a memory descriptor).
class Description;
using DescriptionPtr = std::shared_ptr<const Description>;

/// [N][C/B][H][W][B] with B = `block`; block 1 is row-major. Null if the library has no name for it.
[[nodiscard]] DescriptionPtr activation(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                                        std::int64_t block);
/// Row-major, any rank: dimensions outermost first.
[[nodiscard]] DescriptionPtr row_major(std::span<const std::int64_t> extents);

[[nodiscard]] std::vector<std::int64_t> extents(const Description& description);
[[nodiscard]] std::size_t bytes(const Description& description);
/// Equal keys mean equal bytes for tensors of one shape.
[[nodiscard]] std::string key(const Description& description);
[[nodiscard]] bool is_row_major(const Description& description);
[[nodiscard]] bool equal(const Description& a, const Description& b);

/// A copy from one description of a tensor to another. Padding becomes zero.
class Reorder {
public:
    Reorder(const DescriptionPtr& from, const DescriptionPtr& to);
    ~Reorder();
    [[nodiscard]] std::size_t workspace() const;
    void bind(const void* from, void* to, void* workspace);
    void run();

private:
    struct State;
    std::unique_ptr<State> state_;
};

enum class Algorithm { direct, winograd };

/// One convolution, seen from its forward direction: x [n, ic, ih, iw] * w [oc, ic/groups, kh, kw] -> y [n, oc, oh,
/// ow]. Pairs are {height, width}. The gradients take the same numbers.
struct Problem {
    Direction direction = Direction::forward;
    Algorithm algorithm = Algorithm::direct;
    std::int64_t n = 1, groups = 1;
    std::int64_t ic = 1, ih = 1, iw = 1;
    std::int64_t oc = 1, oh = 1, ow = 1;
    std::int64_t kh = 1, kw = 1;
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
    bool bias = false; ///< forward only
    bool relu = false; ///< forward only: y = max(0, ...)
};

/// A convolution in one direction. x, w, y stand for the gradients where the direction computes or reads those.
class Convolution {
public:
    /// `x_block`, `y_block`: channels stored together. `weights`: the order of w (or its gradient); null lets the
    /// library choose. Nothing if the library has no such implementation.
    static std::unique_ptr<Convolution> create(const Problem& problem, std::int64_t x_block, std::int64_t y_block,
                                               const DescriptionPtr& weights);
    ~Convolution();

    [[nodiscard]] const DescriptionPtr& weights() const;
    [[nodiscard]] std::size_t workspace() const;
    /// The library's name of the implementation, such as "jit_wino_4x3:avx512_core".
    [[nodiscard]] std::string name() const;
    /// False for the library's plain loops and for convolutions that unfold the image first.
    [[nodiscard]] bool fast() const;

    void bind(void* x, void* w, void* bias, void* y, void* workspace);
    void run();

private:
    Convolution();
    struct State;
    std::unique_ptr<State> state_;
};

/// Version of the library that is linked, "2.6.3".
[[nodiscard]] std::string version();
/// Gives back what the library keeps of kernels that nobody holds.
void trim_cache();

} // namespace espalier::cpu::onednn
