// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// Takes the events of a run (docs/PROTOCOL.md). Must not block: the trainer emits between two steps.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void send(Json event) = 0;
};

enum class Command {
    pause,
    resume,
    stop,
    checkpoint,
    abandon, ///< the supervisor is gone: save and leave
};

/// Where the user's commands come from. poll() never blocks; wait() blocks at most `limit`.
class CommandSource {
public:
    virtual ~CommandSource() = default;
    virtual std::optional<Command> poll() = 0;
    virtual std::optional<Command> wait(std::chrono::milliseconds limit) = 0;
    /// How long a command may lie while a step works: a longer step is asked to look for one between its kernels.
    [[nodiscard]] virtual std::chrono::milliseconds patience() const { return std::chrono::milliseconds(200); }
};

/// An event of that type, with the time (seconds since 1970, UTC).
[[nodiscard]] Json make_event(std::string_view type);
/// Emits a `warning`.
void warn(EventSink& events, const std::string& text);
/// A number for JSON: "NaN", "Infinity" and "-Infinity" where it is not finite, as the protocol writes them.
[[nodiscard]] Json number_or_text(double value);
/// And back; throws ConfigError for another text.
[[nodiscard]] double number_from(const Json& json);

} // namespace espalier
