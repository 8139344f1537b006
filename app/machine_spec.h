// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QString>
#include <QStringList>

namespace espalier {

/// What to start to talk to a machine.
struct CommandLine {
    QString program;
    QStringList arguments;
    bool operator==(const CommandLine&) const = default;
};

/// Where an `espalier-train serve` is to be found.
struct MachineSpec {
    enum class Kind { here, wsl, ssh };
    Kind kind = Kind::here;
    QString name;    ///< for people; empty: the host's
    QString host;    ///< [user@]host[:port], or the name of a WSL distribution
    QString program; ///< espalier-train there; empty: as the path there finds it

    [[nodiscard]] QString title() const;
    /// Tells machines apart, in the settings too.
    [[nodiscard]] QString id() const;
    [[nodiscard]] bool is_here() const { return kind == Kind::here; }
    [[nodiscard]] QString engine() const { return program.isEmpty() ? QStringLiteral("espalier-train") : program; }
    bool operator==(const MachineSpec&) const = default;
};

/// The parts of [user@]host[:port]. An IPv6 address with a port stands in brackets.
struct HostAddress {
    QString host; ///< with the user
    QString port; ///< empty: ssh's own choice
};
[[nodiscard]] HostAddress split_host(const QString& text);

/// What a person has to change before this can be tried; empty: nothing.
[[nodiscard]] QString problem_of(const MachineSpec& machine);
/// The one difference between machines. `here` is the command of this PC. ssh asks nothing: nobody could answer.
[[nodiscard]] CommandLine machine_command(const MachineSpec& machine, const CommandLine& here);
/// What a person types to get to a shell there: "ssh -p 2222 ada@lab".
[[nodiscard]] QString command_by_hand(const MachineSpec& machine);

[[nodiscard]] QJsonObject to_json(const MachineSpec& machine);
[[nodiscard]] MachineSpec machine_from_json(const QJsonObject& object);

} // namespace espalier
