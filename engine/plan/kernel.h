// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace espalier {

/// Where a kernel finds its tensors, one pointer an input and output of its op (null for no_tensor). They stay valid
/// and unchanged until the next bind. `workspace` has the bytes and alignment (64) that lowering asked for.
struct Binding {
    std::span<std::byte* const> inputs;
    std::span<std::byte* const> outputs;
    std::byte* workspace = nullptr;
};

/// One op made ready for one device: fixed shapes, layouts and algorithm.
class Kernel {
public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;

    /// Takes its addresses, once after the plan's memory is laid out (and again if it moves). Nothing is read or
    /// written.
    virtual void bind(const Binding& binding) = 0;
    /// Does the work, or enqueues it on the backend's stream. Allocates nothing. Throws DeviceError.
    virtual void run() = 0;
    /// Which implementation this is, for profiles and the passport: "onednn wino", "depthwise 3x3 avx512".
    [[nodiscard]] virtual std::string name() const = 0;
};

} // namespace espalier
