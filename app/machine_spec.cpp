// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine_spec.h"

#include "words.h"

#include <QRegularExpression>
#include <array>

namespace espalier {

namespace {

constexpr std::array<const char*, 3> kind_names = {"here", "wsl", "ssh"};

/// ssh joins its arguments and hands them to the shell there.
QString quoted(QString text) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./+@%,:=-]+$"));
    if (text.startsWith(u"~/")) // the home there, which no quotes may hide
        return QStringLiteral("~/") + quoted(text.mid(2));
    if (plain.match(text).hasMatch())
        return text;
    return QLatin1Char('\'') + text.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

QStringList address_arguments(const MachineSpec& machine) {
    const HostAddress address = split_host(machine.host);
    QStringList arguments;
    if (!address.port.isEmpty())
        arguments << QStringLiteral("-p") << address.port;
    return arguments << address.host;
}

} // namespace

QString MachineSpec::title() const { return is_here() ? espalier::tr("this PC") : name.isEmpty() ? host : name; }

QString MachineSpec::id() const {
    return QLatin1String(kind_names[static_cast<std::size_t>(kind)]) + QLatin1Char(':') + host;
}

HostAddress split_host(const QString& text) {
    static const QRegularExpression bracketed(QStringLiteral(R"(^(.*@)?\[([^\]]*)\](?::(.*))?$)"));
    static const QRegularExpression simple(QStringLiteral("^([^:]*):([^:]*)$"));
    if (const auto match = bracketed.match(text); match.hasMatch())
        return {match.captured(1) + match.captured(2), match.captured(3)};
    if (const auto match = simple.match(text); match.hasMatch())
        return {match.captured(1), match.captured(2)};
    return {text, {}};
}

QString problem_of(const MachineSpec& machine) {
    static const QRegularExpression control(QStringLiteral("[\\x00-\\x1f\\x7f]"));
    if (machine.is_here())
        return {};
    if (machine.host.trimmed().isEmpty())
        return machine.kind == MachineSpec::Kind::ssh ? tr("Type the host, as ssh takes it: ada@lab or lab:2222.")
                                                      : tr("Choose the distribution.");
    if (machine.host.contains(control) || machine.program.contains(control))
        return tr("Line breaks and control characters have no place here.");
    if (machine.kind == MachineSpec::Kind::wsl)
        return machine.program.startsWith(u'~')
                   ? tr("No shell reads this path: write the home folder in full, as /home/ada/bin/espalier-train.")
                   : QString();
    const HostAddress address = split_host(machine.host);
    const QString bare = address.host.section(QLatin1Char('@'), -1);
    if (bare.isEmpty() || address.host.contains(QLatin1Char(' ')) || address.host.startsWith(QLatin1Char('-')))
        return tr("\"%1\" is no host. Expected: host, user@host or host:port.").arg(machine.host);
    bool number = false;
    const uint port = address.port.toUInt(&number);
    if (machine.host.endsWith(QLatin1Char(':')) || (!address.port.isEmpty() && (!number || port < 1 || port > 65535)))
        return tr("\"%1\" is no port. Expected a number from 1 to 65535.").arg(address.port);
    return {};
}

CommandLine machine_command(const MachineSpec& machine, const CommandLine& here) {
    switch (machine.kind) {
    case MachineSpec::Kind::here:
        break;
    case MachineSpec::Kind::wsl:
        return {
            QStringLiteral("wsl.exe"),
            {QStringLiteral("-d"), machine.host, QStringLiteral("--exec"), machine.engine(), QStringLiteral("serve")}};
    case MachineSpec::Kind::ssh: {
        QStringList arguments{QStringLiteral("-T")};
        for (const char* option :
             {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3"})
            arguments << QStringLiteral("-o") << QLatin1String(option);
        QStringList address = address_arguments(machine);
        const QString host = address.takeLast();
        arguments << address << QStringLiteral("--") << host;
        return {QStringLiteral("ssh"), arguments << quoted(machine.engine()) + QStringLiteral(" serve")};
    }
    }
    return here;
}

QString command_by_hand(const MachineSpec& machine) {
    if (machine.kind == MachineSpec::Kind::wsl)
        return QStringLiteral("wsl.exe -d \"%1\"").arg(machine.host);
    return QStringLiteral("ssh ") + address_arguments(machine).join(QLatin1Char(' '));
}

QJsonObject to_json(const MachineSpec& machine) {
    return {{QStringLiteral("kind"), QLatin1String(kind_names[static_cast<std::size_t>(machine.kind)])},
            {QStringLiteral("name"), machine.name},
            {QStringLiteral("host"), machine.host},
            {QStringLiteral("program"), machine.program}};
}

MachineSpec machine_from_json(const QJsonObject& object) {
    MachineSpec machine;
    const QString kind = object[QStringLiteral("kind")].toString();
    for (std::size_t i = 0; i < kind_names.size(); ++i)
        if (kind == QLatin1String(kind_names[i]))
            machine.kind = static_cast<MachineSpec::Kind>(i);
    machine.name = object[QStringLiteral("name")].toString();
    machine.host = object[QStringLiteral("host")].toString();
    machine.program = object[QStringLiteral("program")].toString();
    return machine;
}

} // namespace espalier
