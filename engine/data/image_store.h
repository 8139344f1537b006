// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace espalier {

/// Bytes of many decoded images, in blocks, so that growing copies nothing. May be used by several threads at once.
class ImageStore {
public:
    /// Keeps a copy and returns its place.
    std::uint64_t add(std::span<const std::uint8_t> bytes);
    /// Copies what was added at `place` out again.
    void read(std::uint64_t place, std::span<std::uint8_t> out) const;

private:
    static constexpr std::size_t block_bytes = std::size_t{64} << 20;

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
    std::size_t used_ = block_bytes; ///< of the last block
};

} // namespace espalier
