// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/network_spec.h"

#include <array>
#include <cstdint>
#include <string>

namespace espalier {

using Pair = std::array<std::int64_t, 2>; ///< {height, width}

struct ConvolutionSettings {
    Pair kernel{1, 1};
    Pair stride{1, 1};
    Pair padding{0, 0};
    Pair dilation{1, 1};
    std::int64_t groups = 1;

    /// Square window with the padding that keeps the size at stride 1.
    static ConvolutionSettings square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t dilation = 1);
    [[nodiscard]] ConvolutionSettings with_groups(std::int64_t count) const;
};

/// The layers that networks are made of. Each has a name, which is a step of the path: `convolution("conv1", ...)`
/// within scope "blocks.0" owns the parameter "blocks.0.conv1.weight". Activations are [N, C, H, W].
class LayerBuilder {
public:
    LayerBuilder(GraphBuilder& builder, NormMode mode) : builder_(builder), mode_(mode) {}

    [[nodiscard]] GraphBuilder& ops() { return builder_; }
    [[nodiscard]] std::int64_t channels_of(TensorId x) const { return builder_.graph().shape(x)[1]; }

    /// No bias (a batch norm follows). First values: Kaiming normal by the inputs of one output.
    TensorId convolution(const std::string& name, TensorId x, std::int64_t channels,
                         const ConvolutionSettings& settings);
    /// Of the 1x1 kind that passes the channels it has, zero for further ones.
    TensorId identity_projection(const std::string& name, TensorId x, std::int64_t channels);
    TensorId batch_norm(const std::string& name, TensorId x, bool affine = true);
    TensorId relu(TensorId x) { return builder_.apply_one("relu", {x}); }
    TensorId max_pool(TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t padding);
    /// Padding is not counted.
    TensorId average_pool(TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t padding);
    /// A trained factor `name` [1], zero at first, times x.
    TensorId trained_scale(const std::string& name, TensorId x);
    /// Global average pooling and the linear layer "classifier": logits [N, classes].
    TensorId classifier(TensorId x, std::int64_t classes);

private:
    GraphBuilder& builder_;
    NormMode mode_;
};

} // namespace espalier
