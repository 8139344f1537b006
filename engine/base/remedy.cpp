// SPDX-License-Identifier: Apache-2.0
#include "base/file_operations.h"

#include <cerrno>

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
    return "Check that the disk has space and that the folder may be written.";
}

} // namespace espalier
