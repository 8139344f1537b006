// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

/// How row-major activations [outer, channels, inner] are cut into blocks.
namespace espalier::cuda {

/// The outer * inner values of every channel, cut into slices: one block each. Slices are few enough that every warp
/// can merge the results of all slices of its channel by itself.
struct PlainChannels {
    int outer = 1;
    int channels = 1;
    int inner = 1;
    int slice = 1; ///< values; the last one may have fewer, none has 0
    int slices = 1;

    [[nodiscard]] std::int64_t count() const { return std::int64_t{outer} * inner; }
};

inline constexpr int plain_threads = 256;
inline constexpr int most_plain_slices = 32;
inline constexpr std::int64_t most_plain_values = std::int64_t{1}
                                                  << 30;   ///< of a channel, so that their places are ints
inline constexpr std::int64_t most_plain_channels = 65535; ///< blocks along that axis of a grid

/// About eight blocks a multiprocessor, with sixteen values or more for each thread.
[[nodiscard]] inline PlainChannels cut_plain(std::int64_t outer, std::int64_t channels, std::int64_t inner,
                                             int multiprocessors) {
    constexpr std::int64_t least = 16 * plain_threads;
    const auto count = outer * inner;
    if (count < 1 || count > most_plain_values || channels > most_plain_channels)
        throw DeviceError("The GPU's batch normalisation serves 1 to " + std::to_string(most_plain_values) +
                          " values a channel and up to " + std::to_string(most_plain_channels) +
                          " channels, but there are " + std::to_string(count) + " and " + std::to_string(channels) +
                          ": use a smaller batch.");
    const auto wanted = std::clamp<std::int64_t>(8 * multiprocessors / channels, 1, most_plain_slices);
    const auto slice = ((count + wanted - 1) / wanted + least - 1) / least * least;
    return {static_cast<int>(outer), static_cast<int>(channels), static_cast<int>(inner), static_cast<int>(slice),
            static_cast<int>((count + slice - 1) / slice)};
}

/// Floats that the partial results of a reduction need, two a slice: [channels][slices][2].
[[nodiscard]] inline std::size_t partial_floats(const PlainChannels& c) {
    return std::size_t{2} * static_cast<std::size_t>(c.slices) * static_cast<std::size_t>(c.channels);
}

} // namespace espalier::cuda
