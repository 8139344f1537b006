// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"
#include "graph/image_order.h"
#include "graph/step_block.h"

namespace espalier::testing {
namespace {

CaseInput kept(Shape shape, DType type, std::vector<float> values) {
    return {shape, Role::buffer, type, false, std::move(values)};
}

/// A data set of `set` images, a table of values, and an order that moves and mirrors, some images out of sight.
OpCase gather_images(const std::string& name, const Shape& set, std::int64_t batch, std::int64_t first) {
    std::vector<float> step(step_block::size), pixels(static_cast<std::size_t>(set.count())),
        classes(static_cast<std::size_t>(set[0])), values(static_cast<std::size_t>(set[1] * byte_values)), order;
    step[step_block::first_image] = static_cast<float>(first);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<float>((i * 37 + i / 7) % 256);
    for (std::size_t i = 0; i < classes.size(); ++i)
        classes[i] = static_cast<float>((i * 5 + 2) % 11);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i % 256) / 64 - 1.75F + static_cast<float>(i / 256);
    const std::int64_t places = 2 * set[0] + 1;
    for (std::int64_t i = 0; i < places; ++i)
        for (const auto value : {i * 3 % set[0], i % 5 - 2, (i * 2) % 7 - 3, i % 2})
            order.push_back(static_cast<float>(value));
    return {"gather_images " + name,
            "gather_images",
            {kept({step_block::size}, DType::f32, step), kept(set, DType::u8, pixels),
             kept({set[0]}, DType::i32, classes), kept({set[1], byte_values}, DType::f32, values),
             kept({places, image_order::columns}, DType::i32, order)},
            {{"batch", batch}},
            {},
            {},
            {},
            0};
}

} // namespace

void add_data_cases(std::vector<OpCase>& cases) {
    cases.push_back(gather_images("", {5, 3, 6, 7}, 4, 3));
    cases.push_back(gather_images("over the end of the order", {4, 1, 5, 5}, 6, 7));
    cases.push_back(gather_images("of one image and one pixel", {1, 2, 1, 1}, 1, 0));
    cases.push_back(gather_images("with more pixels than threads", {7, 3, 29, 23}, 9, 5));
}

} // namespace espalier::testing
