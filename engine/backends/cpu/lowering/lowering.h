// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/layout.h"
#include "backends/op_context.h"
#include "plan/backend.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// How ops become kernels on the CPU: one file a family, each adds its kinds to one table.
namespace espalier::cpu {

/// What a kernel's body finds: the addresses of its tensors, by position in the op.
struct Arguments {
    std::vector<std::byte*> inputs, outputs;
    std::byte* workspace = nullptr;

    [[nodiscard]] float* in(std::size_t i) const {
        return i < inputs.size() ? reinterpret_cast<float*>(inputs[i]) : nullptr;
    }
    [[nodiscard]] float* out(std::size_t i) const {
        return i < outputs.size() ? reinterpret_cast<float*>(outputs[i]) : nullptr;
    }
    template <class T>
    [[nodiscard]] T* in_as(std::size_t i) const {
        return reinterpret_cast<T*>(inputs.at(i));
    }
    template <class T>
    [[nodiscard]] T* out_as(std::size_t i) const {
        return reinterpret_cast<T*>(outputs.at(i));
    }
    template <class T>
    [[nodiscard]] T* scratch(std::size_t offset = 0) const {
        return reinterpret_cast<T*>(workspace + offset);
    }
};

using Body = std::function<void(const Arguments&)>;

/// What all lowerings of one backend share.
struct Settings {
    const KernelTable* kernels = nullptr;
    int threads = 1;
    BackendOptions options;
};

/// One op to be lowered here.
class Context : public OpContext {
public:
    Context(const Settings& shared, const Graph& whole, const Op& one, std::span<const Layout> given,
            std::span<const Layout> given_outputs)
        : OpContext(whole, one, given, given_outputs), settings(shared), kernels(*shared.kernels),
          threads(shared.threads) {}

    const Settings& settings;
    const KernelTable& kernels;
    int threads;

    /// Row-major, as most small tensors are kept; undefined for no_tensor.
    [[nodiscard]] Layout plain_input(std::size_t i) const;
    [[nodiscard]] Layout plain_output(std::size_t i) const;
    /// Everything row-major; what a lowering then changes.
    [[nodiscard]] Lowered plain() const;

    /// Layout in which our kernels work on an activation of this shape best, given what an input has now: blocked
    /// layouts stay, row-major images become blocked.
    [[nodiscard]] Layout activation(const Tensor& tensor, const Layout& now) const;
    /// The layout of `block` channels for any tensor; rank other than 4 is row-major.
    [[nodiscard]] static Layout blocked(const Tensor& tensor, std::int64_t block);
    /// The one layout for ops on flat arrays: the first given one that is not row-major, else row-major.
    [[nodiscard]] Layout common(std::size_t first, std::size_t last) const;
    [[nodiscard]] std::int64_t preferred(std::int64_t channels) const {
        return preferred_block(channels, kernels.vector_width >= 16 ? 16 : 8);
    }
};

/// Floats in memory, with padding.
[[nodiscard]] inline std::int64_t floats_of(const Layout& layout) {
    return static_cast<std::int64_t>(layout.bytes / sizeof(float));
}

/// A kernel of our own from what it does.
[[nodiscard]] std::unique_ptr<Kernel> loop_kernel(const Context& context, std::string what, Body body);

struct LoweringRule {
    std::function<Lowered(const Context&)> lower;
    /// Asked before; empty: yes to everything.
    std::function<Support(const Context&)> supports;
};

using LoweringTable = std::map<std::string, LoweringRule, std::less<>>;

void add_convolution(LoweringTable& table);
void add_data(LoweringTable& table);
void add_elementwise(LoweringTable& table);
void add_linear(LoweringTable& table);
void add_loss(LoweringTable& table);
void add_normalization(LoweringTable& table);
void add_optimizer(LoweringTable& table);
void add_pooling(LoweringTable& table);
void add_shape(LoweringTable& table);
void add_softmax(LoweringTable& table);

/// Every kind of op that this backend knows.
[[nodiscard]] const LoweringTable& lowering_table();

} // namespace espalier::cpu
