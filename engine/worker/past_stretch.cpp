// SPDX-License-Identifier: Apache-2.0
#include "worker/past_stretch.h"

#include "base/error.h"
#include "worker/protocol.h"

#include <algorithm>
#include <limits>

namespace espalier {

namespace {
constexpr auto no_step = std::numeric_limits<std::int64_t>::max();
} // namespace

/// What a part of the past has to do with a stretch of steps.
struct PastFromEnd::Outline {
    struct Place { ///< steps that stand together, or the step that was gone back to (`rows` 0)
        std::int64_t step = 0, rows = 0;
    };
    std::vector<Place> places; ///< in their order
    std::vector<std::string> lines;
    bool within = false; ///< it holds steps of the stretch
};

bool tells_of_steps(std::string_view line) {
    const auto named = [&](std::string_view type) { return line.find(type) != std::string_view::npos; };
    return named("\"superseded\"") || named("\"evaluation\"");
}

PastFromEnd::PastFromEnd(RunPast& past, const std::stop_token& stop)
    : past_(past), stop_(stop), checksum_(ColumnFile::Checksum::known), tail_(past.tail(stop)) {
    auto in_force = no_step;
    for (auto block = past.blocks() + 1; block-- > 0;) {
        if (newest_ == 0)
            (void)look_at(outline_part(block, {}), in_force, {});
        parts_.push_back({block, true, {}});
    }
}

PastFromEnd::PastFromEnd(RunPast& past, const StepRange& range, const std::stop_token& stop)
    : past_(past), stop_(stop), checksum_(ColumnFile::Checksum::compared), tail_(past.tail(stop)) {
    auto in_force = no_step;
    std::vector<bool> within;
    bool reached = false; // steps in force before the stretch: what stands before them lies before it, too
    for (auto block = past.blocks() + 1; block-- > 0 && !reached;) {
        check();
        auto outline = outline_part(block, range);
        reached = look_at(outline, in_force, range);
        within.push_back(outline.within);
        parts_.push_back({block, false, std::move(outline.lines)});
    }
    // a sample of resources may stand in the part beside that of its step
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        parts_[i].whole = within[i] || (i > 0 && within[i - 1]) || (i + 1 < within.size() && within[i + 1]);
        if (parts_[i].whole)
            parts_[i].lines.clear();
    }
}

/// Whether there are steps in force before the stretch. `in_force`: steps behind it were taken back later.
bool PastFromEnd::look_at(const Outline& outline, std::int64_t& in_force, const StepRange& range) {
    bool before = false;
    for (auto place = outline.places.rbegin(); place != outline.places.rend(); ++place) {
        if (place->rows == 0) {
            in_force = std::min(in_force, place->step);
        } else if (place->step <= in_force) {
            if (newest_ == 0)
                newest_ = std::min(place->step + place->rows - 1, in_force);
            before = before || place->step < range.first;
        }
    }
    return before;
}

void PastFromEnd::check() const {
    if (stop_.stop_requested())
        throw Error("Cancelled.", ExitCode::stopped);
}

std::string PastFromEnd::payload_of(std::size_t block) {
    return block == past_.blocks() ? std::move(tail_) : past_.payload(block, checksum_);
}

PastFromEnd::Outline PastFromEnd::outline_part(std::size_t block, const StepRange& range) {
    Outline outline;
    const OutlineHandlers handlers{
        [&](std::string_view line) {
            if (!tells_of_steps(line))
                return;
            if (const auto event = protocol::parse_line(line); event && protocol::is_event(*event, "superseded"))
                outline.places.push_back({static_cast<std::int64_t>(protocol::number_at(*event, "from_step")), 0});
            outline.lines.emplace_back(line);
        },
        [&](const ColumnTable& table) {
            const auto rows = static_cast<std::int64_t>(table.rows);
            if (table.kind != ColumnTable::Kind::steps || rows == 0)
                return;
            outline.places.push_back({table.step, rows});
            outline.within = outline.within || (table.step <= range.last && table.step + rows > range.first);
        }};
    if (block < past_.blocks())
        past_.outline(block, handlers);
    else
        outline_of(tail_, handlers);
    return outline;
}

} // namespace espalier
