// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace espalier::cuda {

/// Milliseconds of an entrant; nothing if it cannot be run. `best`: of those timed so far, infinite at first.
using TimeOf = std::function<std::optional<double>(std::size_t entrant, double best)>;

/// Entrants that are like one, but for a little: those that were not named yet. They get the next numbers.
using NeighboursOf = std::function<std::vector<std::size_t>(std::size_t entrant)>;

/// Entrants 0, 1, ... `count` - 1, the fastest first: those that can be run, and of the slow ones none but entrant 0. A
/// card's clock rises and falls while it is measured, so that times taken far from each other say little about a few
/// percent: all are timed once, after entrant 0 has woken the card, then the fastest of them again in turns, and the
/// medians of these turns decide.
[[nodiscard]] std::vector<std::size_t> fastest_first(std::size_t count, const TimeOf& time);

/// The same, and then a climb: as long as one of the neighbours of the fastest is faster still, it is gone on from
/// there, a few times at most. Those that were found come first.
[[nodiscard]] std::vector<std::size_t> fastest_nearby(std::size_t count, const TimeOf& time,
                                                      const NeighboursOf& neighbours);

/// Values of a setting that are worth trying, none above 64: of one whose least is 1 or more, which is a size, the
/// least times powers of two; else all, since they name entries of a table.
[[nodiscard]] std::vector<std::int64_t> values_to_try(std::int64_t least, std::int64_t greatest);

} // namespace espalier::cuda
