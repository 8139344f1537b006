// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace espalier {

/// Bytes of many decoded images, in blocks: in memory up to a limit, what is more in a file. Images are added by
/// several threads at once, then read by several at once.
class ImageStore {
public:
    static constexpr std::size_t block_bytes = std::size_t{64} << 20;

    /// `memory` in bytes, rounded up to blocks; 0: no limit. The file is begun when it is needed.
    ImageStore(std::size_t memory, std::filesystem::path file);
    /// The first `bytes` of a file that was written before. They are read into memory if they fit into its limit.
    ImageStore(std::size_t memory, std::filesystem::path file, std::uint64_t bytes);
    /// Removes the file if it was begun and never kept.
    ~ImageStore();
    ImageStore(const ImageStore&) = delete;
    ImageStore& operator=(const ImageStore&) = delete;

    /// Keeps a copy and returns its place. Throws Error if the disk refuses.
    std::uint64_t add(std::span<const std::uint8_t> bytes);
    /// Copies what was added at `place` out again. Throws DataError if the file cannot be read.
    void read(std::uint64_t place, std::span<std::uint8_t> out) const;

    /// Where the next image would begin, at most: no place lies behind it.
    [[nodiscard]] std::uint64_t end() const;
    [[nodiscard]] bool in_memory() const { return !file_.is_open(); }
    /// Writes all of it, then `trailer`, and gives the file its name: from then on it stays. Throws Error if the disk
    /// refuses.
    void keep(std::span<const std::uint8_t> trailer, const std::filesystem::path& name);

private:
    struct Block {
        std::unique_ptr<std::uint8_t[]> bytes; ///< null: in the file
        int writers = 0;                       ///< threads that copy into it now
    };

    void make_room();
    void begin_file();
    void write_block(std::size_t index);

    std::size_t most_blocks_;
    std::filesystem::path path_;
    bool temporary_ = false;   ///< the file at path_ was begun here
    mutable std::mutex mutex_; ///< guards all that follows
    mutable std::fstream file_;
    std::vector<Block> blocks_;
    std::size_t used_ = block_bytes; ///< of the last block
};

} // namespace espalier
