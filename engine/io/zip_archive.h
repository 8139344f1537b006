// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

/// A zip archive (PKWARE APPNOTE 6.3.10, deflated, names in UTF-8) that is put together in memory. For less than 4 GiB
/// and fewer than 65,536 files: it has no ZIP64 records.
class ZipArchive {
public:
    /// Throws Error if the file or the archive would grow beyond that.
    void add(const std::string& name, std::string_view bytes);
    /// The whole archive. Nothing can be added afterwards.
    [[nodiscard]] std::string finish() &&;

private:
    std::string files_;     ///< each file's local header and bytes
    std::string directory_; ///< the central directory
    std::uint32_t count_ = 0;
};

} // namespace espalier
