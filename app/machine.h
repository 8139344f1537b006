// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "serve_link.h"

#include <QElapsedTimer>
#include <QTimer>
#include <functional>
#include <map>
#include <optional>

namespace espalier {

/// A connection to one `espalier-train serve`: on this machine, and by another program line in WSL or over ssh.
/// Requests go out at once; what comes back is handed on when the window asks for it, in slices that leave it time to
/// draw.
class Machine : public QObject {
    Q_OBJECT

public:
    struct Handlers {
        std::function<void(const Json& answer)> answer;
        std::function<void(const QString& text, int code)> error;
        std::function<void(const Json& progress)> progress;
        std::function<void(const RunEvent& event)> event;
    };

    /// This PC, until another one is used; `here` is its command.
    explicit Machine(CommandLine here, QObject* parent = nullptr);
    ~Machine() override; ///< leaves it, as use() does

    void start();
    /// Leaves the machine of before (its runs go on) and connects to this one, without a wait for either. Open requests
    /// end with an error.
    void use(const MachineSpec& spec);
    [[nodiscard]] const MachineSpec& spec() const { return spec_; }
    [[nodiscard]] bool is_here() const { return spec_.is_here(); }
    [[nodiscard]] const CommandLine& here() const { return here_; }
    [[nodiscard]] const QString& noise() const { return noise_; } ///< what came before its hello; mostly nothing
    [[nodiscard]] const QString& build() const { return build_; }
    [[nodiscard]] bool is_connected() const { return connected_; }
    [[nodiscard]] QString name() const { return spec_.title(); }
    /// Whether the other side answers this request; an older one may not.
    [[nodiscard]] bool can(const char* request) const;

    /// Returns the request's number. Handlers run in the window's thread, inside of take(); after answer or error none
    /// of them is called again. A connection that is lost answers every open request with an error.
    std::int64_t request(const char* name, Json arguments = Json::object(), Handlers handlers = {});
    /// Forgets the handlers and asks the other side to stop working on it.
    void cancel(std::int64_t id);

    /// Hands on what has come, for at most `budget_ms`. Returns whether something is left.
    bool take(int budget_ms);

    /// After so long without a word it is `silent`. For tests: 20 s is right for people.
    void set_patience(int ms);

    static constexpr int cancelled = 6; ///< code of the error that ends a cancelled request

signals:
    void connected();
    /// The connection ended or could not be made. It is tried again after a growing while (`again`): the
    /// engine of this PC a few times, another machine until it is there.
    void lost(const QString& reason, bool again);
    /// The connection stands, but nothing has come for long. It is kept: what comes after all is taken, and told by
    /// `heard`.
    void silent(const QString& text);
    void heard();
    /// Something came that is not of the protocol, and was passed over. Once a connection.
    void passed_over(const QString& noise);

private:
    void dispatch(Message& message);
    void lose(const QString& reason, bool may_return);
    void fail_all(const QString& reason);
    void feel_pulse();
    void make_link();
    void drop_link();

    CommandLine here_;
    MachineSpec spec_;
    ServeLink* link_ = nullptr; ///< in a thread of its own
    QTimer retry_;
    QTimer pulse_;            ///< while there is a connection, or one is made
    int patience_ms_ = 20000; ///< two beats of the pulse
    bool word_came_ = false;  ///< since the last beat
    int quiet_beats_ = 0;     ///< in a row
    QString noise_, build_;
    std::optional<QString> down_; ///< why nothing answers until start()
    std::deque<Message> waiting_;
    std::map<std::int64_t, Handlers> open_;
    std::int64_t next_id_ = 1;
    QStringList capabilities_; ///< as its hello lists them; empty: it lists none
    bool connected_ = false;
    int failures_ = 0; ///< in a row, without a hello between them
};

/// `espalier-train` beside this program, in its libexec folder, or on the path.
[[nodiscard]] QString find_engine();

} // namespace espalier
