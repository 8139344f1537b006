// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"
#include "graph/ops/convolution.h"

#include <array>

namespace espalier::testing {
namespace {

using List = std::vector<std::int64_t>;

struct ConvolutionCase {
    std::string name;
    Shape x;
    std::int64_t filters;
    Pair kernel{3, 3};
    Pair stride{1, 1};
    Pair padding{1, 1};
    Pair dilation{1, 1};
    std::int64_t groups = 1;
    bool bias = false;
    bool relu = false;
};

Attributes attributes(const ConvolutionCase& c) {
    Attributes attributes{{"stride", to_list(c.stride)},
                          {"padding", to_list(c.padding)},
                          {"dilation", to_list(c.dilation)},
                          {"groups", c.groups}};
    if (c.relu)
        attributes.set("activation", std::string("relu"));
    return attributes;
}

OpCase conv2d(const ConvolutionCase& c) {
    OpCase result{"conv2d " + c.name,
                  "conv2d",
                  {data(c.x), parameter({c.filters, c.x[1] / c.groups, c.kernel[0], c.kernel[1]})},
                  attributes(c)};
    if (c.bias)
        result.inputs.emplace_back(parameter({c.filters}));
    return result;
}

OpCase conv_transpose2d(const ConvolutionCase& c, Pair output_padding) {
    OpCase result{"conv_transpose2d " + c.name,
                  "conv_transpose2d",
                  {data(c.x), parameter({c.x[1], c.filters / c.groups, c.kernel[0], c.kernel[1]})},
                  attributes(c)};
    result.attributes.set("output_padding", to_list(output_padding));
    if (c.bias)
        result.inputs.emplace_back(parameter({c.filters}));
    return result;
}

} // namespace

void add_convolution_cases(std::vector<OpCase>& cases) {
    const std::vector<ConvolutionCase> convolutions{
        {"of 2 dimensions", image_shape({6, 7}), 2},
        {"of 3 dimensions", image_shape({3, 6, 5}), 4},
        {"batch 1, odd channels", {1, 3, 7, 5}, 5},
        {"16 channels", {2, 16, 8, 8}, 16},
        {"17 channels", {2, 17, 9, 9}, 19},
        {"bias", {3, 5, 6, 4}, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true},
        {"bias and relu", {2, 4, 6, 6}, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true, true},
        {"relu", {2, 8, 6, 6}, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, false, true},
        {"1x1", {3, 6, 5, 5}, 10, {1, 1}, {1, 1}, {0, 0}},
        {"1x1 stride 2", {3, 6, 5, 7}, 9, {1, 1}, {2, 2}, {0, 0}},
        {"1x1 stride 2 by 3", {2, 24, 9, 11}, 40, {1, 1}, {2, 3}, {0, 0}},
        {"1x1 stride 2 by 3, many filters", {2, 23, 9, 11}, 71, {1, 1}, {2, 3}, {0, 0}},
        {"1x1 stride 3, last pixels unused", {2, 8, 9, 6}, 16, {1, 1}, {3, 3}, {0, 0}},
        {"1x1 stride 2, wide rows", {1, 3, 4, 301}, 5, {1, 1}, {2, 2}, {0, 0}},
        {"1x1 stride 2, bias", {2, 5, 4, 4}, 6, {1, 1}, {2, 2}, {0, 0}, {1, 1}, 1, true},
        {"1x1 of many pixels and channels", {3, 70, 13, 9}, 133, {1, 1}, {1, 1}, {0, 0}},
        {"1x1, pixels in whole vectors", {2, 65, 8, 6}, 129, {1, 1}, {1, 1}, {0, 0}},
        {"1x1 to many channels", {2, 16, 5, 7}, 72, {1, 1}, {1, 1}, {0, 0}},
        {"1x1 to many channels, batch 1", {1, 32, 3, 3}, 256, {1, 1}, {1, 1}, {0, 0}},
        {"1x1 to many channels, bias and relu", {3, 29, 4, 9}, 139, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, true, true},
        {"1x1 to many channels, many pixels", {3, 24, 40, 50}, 136, {1, 1}, {1, 1}, {0, 0}},
        {"7x7 stride 2", {1, 3, 15, 14}, 8, {7, 7}, {2, 2}, {3, 3}},
        {"1x7", {2, 8, 9, 9}, 8, {1, 7}, {1, 2}, {0, 3}},
        {"7x1", {2, 8, 9, 5}, 8, {7, 1}, {2, 1}, {3, 0}},
        {"asymmetric", {2, 3, 11, 8}, 4, {3, 2}, {3, 1}, {2, 0}},
        {"dilated", {2, 4, 10, 9}, 6, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
        {"dilated by axis, strided", {1, 4, 12, 11}, 3, {3, 3}, {2, 1}, {1, 3}, {1, 3}},
        {"padding beyond the kernel", {1, 2, 4, 4}, 2, {2, 2}, {2, 2}, {3, 3}},
        {"2 groups", {2, 6, 7, 7}, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
        {"3 groups, bias", {2, 9, 5, 6}, 12, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 3, true},
        {"last columns unused", {1, 3, 8, 8}, 4, {3, 3}, {3, 3}, {0, 0}},
        {"depthwise 3x3", {2, 12, 11, 10}, 12, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 12},
        {"depthwise 3x3 stride 2", {2, 16, 11, 10}, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 16},
        {"depthwise 5x5", {1, 8, 9, 9}, 8, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 8},
        {"depthwise 5x5 stride 2", {2, 7, 9, 10}, 7, {5, 5}, {2, 2}, {2, 2}, {1, 1}, 7},
        {"depthwise 7x7 stride 2", {2, 20, 13, 12}, 20, {7, 7}, {2, 2}, {3, 3}, {1, 1}, 20},
        {"depthwise dilated 3x3", {2, 12, 13, 12}, 12, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 12},
        {"depthwise dilated 5x5 stride 2", {2, 4, 13, 12}, 4, {5, 5}, {2, 2}, {4, 4}, {2, 2}, 4},
        {"depthwise rectangular", {2, 5, 8, 9}, 5, {3, 5}, {2, 1}, {1, 2}, {1, 1}, 5},
        {"depthwise, smaller than its kernel", {2, 9, 2, 3}, 9, {5, 5}, {1, 1}, {4, 4}, {2, 2}, 9},
        {"depthwise multiplier 2", {2, 6, 8, 8}, 12, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
        {"depthwise bias", {2, 10, 6, 6}, 10, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 10, true},
    };
    for (const auto& c : convolutions)
        cases.push_back(conv2d(c));
    // What the accuracy of a convolution is stated for.
    for (const auto [window, stride, padding] :
         {std::array<std::int64_t, 3>{3, 1, 0}, {3, 1, 1}, {3, 2, 1}, {1, 1, 0}, {1, 2, 0}, {7, 2, 3}})
        cases.push_back(conv2d(
            {"one filter, k" + std::to_string(window) + "s" + std::to_string(stride) + "p" + std::to_string(padding),
             {2, 3, 9, 9},
             1,
             {window, window},
             {stride, stride},
             {padding, padding}}));

    cases.push_back(conv_transpose2d({"2x2 stride 2", {2, 5, 6, 7}, 4, {2, 2}, {2, 2}, {0, 0}}, {0, 0}));
    cases.push_back(
        conv_transpose2d({"3x3 stride 2, output padding", {2, 5, 6, 7}, 4, {3, 3}, {2, 2}, {1, 1}}, {1, 1}));
    cases.push_back(conv_transpose2d({"3x3, bias", {1, 8, 5, 4}, 16, {3, 3}, {1, 1}, {0, 0}, {1, 1}, 1, true}, {0, 0}));
    cases.push_back(conv_transpose2d({"2 groups", {2, 6, 4, 5}, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 2, true}, {0, 0}));
    cases.push_back(conv_transpose2d({"dilated, asymmetric", {1, 3, 4, 5}, 2, {3, 2}, {2, 3}, {1, 0}, {2, 1}}, {1, 2}));
    cases.push_back(conv_transpose2d({"1x1 stride 2", {2, 5, 6, 7}, 4, {1, 1}, {2, 2}, {0, 0}}, {1, 0}));
    cases.push_back(
        conv_transpose2d({"1x1 stride 2, bias", {1, 5, 6, 7}, 4, {1, 1}, {2, 2}, {0, 0}, {1, 1}, 1, true}, {1, 1}));
    cases.push_back({"channel_sum", "channel_sum", {data({3, 5, 4, 7})}});
    cases.push_back({"channel_sum of rows", "channel_sum", {data({6, 11})}});
}

} // namespace espalier::testing
