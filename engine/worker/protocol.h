// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The tie between window, server, supervisor and worker: JSON objects, one a line. docs/PROTOCOL.md lists them.
namespace espalier::protocol {

/// Same major version talks; a minor one only adds fields, events and requests.
inline constexpr std::string_view version = "1.0";
/// Bytes of a line with its line feed stay below this.
inline constexpr std::size_t max_line = std::size_t{1} << 20;
/// An event stays below this, so that it still fits a line when wrapped in the answer to a request.
inline constexpr std::size_t max_event = max_line - 4096;

/// Throws ConfigError naming both versions if the other side's major version is not ours or cannot be read.
void check_version(std::string_view other);

/// A number as the protocol writes it: non-finite ones are the strings "NaN", "Infinity" and "-Infinity".
[[nodiscard]] Json number(double value);
/// The reverse; NaN for anything that is not a number.
[[nodiscard]] double to_double(const Json& json);
/// The field as a number, or `otherwise` if it is absent or no number.
[[nodiscard]] double number_at(const Json& object, std::string_view key, double otherwise = 0);
/// The field as text, or `otherwise` if it is absent or no text.
[[nodiscard]] std::string text_at(const Json& object, std::string_view key, std::string otherwise = {});
/// The value as a whole number; nothing if it is none, or does not fit (3.0 does, 3.5, 1e99 and 2^63 do not).
[[nodiscard]] std::optional<std::int64_t> to_whole(const Json& json);
/// The field as a whole number, or `otherwise` if it is absent or none.
[[nodiscard]] std::int64_t whole_at(const Json& object, std::string_view key, std::int64_t otherwise = 0);
[[nodiscard]] bool flag_at(const Json& object, std::string_view key, bool otherwise = false);

struct Best {
    double accuracy = 0; ///< 0 to 1
    std::int64_t epoch = 0;
};
/// The best on the validation part, as an `evaluation` event or an overview has it; nothing where there is none: not
/// yet evaluated, or never with a finite loss (the fields are absent; those who wrote 0 for none wrote epoch 0, too).
[[nodiscard]] std::optional<Best> best_at(const Json& object);

/// The message as one line (with LF) or, if it is too long, as several: an answer becomes parts and an answer, an event
/// becomes events (per-step values are shared out, other arrays follow in events marked `continued`, long texts are
/// cut). Invalid UTF-8 becomes U+FFFD. Throws Error if the message cannot be split.
[[nodiscard]] std::vector<std::string> to_lines(const Json& message);

/// Puts lines into a sink; may be used by several threads.
class LineWriter {
public:
    using Sink = std::function<void(std::string_view line)>;
    explicit LineWriter(Sink sink) : sink_(std::move(sink)) {}
    void write(const Json& message);

private:
    Sink sink_;
    std::mutex mutex_;
};

/// Turns the bytes of one channel into messages. Lines that are no JSON object, or too long, are counted, handed to
/// `on_noise` (at most 4 KiB of each) and skipped. CR LF is accepted; bytes that are not UTF-8 become U+FFFD.
class LineReader {
public:
    using MessageHandler = std::function<void(Json message)>;
    using NoiseHandler = std::function<void(std::string_view text)>;
    explicit LineReader(MessageHandler on_message, NoiseHandler on_noise = {})
        : on_message_(std::move(on_message)), on_noise_(std::move(on_noise)) {}

    void feed(std::string_view bytes);
    /// The channel has ended: what is left is a line too.
    void finish();

    [[nodiscard]] std::size_t skipped() const { return skipped_; }

private:
    void line(std::string_view text);
    void noise(std::string_view text);

    MessageHandler on_message_;
    NoiseHandler on_noise_;
    std::string rest_;
    bool too_long_ = false; ///< the line being read has already been reported: drop it up to its end
    std::size_t skipped_ = 0;
};

/// The object in one line, or nothing if there is none (see LineReader).
[[nodiscard]] std::optional<Json> parse_line(std::string_view text);

// Requests and their answers

struct Request {
    std::int64_t id = 0;
    std::string name;
    Json arguments = Json::object(); ///< the other fields of the line
};
[[nodiscard]] Json to_message(const Request& request);
/// Throws ConfigError, quoting the message, if it has no id (id_of) or no text `request`.
[[nodiscard]] Request to_request(const Json& message);
/// The message's `id`, if it is a whole number of 64 bits with sign: any other could not come back as it was sent.
[[nodiscard]] std::optional<std::int64_t> id_of(const Json& message);

struct Reply {
    enum class Kind { progress, part, answer, error };
    std::int64_t id = 0;
    Kind kind = Kind::answer;
    Json body = Json::object(); ///< of an error: {"text", "code"}
};
[[nodiscard]] Json to_message(const Reply& reply);
[[nodiscard]] Reply error_reply(std::int64_t id, const std::string& text, int code);
/// Nothing if the message is no reply (it is an event then).
[[nodiscard]] std::optional<Reply> to_reply(const Json& message);
/// Adds a part to what came before: arrays and texts are appended, other values replaced.
void join_part(Json& whole, const Json& part);

// Events

/// {"type": type, "time": seconds since 1970}
[[nodiscard]] Json make_event(std::string_view type);
[[nodiscard]] bool is_event(const Json& message, std::string_view type);
/// Number of the last step of a `steps` event.
[[nodiscard]] std::int64_t last_step(const Json& steps_event);

} // namespace espalier::protocol
