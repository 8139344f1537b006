// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"
#include "graph/image_order.h"
#include "graph/step_block.h"

#include <algorithm>

namespace espalier::cpu {
namespace {

/// One channel of one image, moved and mirrored.
struct Plane {
    std::int64_t height, width;

    void gather(const std::uint8_t* source, const float* values, const std::int32_t* row, float* target) const {
        const std::int64_t down = row[image_order::down], right = row[image_order::right];
        // Columns that the moved image covers; the others are black.
        const auto first = std::clamp<std::int64_t>(right, 0, width), last = std::clamp(width + right, first, width);
        for (std::int64_t h = 0; h < height; ++h, target += width) {
            std::fill_n(target, width, values[0]);
            if (h - down < 0 || h - down >= height) {
                continue;
            }
            const auto* line = source + (h - down) * width;
            for (auto x = first; x < last; ++x) {
                target[row[image_order::mirrored] != 0 ? width - 1 - x : x] = values[line[x - right]];
            }
        }
    }
};

Lowered lower_gather_images(const Context& c) {
    Lowered result = c.plain();
    const Shape batch = c.output(0).shape;
    const auto places = c.input(4).shape[0];
    result.kernel = loop_kernel(c, "gather images", [batch, places, threads = c.threads](const Arguments& a) {
        const auto* pixels = a.in_as<const std::uint8_t>(1);
        const auto* order = a.in_as<const std::int32_t>(4);
        const auto first = static_cast<std::int64_t>(a.in(0)[step_block::first_image]);
        const Plane plane{batch[2], batch[3]};
        const auto channels = batch[1], size = plane.height * plane.width;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (std::int64_t n = 0; n < batch[0]; ++n) {
            const auto* row = order + (first + n) % places * image_order::columns;
            const auto sample = static_cast<std::int64_t>(row[image_order::sample]);
            for (std::int64_t channel = 0; channel < channels; ++channel) {
                plane.gather(pixels + (sample * channels + channel) * size, a.in(3) + channel * byte_values, row,
                             a.out(0) + (n * channels + channel) * size);
            }
            a.out_as<std::int32_t>(1)[n] = a.in_as<const std::int32_t>(2)[sample];
        }
    });
    return result;
}

} // namespace

void add_data(LoweringTable& table) { table["gather_images"] = {lower_gather_images, {}}; }

} // namespace espalier::cpu
