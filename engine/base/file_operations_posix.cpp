// SPDX-License-Identifier: Apache-2.0
#include "base/faults.h"
#include "base/file_operations.h"

#include <fcntl.h>
#include <unistd.h>

namespace espalier {

FileOperations& FileOperations::system() {
    static FileOperations operations;
    return operations;
}

std::FILE* FileOperations::open_for_writing(const std::filesystem::path& path) {
    return std::fopen(path.c_str(), "wbe");
}

std::size_t FileOperations::write(std::FILE* file, const void* data, std::size_t bytes) {
    return std::fwrite(data, 1, bytes, file);
}

bool FileOperations::sync(std::FILE* file) { return std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0; }

std::error_code FileOperations::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (faults::denies_rename(to.filename().string()))
        return std::make_error_code(std::errc::permission_denied);
    std::error_code error;
    std::filesystem::rename(from, to, error);
    return error;
}

void FileOperations::sync_folder(const std::filesystem::path& folder) {
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return; // a folder that may be written but not read: the rename stands, only its durability is the system's
    }
    ::fsync(descriptor);
    ::close(descriptor);
}

} // namespace espalier
