// SPDX-License-Identifier: Apache-2.0
#include "data/byte_source.h"

#include "base/error.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <vector>

namespace espalier {
namespace {

class FileSource final : public ByteSource {
public:
    explicit FileSource(const std::filesystem::path& path) {
        check_regular_file(path); // opening a pipe would wait for its writer
        stream_.open(path, std::ios::binary);
        if (!stream_)
            throw DataError("The file '" + path.string() + "' cannot be read. Check that it is there and may be read.");
    }

    std::size_t read(std::span<std::uint8_t> out) override {
        stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
        return static_cast<std::size_t>(stream_.gcount());
    }
    std::string fault() const override { return stream_.bad() ? "the disk reports a read error" : ""; }

private:
    std::ifstream stream_;
};

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    std::size_t read(std::span<std::uint8_t> out) override {
        const auto count = std::min(out.size(), rest_.size());
        if (count != 0)
            std::memcpy(out.data(), rest_.data(), count);
        rest_ = rest_.subspan(count);
        return count;
    }

private:
    std::span<const std::uint8_t> rest_;
};

/// Gives the bytes back that were read to look at them, then the rest.
class PeekedSource final : public ByteSource {
public:
    PeekedSource(std::vector<std::uint8_t> first, std::unique_ptr<ByteSource> rest)
        : first_(std::move(first)), rest_(std::move(rest)) {}

    std::size_t read(std::span<std::uint8_t> out) override {
        const auto count = std::min(out.size(), first_.size() - taken_);
        std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin());
        taken_ += count;
        return count + (count < out.size() ? rest_->read(out.subspan(count)) : 0);
    }
    std::string fault() const override { return rest_->fault(); }

private:
    std::vector<std::uint8_t> first_;
    std::size_t taken_ = 0;
    std::unique_ptr<ByteSource> rest_;
};

/// One or more gzip members, each checked against its checksum.
class GunzipSource final : public ByteSource {
public:
    explicit GunzipSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)) {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) // 15: largest window; 16: gzip, not zlib
            throw DataError("zlib could not be started: out of memory.");
    }
    ~GunzipSource() override { inflateEnd(&stream_); }
    GunzipSource(const GunzipSource&) = delete;
    GunzipSource& operator=(const GunzipSource&) = delete;

    std::size_t read(std::span<std::uint8_t> out) override {
        std::size_t done = 0;
        while (done < out.size() && !ended_) {
            if (stream_.avail_in == 0)
                refill();
            if (between_members_ && !begin_member())
                break;
            const auto wanted = std::min<std::size_t>(out.size() - done, 1u << 30);
            stream_.next_out = out.data() + done;
            stream_.avail_out = static_cast<uInt>(wanted);
            const int result = inflate(&stream_, Z_NO_FLUSH);
            done += wanted - stream_.avail_out;
            if (result == Z_STREAM_END)
                between_members_ = true;
            else if (result == Z_BUF_ERROR && stream_.avail_in == 0 && at_end_)
                end("its gzip data is cut off");
            else if (result != Z_OK && result != Z_BUF_ERROR)
                end(std::string("its gzip data is damaged (") + (stream_.msg ? stream_.msg : "no detail") + ")");
        }
        return done;
    }
    std::string fault() const override { return fault_; }

private:
    void refill() {
        const auto count = packed_->read(input_);
        at_end_ = count < input_.size();
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<uInt>(count);
    }

    /// After a member: another one, the end, or zeros as some tapes and tools append.
    bool begin_member() {
        while (stream_.avail_in > 0 && *stream_.next_in == 0) {
            ++stream_.next_in;
            --stream_.avail_in;
            if (stream_.avail_in == 0)
                refill();
        }
        if (stream_.avail_in == 0) {
            end(packed_->fault());
            return false;
        }
        if (*stream_.next_in != 0x1f) {
            end("something that is not gzip follows its gzip data");
            return false;
        }
        between_members_ = false;
        inflateReset(&stream_);
        return true;
    }

    void end(std::string fault) {
        ended_ = true;
        fault_ = packed_->fault().empty() ? std::move(fault) : packed_->fault();
    }

    std::unique_ptr<ByteSource> packed_;
    std::array<std::uint8_t, 1 << 16> input_{};
    z_stream stream_{};
    bool between_members_ = false;
    bool at_end_ = false;
    bool ended_ = false;
    std::string fault_;
};

} // namespace

void check_regular_file(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status))
        throw DataError("'" + path.string() + "' is a folder, but a file was expected.");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw DataError("'" + path.string() + "' is a pipe or a device, but a regular file was expected.");
}

void check_folder(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        throw DataError("There is no folder '" + path.string() +
                        "'. Check how it is written, and that the disk is there on which it lies.");
    if (const std::filesystem::directory_iterator first(path, error); error)
        throw DataError("The folder '" + path.string() + "' cannot be read: " + error.message() + ".");
}

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) { return std::make_unique<FileSource>(path); }

std::vector<std::uint8_t> file_bytes(const std::filesystem::path& path, std::size_t most) {
    FileSource file(path);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (!error && size > most)
        throw DataError("The file '" + path.string() + "' has " + std::to_string(size >> 20) +
                        " MiB; files of at most " + std::to_string(most >> 20) + " MiB are read.");
    std::vector<std::uint8_t> bytes(error ? 0 : size);
    bytes.resize(file.read(bytes));
    if (const auto fault = file.fault(); !fault.empty())
        throw DataError("The file '" + path.string() + "' cannot be read: " + fault + ".");
    return bytes;
}

std::unique_ptr<ByteSource> bytes_of(std::span<const std::uint8_t> bytes) {
    return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed) {
    std::vector<std::uint8_t> first(2);
    first.resize(packed->read(first));
    const bool gzip = first.size() == 2 && first[0] == 0x1f && first[1] == 0x8b;
    auto whole = std::make_unique<PeekedSource>(std::move(first), std::move(packed));
    if (gzip)
        return std::make_unique<GunzipSource>(std::move(whole));
    return whole;
}

} // namespace espalier
