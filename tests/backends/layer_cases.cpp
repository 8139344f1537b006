// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"

namespace espalier::testing {
namespace {

using List = std::vector<std::int64_t>;
const std::string relu = "relu";

CaseInput variance(std::int64_t channels) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < channels; ++c)
        values.push_back(0.5F + 0.25F * static_cast<float>(c % 5));
    return given({channels}, values, Role::buffer);
}

CaseInput mean(std::int64_t channels) { return given({channels}, {}, Role::buffer); }

OpCase batch_norm(const std::string& name, const Shape& x, bool affine, bool residual, bool with_relu,
                  bool update = true) {
    const auto c = x[1];
    OpCase result{"batch_norm " + name,
                  "batch_norm",
                  {data(x), std::nullopt, std::nullopt, mean(c), variance(c)},
                  {{"eps", 1e-3}, {"momentum", 0.3}}};
    if (affine) {
        result.inputs[1] = parameter({c});
        result.inputs[2] = parameter({c});
    }
    if (residual)
        result.inputs.emplace_back(data(x));
    if (with_relu)
        result.attributes.set("activation", relu);
    if (update)
        result.changes = {3, 4};
    else
        result.attributes.set("update_running", false);
    // The gradient of x is what a difference of nearly equal sums leaves.
    result.tolerance = 3e-6;
    return result;
}

void add_normalization(std::vector<OpCase>& cases) {
    cases.push_back(batch_norm("affine", {4, 6, 5, 5}, true, false, false));
    cases.push_back(batch_norm("plain", {3, 8, 4, 5}, false, false, false));
    cases.push_back(batch_norm("of rows", {7, 5}, true, false, false));
    cases.push_back(batch_norm("relu", {4, 16, 3, 5}, true, false, true));
    cases.push_back(batch_norm("plain relu", {2, 3, 7, 5}, false, false, true));
    cases.push_back(batch_norm("residual", {2, 17, 4, 4}, true, true, false));
    cases.push_back(batch_norm("residual relu", {3, 5, 4, 6}, true, true, true));
    cases.push_back(batch_norm("plain residual relu", {1, 32, 4, 6}, false, true, true));
    cases.push_back(batch_norm("batch 1", {1, 3, 9, 9}, true, false, true));
    cases.push_back(batch_norm("frozen statistics", {4, 6, 3, 3}, true, false, true, false));
    const auto c = std::int64_t{6};
    const Shape x{3, c, 5, 4};
    cases.push_back({"batch_norm_apply", "batch_norm_apply", {given(x), given({c}), variance(c)}});
    cases.push_back({"batch_norm_apply all",
                     "batch_norm_apply",
                     {given(x), given({c}), variance(c), given({c}, {}, Role::parameter),
                      given({c}, {}, Role::parameter), given(x)},
                     {{"activation", relu}}});
    cases.push_back({"batch_norm_inference", "batch_norm_inference", {given(x), mean(c), variance(c)}});
    cases.push_back(
        {"batch_norm_inference all",
         "batch_norm_inference",
         {given(x), mean(c), variance(c), given({c}, {}, Role::parameter), given({c}, {}, Role::parameter), given(x)},
         {{"activation", relu}, {"eps", 1e-3}}});
}

void add_pooling(std::vector<OpCase>& cases) {
    struct Window {
        std::string name;
        Shape x;
        List kernel, stride, padding;
    };
    const std::vector<Window> windows{
        {"3x3", {2, 5, 9, 8}, {3, 3}, {1, 1}, {1, 1}},
        {"3x3 stride 2", {2, 16, 9, 8}, {3, 3}, {2, 2}, {1, 1}},
        {"2x2", {1, 3, 6, 7}, {2, 2}, {2, 2}, {0, 0}},
        {"rectangular", {2, 4, 7, 10}, {2, 5}, {1, 3}, {1, 2}},
        {"larger than the image", {1, 2, 3, 3}, {5, 5}, {1, 1}, {2, 2}},
    };
    for (const auto& w : windows) {
        const Attributes attributes{{"kernel", w.kernel}, {"stride", w.stride}, {"padding", w.padding}};
        cases.push_back({"max_pool2d " + w.name, "max_pool2d", {data(w.x)}, attributes});
        cases.push_back({"avg_pool2d " + w.name, "avg_pool2d", {data(w.x)}, attributes});
        auto with_pad = attributes;
        with_pad.set("count_include_pad", true);
        cases.push_back({"avg_pool2d padding counted " + w.name, "avg_pool2d", {data(w.x)}, with_pad});
    }
    cases.push_back({"global_avg_pool", "global_avg_pool", {data({3, 7, 5, 4})}});
    cases.push_back({"global_avg_pool of 16", "global_avg_pool", {data({1, 16, 7, 7})}});
}

void add_elementwise(std::vector<OpCase>& cases) {
    const Shape x{3, 5, 4, 7};
    cases.push_back({"relu", "relu", {data(x)}});
    cases.push_back({"relu of rows", "relu", {data({5, 9})}});
    for (std::size_t count = 1; count <= 5; ++count)
        cases.push_back(
            {"add of " + std::to_string(count), "add", std::vector<std::optional<CaseInput>>(count, data(x))});
    cases.push_back({"add relu", "add", {data({2, 16, 3, 3}), data({2, 16, 3, 3})}, {{"activation", relu}}});
    cases.push_back({"scale", "scale", {data(x), parameter({1})}, {}, {}, {}, {}, 3e-6});
    cases.push_back({"dot", "dot", {given({2, 3, 4, 5}), given({2, 3, 4, 5})}, {}, {}, {}, {}, 3e-6});
    cases.push_back({"constant", "constant", {}, {{"shape", List{2, 3}}, {"value", 0.75}}});
    cases.push_back({"constant images", "constant", {}, {{"shape", List{2, 3, 4, 5}}, {"value", 0.75}}});
    cases.push_back({"weighted_sum",
                     "weighted_sum",
                     {parameter({3, 5}), data(x), data(x), data(x)},
                     {{"row", std::int64_t{1}}, {"columns", List{0, 2, 4}}}});
    cases.push_back({"weighted_sum of one",
                     "weighted_sum",
                     {parameter({1, 4}), data({2, 8, 3, 3})},
                     {{"row", std::int64_t{0}}, {"columns", List{3}}}});
    for (auto& c : cases)
        if (c.kind == "weighted_sum")
            c.tolerance = 3e-6;
}

void add_concat(std::vector<OpCase>& cases) {
    cases.push_back({"concat", "concat", {data({2, 3, 4, 5}), data({2, 5, 4, 5}), data({2, 1, 4, 5})}});
    cases.push_back({"concat of 8 and 16", "concat", {data({2, 8, 4, 4}), data({2, 16, 4, 4})}});
    cases.push_back({"concat axis 0", "concat", {data({2, 3}), data({4, 3})}, {{"axis", std::int64_t{0}}}});
    cases.push_back({"concat axis 3", "concat", {data({2, 3, 2, 4}), data({2, 3, 2, 1})}, {{"axis", std::int64_t{3}}}});
    cases.push_back({"reshape", "reshape", {data({2, 16, 3, 5})}, {{"shape", List{4, 120}}}});
    cases.push_back({"reshape to an image", "reshape", {data({3, 5})}, {{"shape", List{1, 1, 3, 5}}}});
    const auto slice = [&](const std::string& name, const Shape& x, std::int64_t axis, std::int64_t begin,
                           std::int64_t end) {
        cases.push_back({"slice " + name, "slice", {data(x)}, {{"axis", axis}, {"begin", begin}, {"end", end}}});
    };
    slice("channels", {2, 7, 4, 5}, 1, 2, 5);
    slice("16 channels", {2, 32, 4, 5}, 1, 16, 32);
    slice("rows", {5, 3}, 0, 1, 4);
    slice("columns", {2, 3, 4, 6}, 3, 5, 6);
    const auto shifted = [&](const std::string& name, const Shape& x, const List& stride, const List& offset) {
        cases.push_back(
            {"shifted_slice " + name, "shifted_slice", {data(x)}, {{"stride", stride}, {"offset", offset}}});
    };
    shifted("even", {2, 3, 8, 6}, {2, 2}, {1, 1});
    shifted("odd", {2, 8, 7, 5}, {2, 2}, {1, 1});
    shifted("none", {1, 3, 5, 5}, {2, 2}, {0, 0});
    shifted("by axis", {1, 16, 7, 9}, {1, 3}, {2, 0});
    shifted("wide rows", {2, 40, 5, 71}, {2, 2}, {1, 1});
}

void add_linear_and_losses(std::vector<OpCase>& cases) {
    cases.push_back({"linear", "linear", {data({5, 11}), parameter({7, 11}), parameter({7})}});
    cases.push_back({"linear without bias", "linear", {data({1, 16}), parameter({10, 16})}});
    cases.push_back(
        {"linear of 64", "linear", {data({8, 64}), parameter({32, 64}), parameter({32})}, {}, {}, {}, {}, 3e-6});
    cases.push_back({"softmax", "softmax", {data({14, 10})}, {{"axis", std::int64_t{1}}}});
    cases.push_back({"softmax axis 0", "softmax", {parameter({4, 3})}, {{"axis", std::int64_t{0}}}});
    cases.push_back({"softmax of channels", "softmax", {data({2, 5, 3, 4})}, {{"axis", std::int64_t{1}}}});
    cases.push_back({"softmax last axis", "softmax", {data({2, 5, 3, 4})}, {{"axis", std::int64_t{3}}}});
    for (const double smoothing : {0.0, 0.1})
        cases.push_back({"cross_entropy smoothing " + std::to_string(smoothing),
                         "cross_entropy",
                         {data({6, 10}), labels({6}, 10)},
                         {{"label_smoothing", smoothing}}});
    for (const double smoothing : {0.0, 0.1})
        cases.push_back({"cross_entropy of weighted classes, smoothing " + std::to_string(smoothing),
                         "cross_entropy",
                         {data({6, 4}), labels({6}, 4), given({4}, {0.5F, 2.0F, 0.25F, 1.5F}, Role::buffer)},
                         {{"label_smoothing", smoothing}}});
    cases.push_back({"cross_entropy batch 1", "cross_entropy", {data({1, 3}), labels({1}, 3)}});
    for (const bool ignore : {true, false})
        cases.push_back({std::string("generalized_dice") + (ignore ? "" : " with background"),
                         "generalized_dice",
                         {data({3, 4, 6, 5}), labels({3, 6, 5}, 4)},
                         {{"eps", 1e-5}, {"ignore_background", ignore}}});
    cases.push_back({"correct_count", "correct_count", {given({7, 4}), labels({7}, 4)}});
    cases.push_back({"correct_count ties", "correct_count", {given({3, 2}, {1, 1, 2, 2, 0, 0}), labels({3}, 2)}});
}

} // namespace

void add_layer_cases(std::vector<OpCase>& cases) {
    cases.push_back({"cast of one", "cast", {data({2, 3, 5, 4})}, {{"type", std::string("f32")}}});
    cases.push_back({"cast of many",
                     "cast",
                     {parameter({4, 3, 3, 3}), given({7}, {}, Role::parameter), given({2, 5}), given({1, 1, 9, 300})},
                     {{"type", std::string("f32")}}});
    add_normalization(cases);
    add_pooling(cases);
    add_elementwise(cases);
    add_concat(cases);
    add_linear_and_losses(cases);
}

} // namespace espalier::testing
