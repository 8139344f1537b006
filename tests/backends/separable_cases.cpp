// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"

#include <span>

/// The ops that join a depthwise and a pointwise convolution with batch norms, and their gradients, which are given
/// everything that they read.
namespace espalier::testing {
namespace {

struct Block {
    Shape x;
    std::int64_t products;
    std::int64_t kernel;
    bool norm;   ///< the input goes through a batch norm
    bool affine; ///< which has weight and bias
    bool relu;

    [[nodiscard]] std::string name() const {
        return x.text() + " to " + std::to_string(products) + ", " + std::to_string(kernel) + "x" +
               std::to_string(kernel) + (norm ? affine ? ", affine norm" : ", plain norm" : "") +
               (relu ? ", relu" : "");
    }
    [[nodiscard]] Shape z() const { return {x[0], products, x[2], x[3]}; }
    [[nodiscard]] Attributes attributes() const {
        return relu ? Attributes{{"input_activation", std::string("relu")}} : Attributes{};
    }
};

CaseInput spread(std::int64_t channels, Role role = Role::input) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < channels; ++c)
        values.push_back(0.5F + 0.25F * static_cast<float>(c % 5));
    return given({channels}, values, role);
}

/// mean, inv_std, weight and bias, or as many absent inputs.
void add_input_norm(const Block& block, std::vector<std::optional<CaseInput>>& inputs) {
    const auto size = inputs.size();
    const auto channels = block.x[1];
    if (block.norm) {
        inputs.emplace_back(given({channels}));
        inputs.emplace_back(spread(channels));
        if (block.affine) {
            inputs.emplace_back(given({channels}, {}, Role::parameter));
            inputs.emplace_back(given({channels}, {}, Role::parameter));
        }
    }
    inputs.resize(size + 4);
}

/// `end`: 0 without y; 1 with a plain one; 2 with weight, bias and ReLU; 3 with a residual too.
OpCase forward(const Block& block, bool update, int end) {
    const auto channels = block.x[1];
    OpCase result{"separable_conv2d " + block.name() + ", end " + std::to_string(end), "separable_conv2d"};
    result.inputs = {given(block.x), given({channels, 1, block.kernel, block.kernel}, {}, Role::parameter),
                     given({block.products, channels, 1, 1}, {}, Role::parameter),
                     given({block.products}, {}, Role::buffer), spread(block.products, Role::buffer)};
    add_input_norm(block, result.inputs);
    result.attributes = block.attributes();
    if (end > 1) {
        result.inputs.emplace_back(given({block.products}, {}, Role::parameter));
        result.inputs.emplace_back(given({block.products}, {}, Role::parameter));
        result.attributes.set("activation", std::string("relu"));
    }
    if (end > 2)
        result.inputs.emplace_back(given(block.z()));
    result.wanted = {true, true, end > 0, true, true};
    result.attributes.set("eps", 1e-3);
    result.attributes.set("momentum", 0.3);
    if (update)
        result.changes = {3, 4};
    else
        result.attributes.set("update_running", false);
    result.tolerance = 3e-6;
    return result;
}

OpCase pointwise_gradient(const Block& block, std::vector<bool> wanted) {
    const auto channels = block.x[1];
    OpCase result{"separable_pointwise_gradient " + block.name(), "separable_pointwise_gradient"};
    result.inputs = {given(block.z()),        given(block.z()),
                     given({block.products}), spread(block.products),
                     given({block.products}), given({block.products}),
                     given(block.x),          given({block.products, channels, 1, 1}, {}, Role::parameter)};
    if (block.affine)
        result.inputs.emplace_back(given({block.products}, {}, Role::parameter));
    result.wanted = std::move(wanted);
    result.tolerance = 3e-6;
    return result;
}

OpCase depthwise_gradient(const Block& block) {
    OpCase result{"separable_depthwise_gradient " + block.name(), "separable_depthwise_gradient"};
    result.inputs = {given(block.x), given(block.x),
                     given({block.x[1], 1, block.kernel, block.kernel}, {}, Role::parameter)};
    add_input_norm(block, result.inputs);
    result.attributes = block.attributes();
    result.wanted = {true, block.norm, block.norm};
    result.tolerance = 5e-6;
    return result;
}

OpCase filter_gradient(const Block& block) {
    OpCase result{"separable_filter_gradient " + block.name(), "separable_filter_gradient"};
    result.inputs = {given(block.x), given(block.x)};
    add_input_norm(block, result.inputs);
    result.attributes = block.attributes();
    result.attributes.set("weight_shape", std::vector<std::int64_t>{block.x[1], 1, block.kernel, block.kernel});
    result.tolerance = 5e-6;
    return result;
}

void add(std::span<const Block> blocks, std::vector<OpCase>& cases) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        cases.push_back(forward(blocks[i], i % 3 != 1, static_cast<int>(i % 4)));
        cases.push_back(pointwise_gradient(blocks[i], {true, i % 4 != 3}));
        cases.push_back(depthwise_gradient(blocks[i]));
        cases.push_back(filter_gradient(blocks[i]));
    }
}

} // namespace

void add_separable_cases(std::vector<OpCase>& cases) {
    const Block blocks[] = {
        {{2, 8, 5, 7}, 8, 3, false, false, true},    {{3, 5, 6, 4}, 7, 5, true, true, true},
        {{2, 28, 9, 11}, 28, 3, true, false, true},  {{1, 36, 13, 8}, 20, 5, false, false, false},
        {{4, 16, 16, 16}, 16, 3, true, true, true},  {{1, 64, 8, 8}, 64, 5, true, true, true},
        {{2, 33, 3, 33}, 17, 3, false, false, true}, {{1, 3, 1, 2}, 1, 3, true, true, true},
    };
    add(blocks, cases);
}

void add_large_separable_cases(std::vector<OpCase>& cases) {
    const Block blocks[] = {
        {{420, 8, 6, 5}, 8, 3, true, true, true},
        {{3, 40, 33, 31}, 24, 5, true, false, true},
        {{5, 64, 32, 32}, 64, 3, false, false, true},
        {{64, 16, 32, 32}, 16, 5, true, true, true},
        {{2, 24, 7, 64}, 40, 3, true, true, true},
        // So many that blocks take them by rows, in several steps.
        {{56, 36, 33, 30}, 36, 3, true, true, true},
        {{56, 40, 32, 32}, 24, 5, false, false, true},
        // So many that a thread sums all rows of a 3x3 filter.
        {{270, 64, 32, 9}, 8, 3, false, false, true},
        {{280, 64, 31, 10}, 5, 3, true, true, true},
        // So few that blocks have one chunk of outputs for each thread, or less.
        {{64, 64, 8, 8}, 64, 3, true, true, true},
        {{1, 64, 17, 5}, 57, 3, true, false, true},
        {{64, 32, 16, 16}, 32, 3, true, true, true},
        // Slices of several tiles, whole and not, of the widest matrices, and of more products than channels.
        {{40, 64, 20, 17}, 64, 5, true, true, true},
        {{150, 16, 23, 21}, 48, 3, true, true, true},
        {{96, 36, 32, 32}, 36, 5, true, false, true},
    };
    add(blocks, cases);
    // Input gradients of one image in blocks over its channels too, and of rows so long that each thread makes eight
    // outputs of one.
    cases.push_back(depthwise_gradient({{1, 72, 180, 61}, 8, 3, true, true, true}));
    cases.push_back(depthwise_gradient({{2, 64, 118, 140}, 8, 3, true, false, true}));
    cases.push_back(depthwise_gradient({{2, 64, 118, 140}, 8, 5, false, false, true}));
    // Without a batch norm x may be f32 beside halves: rows in steps, gathers of four and of eight outputs, and filters
    // whose threads sum one row or all.
    for (const auto& block : {Block{{56, 36, 33, 30}, 36, 3, false, false, true},
                              {{110, 33, 10, 19}, 20, 3, false, false, true},
                              {{64, 64, 8, 8}, 64, 3, false, false, true},
                              {{64, 32, 16, 16}, 32, 5, false, false, true},
                              {{2, 64, 118, 140}, 8, 3, false, false, true},
                              {{280, 64, 31, 10}, 5, 3, false, false, true}}) {
        cases.push_back(depthwise_gradient(block));
        cases.push_back(filter_gradient(block));
    }
}

void add_joined_separable_cases(std::vector<OpCase>& cases) {
    const Block blocks[] = {
        // Tiles that span many images, and one that is all there is.
        {{300, 24, 2, 3}, 8, 5, true, true, true},
        {{90, 16, 5, 1}, 9, 3, true, false, false},
        {{1, 5, 9, 6}, 3, 5, false, false, false},
        // Several tiles a block, the last of them cut short; images of odd heights, threads with rows of their own.
        {{25, 64, 23, 30}, 64, 3, true, true, true},
        {{190, 8, 31, 64}, 16, 3, false, false, true},
        // Pairs of rows, widths that are no multiple of four, and several tiles a block.
        {{110, 33, 10, 19}, 20, 3, true, false, true},
        {{200, 40, 14, 27}, 33, 5, true, true, true},
        {{48, 28, 32, 32}, 28, 5, false, false, false},
        // Rows so long that the two launches serve them.
        {{2, 64, 6, 140}, 24, 3, true, true, true},
        {{3, 20, 4, 301}, 20, 5, false, false, true},
    };
    int i = 0;
    for (const auto& block : blocks) {
        cases.push_back(forward(block, i % 3 != 1, i % 4));
        ++i;
    }
}

} // namespace espalier::testing
