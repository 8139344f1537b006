// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "connection_end.h"
#include "event_stream.h"
#include "worker/protocol.h"

#include <QObject>
#include <QStringList>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

class QProcess;

namespace espalier {

/// Something that came from `serve`, parsed.
struct Message {
    enum class Kind { hello, event, progress, answer, error, noise, lost };
    Kind kind = Kind::answer;
    std::int64_t id = 0;
    Json body = Json::object(); ///< of an error: {"text", "code"}; of noise: {"text"}
    RunEvent event;
    ConnectionEnd end; ///< of `lost`; of `hello` the noise before it
};

/// Owns the process and lives in a thread of its own: reading, splitting and parsing never touch the window's thread,
/// and a window that stands still never holds up the other side. Parsed messages wait in a box until the window takes
/// them.
class ServeLink : public QObject {
    Q_OBJECT

public:
    explicit ServeLink(CommandLine command);
    ~ServeLink() override;

    void start(); ///< in the link's thread, like the next two
    void send(const protocol::Request& request);
    void shut(); ///< EOF, then by force: `serve` leaves by itself, its runs go on

    /// From any thread: all messages since the last call.
    void take(std::deque<Message>& into);

private:
    void abandon();
    void put(Message message);
    void drain();
    void read(Json message);
    void noise(std::string_view text);
    void ended(ConnectionEnd end);

    CommandLine command_;
    QProcess* process_ = nullptr;
    std::optional<protocol::LineReader> reader_;
    std::map<std::int64_t, Json> parts_; ///< of answers that come in parts
    QByteArray last_words_;              ///< the tail of standard error
    QString noise_;                      ///< the first line that is none of the protocol's
    bool noise_told_ = false;            ///< since the start, or since the hello
    bool shut_ = false;

    std::mutex mutex_;
    std::deque<Message> box_;
};

} // namespace espalier
