// SPDX-License-Identifier: Apache-2.0
#include "base/faults.h"
#include "base/file_operations.h"

#include <io.h>
#include <windows.h>

namespace espalier {

FileOperations& FileOperations::system() {
    static FileOperations operations;
    return operations;
}

std::FILE* FileOperations::open_for_writing(const std::filesystem::path& path) {
    return _wfopen(path.c_str(), L"wbN"); // N: children do not inherit the handle
}

std::size_t FileOperations::write(std::FILE* file, const void* data, std::size_t bytes) {
    return std::fwrite(data, 1, bytes, file);
}

bool FileOperations::sync(std::FILE* file) { return std::fflush(file) == 0 && _commit(_fileno(file)) == 0; }

std::error_code FileOperations::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (faults::denies_rename(to.filename().string())) {
        return std::make_error_code(std::errc::permission_denied);
    }
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        return {};
    }
    return {static_cast<int>(GetLastError()), std::system_category()};
}

void FileOperations::sync_folder(const std::filesystem::path&) {}

} // namespace espalier
