// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace espalier {

/// Has stdin, stdout and stderr lead nowhere where the program was started without them (`<&- >&-`). Else the first
/// files that are opened take their numbers, and get what is printed. To be called before any file is opened.
void open_missing_streams();
/// Whether a person's terminal is behind the stream.
[[nodiscard]] bool is_terminal(std::FILE* stream);
/// Width of the terminal behind stdout; 80 where it is not known.
[[nodiscard]] int terminal_columns();
/// Reads what has come on stdin, at least one byte; 0 at its end.
[[nodiscard]] std::size_t read_input(char* data, std::size_t size);
/// Line ends stay LF, whatever the system.
void set_binary_streams();

} // namespace espalier
