// SPDX-License-Identifier: GPL-3.0-or-later
#include "output.h"

#include <cstdio>

namespace espalier::test {

void send_line(const Json& message) {
    static protocol::LineWriter output([](std::string_view line) {
        std::fwrite(line.data(), 1, line.size(), stdout);
        std::fflush(stdout);
    });
    output.write(message);
}

void send_raw(const std::string& bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
}

} // namespace espalier::test
