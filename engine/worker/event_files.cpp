// SPDX-License-Identifier: Apache-2.0
#include "worker/event_files.h"

#include "base/error.h"
#include "worker/protocol.h"

#include <algorithm>

namespace espalier {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t block = 256 * 1024;

} // namespace

EventLog::EventLog(const fs::path& run)
    : events_(run / events_file, AppendedFile::HalfLine::is_ended),
      layers_(run / layers_file, AppendedFile::HalfLine::is_ended), columns_(run) {}

void EventLog::append(const Json& event) {
    waiting_.push_back({event, protocol::to_lines(event)});
    for (const auto& line : waiting_.back().lines)
        waiting_.back().bytes += line.size();
    waiting_bytes_ += waiting_.back().bytes;
    const auto drop_first = [this] {
        waiting_bytes_ -= waiting_.front().bytes;
        waiting_.pop_front();
    };
    try {
        for (; !waiting_.empty(); drop_first())
            write(waiting_.front());
    } catch (const Error&) {
        while (waiting_bytes_ > most_waiting)
            drop_first();
        throw;
    }
}

void EventLog::write(const Waiting& one) {
    const bool sample = protocol::is_event(one.event, "layers");
    std::string text;
    for (const auto& line : one.lines)
        text += line;
    // Each event is out of the program at once: a killed supervisor loses nothing that it has passed on.
    (sample ? layers_ : events_).append(text);
    if (!sample)
        columns_.added(one.event, one.lines);
}

void visit_backwards(const fs::path& file, const std::function<bool(const Json&)>& visit) {
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    if (!stream)
        return;
    auto begin = static_cast<std::uint64_t>(stream.tellg());
    std::string text; // from `begin` on, as far as not yet visited
    while (begin > 0 || !text.empty()) {
        const auto length = std::min<std::uint64_t>(begin, block);
        begin -= length;
        std::string front(length, '\0');
        stream.seekg(static_cast<std::streamoff>(begin));
        if (!stream.read(front.data(), static_cast<std::streamsize>(length)))
            return;
        text.insert(0, front);
        for (;;) {
            const auto end = text.find_last_not_of('\n');
            if (end == std::string::npos) {
                text.clear();
                break;
            }
            const auto before = text.rfind('\n', end);
            if (before == std::string::npos && begin > 0)
                break; // the line begins in the block before
            const auto start = before == std::string::npos ? 0 : before + 1;
            if (const auto event = protocol::parse_line(std::string_view(text).substr(start, end - start + 1)))
                if (!visit(*event))
                    return;
            text.resize(start);
        }
    }
}

std::int64_t last_step_of(const fs::path& run) {
    std::int64_t step = 0;
    visit_backwards(run / events_file, [&](const Json& event) {
        if (protocol::is_event(event, "steps"))
            step = protocol::last_step(event);
        else if (protocol::is_event(event, "superseded"))
            step = protocol::whole_at(event, "from_step");
        else
            return true;
        return false;
    });
    return step;
}

bool LineCursor::read(std::size_t budget, const std::function<void(std::string_view)>& take) {
    std::string bytes(block, '\0');
    for (std::size_t given = 0; given < budget;) {
        if (!stream_.is_open())
            stream_.open(file_, std::ios::binary);
        stream_.clear();
        stream_.seekg(static_cast<std::streamoff>(offset_));
        stream_.read(bytes.data(), static_cast<std::streamsize>(block));
        const auto count = static_cast<std::size_t>(std::max<std::streamsize>(0, stream_.gcount()));
        if (count == 0)
            return true;
        offset_ += count;

        std::string_view fresh(bytes.data(), count);
        while (!fresh.empty()) {
            const auto end = fresh.find('\n');
            if (rest_.size() < protocol::max_line)
                rest_.append(fresh.substr(0, end));
            if (end == std::string_view::npos)
                break;
            fresh.remove_prefix(end + 1);
            if (rest_.size() < protocol::max_line && rest_.starts_with('{') && Json::accept(rest_)) {
                take(rest_);
                given += rest_.size();
            }
            rest_.clear();
        }
    }
    return false;
}

bool EventCursor::read(std::size_t budget, const std::function<void(std::string_view)>& take) {
    std::size_t given = 0;
    const auto counted = [&](std::string_view line) {
        given += line.size();
        take(line);
    };
    return events_.read(budget, counted) && given < budget && layers_.read(budget - given, counted);
}

} // namespace espalier
