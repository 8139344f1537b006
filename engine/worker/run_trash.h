// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run_folder.h"

#include <chrono>
#include <filesystem>

namespace espalier {

/// Deleted runs stay a while in a folder beside the others, from which they can be brought back.
inline constexpr const char* trash_folder = ".espalier-trash";
inline constexpr std::size_t most_in_trash = 20;
inline constexpr std::chrono::hours longest_in_trash{7 * 24};

/// Moves the run's folder into the trash beside it; returns where it is then. Throws ConfigError if a supervisor holds
/// it, Error if the system refuses; it stays where it was then.
[[nodiscard]] std::filesystem::path move_to_trash(const RunFolder& run);

/// Brings a folder of the trash back beside the trash, under the name that it had, or with "-2", "-3" ... behind it if
/// there is another one by now. Throws ConfigError if the folder lies in no trash, Error if the system refuses.
[[nodiscard]] RunFolder restore_from_trash(const std::filesystem::path& folder);

/// Removes for good what has been in the trash of this folder of runs longer than `longest_in_trash` before `now`, and
/// all but the latest `most_in_trash`. What cannot be removed stays until the next time; a run stays as long as nobody
/// can say when it was deleted.
void empty_trash(const std::filesystem::path& runs,
                 std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

} // namespace espalier
