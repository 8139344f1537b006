// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// How reductions over the rows of a channels-last activation are cut into blocks.
namespace espalier::cuda {

/// Rows of `pitch` channels, cut into tiles of channels by slices of rows: one block each. Slices are few enough that
/// every block can merge the results of all slices of its tile by itself. A tile of one slice is reduced and used in
/// one launch.
struct ChannelTiles {
    int rows = 0;
    int slice_rows = 0; ///< the last slice may have fewer, none has 0
    int channels = 0;   ///< real ones
    int pitch = 0;      ///< elements from one row to the next, a multiple of 8; channels with padding
    int groups = 1;     ///< eights of channels a tile, at most most_tile_groups; the last may reach beyond pitch
    int tiles = 1;
    int slices = 1;
    bool once = false; ///< one block a tile: one launch

    [[nodiscard]] int width() const { return 8 * groups; }
};

inline constexpr int most_tile_groups = 4;
inline constexpr std::int64_t most_rows = std::int64_t{1} << 30; ///< so that places of rows are ints

/// For a reduction that reads `bytes` of each channel of a row. At most most_rows rows.
[[nodiscard]] ChannelTiles cut_reduction(std::int64_t rows, int channels, int pitch, int bytes, int multiprocessors);
/// For kernels that only map rows to rows: many slices.
[[nodiscard]] ChannelTiles cut_map(std::int64_t rows, int channels, int pitch, int multiprocessors);

/// For a map whose every block first merges the slices of a reduction: no more blocks than run at a time.
[[nodiscard]] ChannelTiles cut_map_after_merge(std::int64_t rows, int channels, int pitch, int multiprocessors);

/// The same rows and slices in the narrowest tiles: more threads share the merging of a channel's slices.
[[nodiscard]] ChannelTiles narrowed(ChannelTiles tiles);
/// One block a tile: for results by channel alone.
[[nodiscard]] ChannelTiles one_slice(ChannelTiles tiles);

/// Floats that the partial results of a reduction need: two a channel and slice, as [slices][2][pitch]. 0 for one
/// launch.
[[nodiscard]] std::size_t partial_floats(const ChannelTiles& tiles);

} // namespace espalier::cuda
