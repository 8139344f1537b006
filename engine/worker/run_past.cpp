// SPDX-License-Identifier: Apache-2.0
#include "worker/run_past.h"

#include "base/atomic_file.h"
#include "worker/column_keeper.h"

#include <fstream>

namespace espalier {
namespace {

namespace fs = std::filesystem;

void check(const std::stop_token& stop) {
    if (stop.stop_requested())
        throw Error("Cancelled.", ExitCode::stopped);
}

/// Blocks for what events.jsonl holds from byte `from` up to `size`.
void make_blocks(const fs::path& run, std::uint64_t from, std::uint64_t size, const ColumnBlocks::Sink& sink,
                 const std::function<void(double)>& progress, const std::stop_token& stop) {
    progress(0);
    ColumnBlocks blocks(run, from, [&](std::string payload, const CoveredRange& covers) {
        sink(std::move(payload), covers);
        progress(static_cast<double>(covers.end - from) / static_cast<double>(size - from));
    });
    for_each_line(run / events_file, from, [&](std::string_view line, std::uint64_t end) {
        check(stop);
        blocks.add(line, end);
        return end < size; // what is written meanwhile comes as lines
    });
}

/// A new column file of the first `count` blocks of `old` and of those that are made. Throws Error if it cannot be
/// written.
void write_columns(const fs::path& run, const ColumnFile& old, std::size_t count,
                   const std::function<void(const ColumnBlocks::Sink&)>& make) {
    AtomicFile file(run / column_file_name);
    if (count == 0) {
        file.write(column_file_header());
    } else {
        std::ifstream before(run / column_file_name, std::ios::binary);
        std::string bytes(std::size_t{1} << 20, '\0');
        for (auto left = old.end_of(count); left > 0;) {
            const auto length = std::min<std::uint64_t>(left, bytes.size());
            if (!before.read(bytes.data(), static_cast<std::streamsize>(length)))
                throw Error("The column file of " + run.string() + " cannot be read.");
            file.write(bytes.data(), length);
            left -= length;
        }
    }
    make([&](const std::string& payload, const CoveredRange& covers) { file.write(column_block(payload, covers)); });
    file.commit();
}

} // namespace

DamagedColumns::DamagedColumns()
    : Error("The column file of the run was damaged while it was read. Open the run again.") {}

RunPast::RunPast(const fs::path& run, const std::function<void(double)>& progress, const std::stop_token& stop,
                 Comparing comparing)
    : run_(run) {
    file_.emplace(run / column_file_name);
    in_file_ = valid_blocks(*file_, run);
    if (comparing == Comparing::at_once)
        check_blocks(stop);
    covered_ = in_file_ > 0 ? file_->range(in_file_ - 1).end : 0;
    std::error_code error;
    const auto size = fs::file_size(run / events_file, error);
    if (error || size - covered_ <= most_without_columns)
        return;

    const auto make = [&](const ColumnBlocks::Sink& sink) { make_blocks(run, covered_, size, sink, progress, stop); };
    try {
        write_columns(run, *file_, in_file_, make);
        file_.emplace(run / column_file_name);
        in_file_ = valid_blocks(*file_, run);
        covered_ = in_file_ > 0 ? file_->range(in_file_ - 1).end : 0;
    } catch (const Error& fault) {
        if (fault.code() == ExitCode::stopped)
            throw;
        // The folder is read-only, or its disk full.
        auto covered = covered_;
        make([&](std::string payload, const CoveredRange& covers) {
            made_.push_back(std::move(payload));
            covered = covers.end;
        });
        covered_ = covered;
    }
}

/// Keeps the blocks before the first damaged one.
void RunPast::check_blocks(const std::stop_token& stop) {
    for (std::size_t i = 0; i < in_file_; ++i) {
        check(stop);
        const auto payload = file_->read(i);
        if (!payload || !entries_of(*payload))
            in_file_ = i;
    }
}

void outline_of(std::string_view payload, const OutlineHandlers& handlers) {
    for (const auto& entry : entries_of(payload).value_or(std::vector<ColumnEntry>())) {
        if (const auto* table = std::get_if<ColumnTable>(&entry))
            handlers.table(*table);
        else
            handlers.line(std::get<std::string_view>(entry));
    }
}

std::string RunPast::payload(std::size_t block, ColumnFile::Checksum checksum) {
    if (block >= in_file_)
        return made_.at(block - in_file_);
    auto payload = file_->read(block, checksum);
    if (!payload)
        throw DamagedColumns();
    return std::move(*payload);
}

void RunPast::outline(std::size_t block, const OutlineHandlers& handlers) {
    if (block < in_file_) {
        if (!file_->outline(block, handlers))
            throw DamagedColumns();
        return;
    }
    outline_of(made_.at(block - in_file_), handlers);
}

std::string RunPast::tail(const std::stop_token& stop) const {
    ColumnBuilder builder;
    for_each_line(run_ / events_file, covered_, [&](std::string_view line, std::uint64_t) {
        check(stop);
        builder.add(line);
        return true;
    });
    return builder.take();
}

} // namespace espalier
