// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/gather.h"
#include "backends/cuda/lowering/lowering.h"

#include <limits>

namespace espalier::cuda {
namespace {

Lowered lower_gather_images(const Context& c) {
    Lowered result = c.plain();
    const auto& batch = c.output(0).shape;
    const Gather gather{batch[0], c.input(4).shape[0], static_cast<int>(batch[1]), static_cast<int>(batch[2]),
                        static_cast<int>(batch[3])};
    result.kernel = launch_kernel(c, "gather images", [gather](const Arguments& a) {
        launch_gather_images(a.in_f32(0), a.in(1), a.in_i32(2), a.in_f32(3), a.in_i32(4), a.out_f32(0),
                             static_cast<int*>(a.out(1)), gather, a.stream);
    });
    return result;
}

/// Pixels of an image are counted in int.
Support supports_gather_images(const Context& c) {
    const auto& pixels = c.input(1).shape;
    return pixels[1] * pixels[2] * pixels[3] <= std::numeric_limits<int>::max() / 2
               ? Support{}
               : Support::no("its images are too large for the kernel");
}

} // namespace

void add_data(LoweringTable& table) { table["gather_images"] = {lower_gather_images, supports_gather_images}; }

} // namespace espalier::cuda
