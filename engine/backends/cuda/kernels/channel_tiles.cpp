// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_tiles.h"

#include "backends/cuda/kernels/ceil_divide.h"
#include "base/error.h"

#include <algorithm>
#include <string>

namespace espalier::cuda {
namespace {

constexpr int tile_threads = 512; // as in channel_tiles.cuh
/// One launch is worth it while a block reads no more than this. Measured on an H100: 1024 rows of 16 halves take 5.3
/// microseconds forward in one launch, 2048 rows 9.0, and about 6 in two. Clusters of blocks that share what they
/// reduced were slower than two launches at every size.
constexpr std::int64_t cheap_block_bytes = 32 << 10;
/// More slices cost more to merge, in every block, than they save.
constexpr std::int64_t most_slices = 128;

void cut_channels(ChannelTiles& t, int groups) {
    const int all = t.pitch / 8;
    t.tiles = static_cast<int>(ceil_divide(all, groups));
    t.groups = static_cast<int>(ceil_divide(all, t.tiles)); // 5 = 3 + 2, not 4 + 1
}

void cut_rows(ChannelTiles& t, std::int64_t slices) {
    t.slice_rows = static_cast<int>(ceil_divide(t.rows, std::clamp<std::int64_t>(slices, 1, t.rows)));
    t.slices = static_cast<int>(ceil_divide(t.rows, t.slice_rows));
}

ChannelTiles uncut(std::int64_t rows, int channels, int pitch) {
    ChannelTiles t;
    if (rows < 1 || rows > most_rows)
        throw DeviceError("The GPU's batch normalisation serves 1 to " + std::to_string(most_rows) +
                          " values a channel, but there are " + std::to_string(rows) + ": use a smaller batch.");
    t.rows = static_cast<int>(rows);
    t.channels = channels;
    t.pitch = pitch;
    return t;
}

/// Slices that are worth a block of their own: each of its threads reads at least two rows.
std::int64_t useful_slices(const ChannelTiles& t) {
    return ceil_divide(std::int64_t{t.rows} * t.groups, 2 * tile_threads);
}

} // namespace

ChannelTiles cut_reduction(std::int64_t rows, int channels, int pitch, int bytes, int multiprocessors) {
    auto t = uncut(rows, channels, pitch);
    // One launch: narrow tiles, so that there are many blocks, but of whole 32-byte sectors.
    cut_channels(t, 8 * bytes >= 64 ? 1 : 2);
    cut_rows(t, 1);
    if (std::int64_t{t.rows} * t.width() * bytes <= cheap_block_bytes) {
        t.once = true;
        return t;
    }
    cut_channels(t, most_tile_groups);
    cut_rows(t, std::min({useful_slices(t), most_slices, ceil_divide(2 * multiprocessors, t.tiles)}));
    return t;
}

ChannelTiles cut_map(std::int64_t rows, int channels, int pitch, int multiprocessors) {
    auto t = uncut(rows, channels, pitch);
    cut_channels(t, most_tile_groups);
    cut_rows(t, std::min<std::int64_t>({useful_slices(t), ceil_divide(4 * multiprocessors, t.tiles), 65535}));
    return t;
}

ChannelTiles cut_map_after_merge(std::int64_t rows, int channels, int pitch, int multiprocessors) {
    auto t = uncut(rows, channels, pitch);
    cut_channels(t, most_tile_groups);
    cut_rows(t, std::min<std::int64_t>(useful_slices(t), 2 * multiprocessors / t.tiles)); // two a multiprocessor
    return t;
}

ChannelTiles narrowed(ChannelTiles t) {
    t.groups = 1;
    t.tiles = t.pitch / 8;
    return t;
}

ChannelTiles one_slice(ChannelTiles t) {
    t.slice_rows = t.rows;
    t.slices = 1;
    return t;
}

std::size_t partial_floats(const ChannelTiles& t) {
    return t.once ? 0 : std::size_t{2} * static_cast<std::size_t>(t.slices) * static_cast<std::size_t>(t.pitch);
}

} // namespace espalier::cuda
