// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"

/// Sizes at which kernels go other ways: several tiles and blocks, more tensors than one launch takes, dimensions that
/// are padded or are not.
namespace espalier::testing {
namespace {

using List = std::vector<std::int64_t>;

void add_linear(std::vector<OpCase>& cases) {
    struct Size {
        std::int64_t rows, in, out;
    };
    for (const auto [rows, in, out] : {Size{33, 70, 65}, {1, 3, 2}, {40, 300, 10}, {7, 129, 40}, {64, 64, 64}})
        cases.push_back({"linear " + Shape{rows, in, out}.text(),
                         "linear",
                         {data({rows, in}), parameter({out, in}), parameter({out})},
                         {},
                         {},
                         {},
                         {},
                         3e-6});
}

void add_losses(std::vector<OpCase>& cases) {
    cases.push_back(
        {"cross_entropy of 500", "cross_entropy", {data({40, 500}), labels({40}, 500)}, {{"label_smoothing", 0.1}}});
    cases.push_back({"cross_entropy of 500 weighted",
                     "cross_entropy",
                     {data({40, 500}), labels({40}, 500), given({500}, std::vector<float>(500, 0.75F), Role::buffer)},
                     {{"label_smoothing", 0.1}}});
    cases.push_back({"correct_count of 300", "correct_count", {given({70, 300}), labels({70}, 300)}});
    for (const std::int64_t classes : {8, 21})
        cases.push_back({"generalized_dice of " + std::to_string(classes),
                         "generalized_dice",
                         {data({2, classes, 17, 13}), labels({2, 17, 13}, classes)},
                         {{"eps", 1e-5}, {"ignore_background", classes > 8}},
                         {},
                         {},
                         {},
                         3e-6});
    cases.push_back({"softmax of one dimension", "softmax", {data({11})}, {{"axis", std::int64_t{0}}}});
    cases.push_back({"softmax of 300", "softmax", {data({9, 300})}, {{"axis", std::int64_t{1}}}});
    for (const std::int64_t axis : {0, 2})
        cases.push_back(
            {"softmax of images, axis " + std::to_string(axis), "softmax", {data({4, 5, 3, 4})}, {{"axis", axis}}});
}

void add_weighted_sums(std::vector<OpCase>& cases) {
    const auto weighted_sum = [&](const std::string& name, const CaseInput& x, std::int64_t count) {
        std::vector<std::optional<CaseInput>> inputs{parameter({2, 200})};
        List columns;
        for (std::int64_t i = 0; i < count; ++i) {
            inputs.emplace_back(x);
            columns.push_back(i * 7 % 200);
        }
        cases.push_back({"weighted_sum of " + name,
                         "weighted_sum",
                         std::move(inputs),
                         {{"row", std::int64_t{1}}, {"columns", std::move(columns)}},
                         {},
                         {},
                         {},
                         1e-5});
    };
    weighted_sum("150", given({1, 5, 2, 2}), 150);
    weighted_sum("9", data({2, 16, 5, 5}), 9);
    weighted_sum("3 large", given({4, 16, 32, 32}), 3);
    weighted_sum("2 rows", data({3, 5}), 2);
}

void add_shapes(std::vector<OpCase>& cases) {
    const auto concat = [&](const std::string& name, std::vector<Shape> shapes, std::int64_t axis) {
        OpCase result{"concat " + name, "concat", {}, {{"axis", axis}}};
        for (const auto& shape : shapes)
            result.inputs.emplace_back(shapes.size() > 3 ? given(shape) : data(shape));
        cases.push_back(std::move(result));
    };
    concat("of 70 blocks", std::vector<Shape>(70, Shape{2, 8, 3, 2}), 1);
    concat("of 70 odd", std::vector<Shape>(70, Shape{2, 3, 3, 2}), 1);
    concat("of images, axis 0", {{2, 5, 3, 2}, {1, 5, 3, 2}}, 0);
    concat("of images, axis 2", {{2, 5, 3, 2}, {2, 5, 1, 2}}, 2);
    concat("of one dimension", {{3}, {4}, {5}}, 0);
    const auto slice = [&](const std::string& name, const Shape& x, std::int64_t axis) {
        cases.push_back({"slice " + name,
                         "slice",
                         {data(x)},
                         {{"axis", axis}, {"begin", std::int64_t{2}}, {"end", std::int64_t{4}}}});
    };
    slice("of one dimension", {13}, 0);
    slice("of three dimensions", {3, 5, 7}, 1);
    slice("of images, axis 2", {3, 5, 7, 4}, 2);
    const auto reshape = [&](const std::string& name, const Shape& x, const List& shape) {
        cases.push_back({"reshape " + name, "reshape", {data(x)}, {{"shape", shape}}});
    };
    reshape("to one dimension", {3, 5}, {15});
    reshape("from one dimension", {15}, {3, 5});
    reshape("of one pixel, 16 channels", {3, 16, 1, 1}, {3, 16});
    reshape("of one pixel, 5 channels", {3, 5, 1, 1}, {3, 5});
    reshape("to one pixel", {3, 16}, {3, 16, 1, 1});
    reshape("of rows to images", {2, 18}, {1, 6, 2, 3});
}

/// More parameters than a launch with few of them takes, of all sizes around those of a block.
void add_updates(std::vector<OpCase>& cases) {
    OpCase norm{"gradient_norm of 60", "gradient_norm", {}};
    std::vector<float> step(16, 1.0F);
    norm.inputs.emplace_back(given({16}, step, Role::buffer));
    OpCase sgd{"sgd of 60", "sgd", {norm.inputs[0], std::nullopt}, {{"momentum", 0.5}, {"weight_decay", 0.1}}};
    OpCase sums{"accumulate of 60", "accumulate", {norm.inputs[0]}};
    for (std::int64_t i = 0; i < 60; ++i) {
        const Shape shape = i % 3 == 0 ? Shape{1 + i * 37} : i % 3 == 1 ? Shape{i, 3, 3, 3} : Shape{i, 205};
        norm.inputs.emplace_back(given(shape));
        for (const auto place : {sgd.inputs.size(), sgd.inputs.size() + 2})
            sgd.changes.push_back(place);
        sgd.inputs.emplace_back(given(shape, {}, Role::parameter));
        sgd.inputs.emplace_back(given(shape));
        sgd.inputs.emplace_back(given(shape, {}, Role::buffer));
        sums.inputs.emplace_back(given(shape));
        sums.changes.push_back(sums.inputs.size());
        sums.inputs.emplace_back(given(shape, {}, Role::buffer));
    }
    cases.push_back(std::move(norm));
    cases.push_back(std::move(sgd));
    cases.push_back(std::move(sums));
}

} // namespace

void add_size_cases(std::vector<OpCase>& cases) {
    add_linear(cases);
    add_losses(cases);
    add_weighted_sums(cases);
    add_shapes(cases);
    add_updates(cases);
}

} // namespace espalier::testing
