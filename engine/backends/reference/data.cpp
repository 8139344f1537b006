// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"
#include "graph/image_order.h"
#include "graph/step_block.h"

namespace espalier::reference {
namespace {

Compute gather_images(const Graph& graph, const Op& op) {
    const Image set(input_shape(graph, op, 1)), batch(output_shape(graph, op, 0));
    const auto places = input_shape(graph, op, 4)[0];
    return [=](const Arrays& arrays) {
        const auto* pixels = arrays.in<std::uint8_t>(1);
        const auto* values = arrays.in(3);
        const auto first = static_cast<std::int64_t>(arrays.in(0)[step_block::first_image]);
        for (std::int64_t n = 0; n < batch.n; ++n) {
            const auto* row = arrays.in<std::int32_t>(4) + (first + n) % places * image_order::columns;
            const auto sample = row[image_order::sample];
            for (std::int64_t c = 0; c < batch.c; ++c)
                for (std::int64_t h = 0; h < batch.h; ++h)
                    for (std::int64_t w = 0; w < batch.w; ++w) {
                        const auto y = h - row[image_order::down];
                        const auto x = (row[image_order::mirrored] ? batch.w - 1 - w : w) - row[image_order::right];
                        const auto byte = set.inside(y, x) ? pixels[set.at(sample, c, y, x)] : 0;
                        arrays.out(0)[batch.at(n, c, h, w)] = values[c * byte_values + byte];
                    }
            arrays.out<std::int32_t>(1)[n] = arrays.in<std::int32_t>(2)[sample];
        }
    };
}

} // namespace

void add_data(Kinds& kinds) { kinds["gather_images"] = gather_images; }

} // namespace espalier::reference
