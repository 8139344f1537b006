// SPDX-License-Identifier: Apache-2.0
#include "worker/column_keeper.h"

#include "base/error.h"
#include "worker/protocol.h"

#include <fstream>
#include <utility>

namespace espalier {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t piece = std::size_t{1} << 20;

std::uint64_t size_of(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    return error ? 0 : size;
}

} // namespace

void for_each_line(const fs::path& file, std::uint64_t from,
                   const std::function<bool(std::string_view, std::uint64_t)>& take) {
    std::ifstream stream(file, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(from));
    std::string bytes, rest;
    bool too_long = false;
    for (auto at = from; stream;) {
        bytes.resize(piece);
        stream.read(bytes.data(), static_cast<std::streamsize>(piece));
        bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
        std::string_view fresh(bytes);
        for (std::size_t end; (end = fresh.find('\n')) != std::string_view::npos; fresh.remove_prefix(end + 1)) {
            at += end + 1;
            auto line = fresh.substr(0, end);
            if (!rest.empty())
                line = rest.append(line);
            if (!take(too_long || line.size() >= protocol::max_line ? std::string_view() : line, at))
                return;
            rest.clear();
            too_long = false;
        }
        at += fresh.size();
        too_long = too_long || rest.size() + fresh.size() >= protocol::max_line;
        too_long ? rest.clear() : void(rest.append(fresh));
    }
}

std::size_t valid_blocks(ColumnFile& file, const fs::path& run) {
    auto count = file.blocks();
    for (; count > 0; --count)
        if (const auto& range = file.range(count - 1);
            fingerprint_of(run / events_file, range.end) == range.fingerprint)
            break;
    return count;
}

ColumnBlocks::ColumnBlocks(const fs::path& run, std::uint64_t from, Sink sink)
    : events_(run / events_file), sink_(std::move(sink)), begin_(from), end_(from) {}

void ColumnBlocks::add(std::string_view line, std::uint64_t end) {
    builder_.add(line);
    end_ = end;
    end_block_if_full();
}

void ColumnBlocks::add(const Json& event, const std::vector<std::string>& lines) {
    if (lines.size() == 1) {
        builder_.add(event, std::string_view(lines.front()).substr(0, lines.front().size() - 1));
        end_ += lines.front().size();
    } else { // an event that was shared out
        for (const auto& line : lines) {
            builder_.add(std::string_view(line).substr(0, line.size() - 1));
            end_ += line.size();
        }
    }
    end_block_if_full();
}

void ColumnBlocks::end_block_if_full() {
    if (end_ - begin_ < column_block_bytes)
        return;
    const auto fingerprint = fingerprint_of(events_, end_);
    if (!fingerprint)
        throw Error("The end of " + events_.string() + " cannot be read.");
    sink_(builder_.take(), {begin_, end_, *fingerprint});
    begin_ = end_;
}

ColumnKeeper::ColumnKeeper(const fs::path& run) : file_(run / column_file_name) {
    try {
        ColumnFile file(file_);
        auto count = valid_blocks(file, run);
        while (count > 0 && !file.read(count - 1))
            --count;
        const auto covered = count > 0 ? file.range(count - 1).end : 0;
        if (size_of(run / events_file) - covered > most_without_columns)
            return;
        begun_ = count > 0;
        if (begun_ && size_of(file_) > file.end_of(count))
            fs::resize_file(file_, file.end_of(count)); // a block that was cut off
        blocks_.emplace(run, covered,
                        [this](const std::string& payload, const CoveredRange& covers) { append(payload, covers); });
        for_each_line(run / events_file, covered, [this](std::string_view line, std::uint64_t end) {
            blocks_->add(line, end);
            return true;
        });
    } catch (const std::exception&) {
        stop();
    }
}

void ColumnKeeper::added(const Json& event, const std::vector<std::string>& lines) noexcept {
    if (!blocks_)
        return;
    try {
        blocks_->add(event, lines);
    } catch (const std::exception&) {
        stop();
    }
}

void ColumnKeeper::append(std::string_view payload, const CoveredRange& covers) {
    std::ofstream stream(file_, begun_ ? std::ios::binary | std::ios::app : std::ios::binary | std::ios::trunc);
    if (!begun_)
        stream << column_file_header();
    stream << column_block(payload, covers) << std::flush;
    if (!stream)
        throw Error("Cannot write to " + file_.string() + ".");
    begun_ = true;
}

} // namespace espalier
