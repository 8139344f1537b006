// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "worker/protocol.h"

#include <algorithm>

using namespace espalier;

namespace {

std::vector<Json> messages_of(std::string_view bytes, std::size_t piece) {
    std::vector<Json> messages;
    protocol::LineReader reader([&](Json message) { messages.push_back(std::move(message)); });
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        reader.feed(bytes.substr(at, piece));
    reader.finish();
    return messages;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto messages = messages_of(bytes, std::max<std::size_t>(size, 1));
    fuzz::require(messages == messages_of(bytes, 7), "where the bytes are cut does not matter");
    for (const auto& message : messages) {
        const auto lines = protocol::to_lines(message);
        for (const auto& line : lines)
            fuzz::require(line.size() < protocol::max_line && line.ends_with('\n'),
                          "a line is below the limit and ends");
        if (lines.size() == 1)
            fuzz::require(messages_of(lines[0], 7) == std::vector{message}, "what is written can be read again");
        (void)protocol::to_reply(message);
        try {
            (void)protocol::to_request(message);
        } catch (const ConfigError&) {
        }
    }
    return 0;
}
