// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/device.h"
#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/layout.h"
#include "backends/op_context.h"
#include "plan/backend.h"

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// How ops become kernels on the GPU: one file a family, each adds its kinds to one table.
namespace espalier::cuda {

namespace cudnn {
class Planner;
}

/// What a launch finds: the device addresses of its tensors, by position in the op (null for no_tensor), and the stream
/// to launch on.
struct Arguments {
    std::vector<std::byte*> inputs, outputs;
    std::byte* workspace = nullptr;
    LaunchStream stream;

    [[nodiscard]] const void* in(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
    [[nodiscard]] void* out(std::size_t i) const { return i < outputs.size() ? outputs[i] : nullptr; }
    [[nodiscard]] const float* in_f32(std::size_t i) const { return static_cast<const float*>(in(i)); }
    [[nodiscard]] float* out_f32(std::size_t i) const { return static_cast<float*>(out(i)); }
    [[nodiscard]] const int* in_i32(std::size_t i) const { return static_cast<const int*>(in(i)); }
    template <class T>
    [[nodiscard]] T* scratch(std::size_t offset = 0) const {
        return reinterpret_cast<T*>(workspace + offset);
    }
};

using Launch = std::function<void(const Arguments&)>;

/// What all lowerings of one backend share.
struct Settings {
    BackendOptions options;
    DeviceInfo device;
    const LaunchStream* stream = nullptr; ///< where launches go now: steps that are recorded side by side change it
    cudnn::Planner* planner = nullptr;
};

/// One op to be lowered here.
class Context : public OpContext {
public:
    Context(const Settings& shared, const Graph& whole, const Op& one, std::span<const Layout> given,
            std::span<const Layout> given_outputs)
        : OpContext(whole, one, given, given_outputs), settings(shared) {}

    const Settings& settings;

    /// Every tensor in the layout of its rank: [N,C,H,W] channels last, everything else row-major. What a lowering then
    /// changes.
    [[nodiscard]] Lowered natural() const;
    /// The same, but row-major where input `i` was computed so: for kernels that know both orders.
    [[nodiscard]] Lowered natural_like(std::size_t i) const;
    /// Every tensor row-major.
    [[nodiscard]] Lowered plain() const;
    /// For ops on flat arrays: inputs [first, last) and every computed output in one layout, that of the first input
    /// which has one that is not row-major.
    [[nodiscard]] Lowered flat(std::size_t first, std::size_t last) const;
};

/// A kernel of our own from its name and what it enqueues.
[[nodiscard]] std::unique_ptr<Kernel> launch_kernel(const Context& context, std::string name, Launch launch);

struct LoweringRule {
    std::function<Lowered(const Context&)> lower;
    /// Asked before; empty: yes to everything.
    std::function<Support(const Context&)> supports;
};

using LoweringTable = std::map<std::string, LoweringRule, std::less<>>;

void add_cast(LoweringTable& table);
void add_convolution(LoweringTable& table);
void add_data(LoweringTable& table);
void add_elementwise(LoweringTable& table);
void add_linear(LoweringTable& table);
void add_loss(LoweringTable& table);
void add_normalization(LoweringTable& table);
void add_optimizer(LoweringTable& table);
void add_pooling(LoweringTable& table);
void add_separable(LoweringTable& table);
void add_shape(LoweringTable& table);
void add_weighted_sum(LoweringTable& table);

/// Every kind of op that this backend knows.
[[nodiscard]] const LoweringTable& lowering_table();

} // namespace espalier::cuda
