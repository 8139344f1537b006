// SPDX-License-Identifier: Apache-2.0
#include "base/error_words.h"
#include "base/file_operations.h"

#include <cerrno>
#include <new>

namespace espalier {

std::string remedy_for(const std::error_code& error) {
#ifdef EDQUOT
    if (error == std::error_code(EDQUOT, std::generic_category())) {
        return "Your quota there is used up: free some space, or choose another folder.";
    }
#endif
    if (error == std::errc::no_space_on_device) {
        return "Free some space there, or choose another folder.";
    }
    if (error == std::errc::read_only_file_system) {
        return "Nothing can be written there: choose another folder.";
    }
    if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted) {
        return "This user may not write there: choose another folder.";
    }
    if (error == std::errc::not_a_directory || error == std::errc::file_exists) {
        return "A file stands where a folder should be: choose another folder.";
    }
    if (error == std::errc::no_such_file_or_directory) {
        return "Its folder is not there: was it removed?";
    }
    if (error == std::errc::filename_too_long) {
        return "Its path is too long for this system: choose a shorter one.";
    }
    return "Check that the disk has space and that the folder may be written.";
}

std::string words_of(const std::exception& error) {
    if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
        return "'" + of_file->path1().string() + "' cannot be used: " + of_file->code().message() +
               ". Check how it is written, and that you may read and write there.";
    }
    if (dynamic_cast<const std::bad_alloc*>(&error)) {
        return "Memory ran out. Close other programs, or choose smaller settings.";
    }
    return error.what();
}

} // namespace espalier
