// SPDX-License-Identifier: Apache-2.0
#include "plan/dependencies.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace espalier {
namespace {

constexpr std::int32_t nobody = -1;

/// Who touched a piece of memory last: its writer, and those that have read it since.
struct Piece {
    std::uintptr_t end = 0;
    std::int32_t writer = nobody;
    std::vector<std::int32_t> readers;
};

/// Memory as pieces that do not overlap, by their beginning.
class Pieces {
public:
    /// Calls visit for every piece of [begin, end), having cut and filled them so that they cover it exactly.
    template <class Visit>
    void for_each(std::uintptr_t begin, std::uintptr_t end, Visit&& visit) {
        cut(begin);
        cut(end);
        auto at = begin;
        for (auto piece = pieces_.lower_bound(begin); at < end;) {
            if (piece == pieces_.end() || piece->first > at) {
                const auto until = piece == pieces_.end() ? end : std::min(end, piece->first);
                piece = pieces_.emplace(at, Piece{until, nobody, {}}).first;
            }
            visit(piece->second);
            at = piece->second.end;
            ++piece;
        }
    }

private:
    void cut(std::uintptr_t at) {
        auto piece = pieces_.upper_bound(at);
        if (piece == pieces_.begin())
            return;
        --piece;
        if (piece->first == at || piece->second.end <= at)
            return;
        auto rest = piece->second;
        piece->second.end = at;
        pieces_.emplace(at, std::move(rest));
    }

    std::map<std::uintptr_t, Piece> pieces_;
};

} // namespace

std::vector<std::vector<std::int32_t>> find_dependencies(std::span<const StepAccess> steps) {
    Pieces pieces;
    std::vector<std::vector<std::int32_t>> result(steps.size());
    const auto visit = [&pieces](const Access& access, auto&& body) {
        const auto begin = reinterpret_cast<std::uintptr_t>(access.begin);
        if (access.bytes > 0)
            pieces.for_each(begin, begin + access.bytes, body);
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto now = static_cast<std::int32_t>(i);
        auto& after = result[i];
        for (const auto& read : steps[i].reads)
            visit(read, [&](Piece& piece) {
                after.push_back(piece.writer);
                piece.readers.push_back(now);
            });
        for (const auto& write : steps[i].writes)
            visit(write, [&](Piece& piece) {
                after.push_back(piece.writer);
                after.insert(after.end(), piece.readers.begin(), piece.readers.end());
                piece.writer = now;
                piece.readers.clear();
            });
        std::erase_if(after, [now](std::int32_t step) { return step == nobody || step == now; });
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    return result;
}

std::vector<std::vector<std::int32_t>> in_turns(std::span<const std::vector<std::int32_t>> after,
                                                std::size_t steps_of_turn) {
    std::vector<std::vector<std::int32_t>> result(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        const auto turn = i / steps_of_turn * steps_of_turn;
        for (auto before = turn - std::min(turn, steps_of_turn); before < turn; ++before)
            result[i].push_back(static_cast<std::int32_t>(before));
        std::ranges::copy_if(after[i], std::back_inserter(result[i]),
                             [&](std::int32_t step) { return static_cast<std::size_t>(step) >= turn; });
    }
    return result;
}

} // namespace espalier
