// SPDX-License-Identifier: Apache-2.0
#include "base/appended_file.h"

#include "base/error.h"
#include "base/file_operations.h"

#include <algorithm>
#include <cerrno>
#include <string>

namespace espalier {

namespace {

/// Where the last whole line of a file of `size` bytes ends.
std::uintmax_t end_of_lines(const std::filesystem::path& path, std::uintmax_t size) {
    constexpr std::uintmax_t most = 1 << 16;
    std::ifstream file(path, std::ios::binary);
    std::string block;
    for (auto end = size; end > 0; end -= block.size()) {
        block.resize(static_cast<std::size_t>(std::min(end, most)));
        file.seekg(static_cast<std::streamoff>(end - block.size()));
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        if (const auto last = block.rfind('\n'); last != std::string::npos)
            return end - block.size() + last + 1;
    }
    return 0;
}

} // namespace

AppendedFile::AppendedFile(std::filesystem::path path, HalfLine half) : path_(std::move(path)) {
    open();
    const auto end = end_of_lines(path_, size_);
    if (end == size_)
        return;
    if (half == HalfLine::is_ended) {
        append("\n");
        return;
    }
    std::error_code error;
    std::filesystem::resize_file(path_, end, error);
    if (!error)
        size_ = end;
}

void AppendedFile::open() {
    errno = 0;
    stream_ = std::ofstream(path_, std::ios::binary | std::ios::app);
    if (!stream_)
        fail();
    std::error_code error;
    size_ = std::filesystem::file_size(path_, error);
    if (error)
        size_ = 0;
}

void AppendedFile::append(std::string_view lines) {
    errno = 0;
    if (!stream_.is_open())
        open();
    stream_.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    if (stream_.flush()) {
        size_ += lines.size();
        return;
    }
    const int reason = errno;
    stream_.close(); // a stream keeps what the disk has refused and would write it again
    std::error_code ignored;
    std::filesystem::resize_file(path_, size_, ignored);
    errno = reason;
    fail();
}

void AppendedFile::fail() const {
    const std::error_code error(errno, std::generic_category());
    throw Error("The file " + path_.string() + " cannot be written: " + (error ? error.message() : "unknown reason") +
                ". " + remedy_for(error));
}

} // namespace espalier
