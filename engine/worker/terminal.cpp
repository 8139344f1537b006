// SPDX-License-Identifier: Apache-2.0
#include "worker/terminal.h"

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace espalier {

#ifdef _WIN32

void open_missing_streams() {} // numbers of files are the C library's own, and it keeps these three

bool is_terminal(std::FILE* stream) { return _isatty(_fileno(stream)) != 0; }

int terminal_columns() { return 80; }

std::size_t read_input(char* data, std::size_t size) {
    const int count = _read(0, data, static_cast<unsigned>(size));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void set_binary_streams() {
    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
}

#else

void open_missing_streams() {
    int file = 0;
    do // takes the lowest number that is free
        file = ::open("/dev/null", O_RDWR);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        ::close(file);
}

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) != 0; }

int terminal_columns() {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::size_t read_input(char* data, std::size_t size) {
    for (;;) {
        const auto count = ::read(STDIN_FILENO, data, size);
        if (count >= 0)
            return static_cast<std::size_t>(count);
        if (errno != EINTR)
            return 0;
    }
}

void set_binary_streams() {}

#endif

} // namespace espalier
