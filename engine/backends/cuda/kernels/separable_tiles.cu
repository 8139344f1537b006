// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/separable_forward.h"
#include "backends/cuda/kernels/separable_tile.cuh"
#include "backends/cuda/kernels/shared_memory.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

using namespace separable;
using pointwise::block_threads, pointwise::block_warps;

constexpr int least_cells = 128; ///< of a block

std::size_t bytes_of(const Depthwise& d, const Pointwise& p, const SeparableTiles& t) {
    const Plan plan(d, p, t);
    return size_of(p.type) == 2 ? Memory<half>(plan, nullptr).bytes : Memory<float>(plan, nullptr).bytes;
}

/// Slots for tiles of so many pieces of 16 pixels and sixteens of products, so that the warps are done soonest: in
/// rounds of two pieces at once, and a sum over the lanes behind them.
int best_slots(std::int64_t pieces, std::int64_t sixteens) {
    const auto cost = [&](std::int64_t slots) {
        return ceil_divide(slots * sixteens, block_warps) * (ceil_divide(ceil_divide(pieces, slots), 2) + 1);
    };
    std::int64_t best = 1;
    for (std::int64_t slots = 2; slots <= std::min<std::int64_t>(pieces, block_warps); ++slots)
        if (cost(slots) < cost(best))
            best = slots;
    return static_cast<int>(best);
}

} // namespace

std::optional<SeparableTiles> separable_tiles(const Depthwise& d, const Pointwise& p) {
    const auto room = shared_memory_of_block(blocks_a_multiprocessor);
    const auto row_threads = ceil_divide(d.x[1], chunk) * (p.channels / 4), image_rows = d.n * d.x[0];
    const auto blocks = std::int64_t{blocks_a_multiprocessor} * p.multiprocessors;
    SeparableTiles t;
    // Cells of two rows where they keep enough threads busy; none spans two images.
    t.cell_rows = d.x[0] % 2 == 0 && image_rows * row_threads >= blocks * block_threads * 3 / 4 ? 2 : 1;
    const auto set_height = [&](std::int64_t height) {
        t.height = static_cast<int>(height);
        t.slots = best_slots(ceil_divide(height * d.x[1], 16), ceil_divide(p.products, 16));
    };
    auto most = block_threads / row_threads * t.cell_rows;
    for (; most > 0; most -= t.cell_rows)
        if (set_height(most); bytes_of(d, p, t) <= room)
            break;
    if (most < d.kernel[0] - 1) // more would be read around a tile than in it
        return {};
    // Blocks that all run at once, each with as many tiles, of as much height.
    const auto rounds = ceil_divide(image_rows, blocks * most);
    const auto least = std::min({ceil_divide(least_cells, row_threads), most, image_rows});
    const auto height = std::max(ceil_divide(image_rows, blocks * rounds), least);
    set_height(ceil_divide(height, t.cell_rows) * t.cell_rows);
    t.tiles_each = static_cast<int>(rounds);
    t.blocks = static_cast<int>(ceil_divide(image_rows, std::int64_t{t.height} * t.tiles_each));
    return t;
}

ChannelTiles separable_slices(const Depthwise& d, const Pointwise& p, const SeparableTiles& tiles) {
    ChannelTiles t;
    t.rows = static_cast<int>(p.rows);
    t.slice_rows = static_cast<int>(tiles.height * tiles.tiles_each * d.x[1]);
    t.slices = tiles.blocks;
    t.channels = static_cast<int>(p.real_products);
    t.pitch = static_cast<int>(p.products);
    return narrowed(t);
}

} // namespace espalier::cuda
