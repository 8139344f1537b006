// SPDX-License-Identifier: GPL-3.0-or-later
#include "connection_end.h"

#include "words.h"

#include <QRegularExpression>
#include <QStringDecoder>

namespace espalier {

namespace {

constexpr int not_executable = 126, not_found = 127, ssh_failed = 255; // of shells and of ssh

QString last_line(const QString& words) { return words.trimmed().section(QLatin1Char('\n'), -1).trimmed(); }

QString with_words(const QString& sentence, const QString& words) {
    if (words.isEmpty())
        return sentence;
    const bool ends = words.endsWith(QLatin1Char('.')) || words.endsWith(QLatin1Char('!'));
    return sentence + QLatin1Char(' ') + words + (ends ? QString() : QStringLiteral("."));
}

EndExplained explain_here(const ConnectionEnd& end) {
    if (!end.started)
        return {tr("%1. Install the package espalier-train, or name the engine: espalier --engine PROGRAM.")
                    .arg(end.problem),
                true};
    const QString how = (end.crashed ? tr("The engine on this machine crashed (signal %1).")
                                     : tr("The engine on this machine ended with code %1."))
                            .arg(end.code);
    return {with_words(how, last_line(end.words)), true};
}

EndExplained explain_ssh(const MachineSpec& machine, const ConnectionEnd& end, bool connected) {
    const QString host = split_host(machine.host).host, by_hand = command_by_hand(machine);
    if (end.words.contains(u"REMOTE HOST IDENTIFICATION HAS CHANGED")) {
        const HostAddress address = split_host(machine.host);
        const QString bare = host.section(QLatin1Char('@'), -1);
        const QString key = address.port.isEmpty() || address.port == u"22"
                                ? bare
                                : QStringLiteral("\"[%1]:%2\"").arg(bare, address.port);
        return {tr("The host key of %1 is another one than before. If you know why, forget the old one with: %2")
                    .arg(host, QStringLiteral("ssh-keygen -R ") + key),
                false};
    }
    if (end.words.contains(u"Host key verification failed"))
        return {tr("The host key of %1 is not known here. Connect once in a terminal and compare the key: %2")
                    .arg(host, by_hand),
                false};
    if (end.words.contains(u"Permission denied") && end.code == ssh_failed)
        return {tr("Permission denied: %1 lets nobody in without a password. Give it your key in a terminal: %2")
                    .arg(host, QString(by_hand).replace(0, 3, QStringLiteral("ssh-copy-id"))),
                false};
    if (connected)
        return {with_words(tr("The connection to %1 is lost. Runs there go on.").arg(machine.title()),
                           end.code == ssh_failed ? QString() : last_line(end.words)),
                true};
    return {with_words(tr("No connection to %1.").arg(machine.title()), last_line(end.words)), true};
}

bool is_missing(const MachineSpec& machine, const ConnectionEnd& end) {
    return end.code == not_found || (machine.kind == MachineSpec::Kind::wsl && end.words.contains(u"execvpe"));
}

} // namespace

EndExplained explain_end(const MachineSpec& machine, const ConnectionEnd& end, bool connected) {
    if (machine.is_here())
        return explain_here(end);
    const bool ssh = machine.kind == MachineSpec::Kind::ssh;
    if (!end.started)
        return {ssh ? tr("There is no ssh on this PC: install the OpenSSH client. %1").arg(end.problem)
                    : tr("There is no WSL on this PC: wsl.exe was not found. %1").arg(end.problem),
                false};
    if (ssh && (end.code == ssh_failed || end.crashed))
        return explain_ssh(machine, end, connected);
    if (connected)
        return {tr("The connection to %1 is lost. Runs there go on.").arg(machine.title()), true};
    if (end.words.contains(u"WSL_E_DISTRO_NOT_FOUND") || end.words.contains(u"no distribution with the supplied name"))
        return {tr("There is no WSL distribution named %1. See which there are: %2")
                    .arg(machine.host, QStringLiteral("wsl.exe -l")),
                false};
    if (is_missing(machine, end))
        return {tr("There is no %1 on %2. Install the engine there, or name the whole path of espalier-train.")
                    .arg(machine.engine(), machine.title()),
                false};
    if (end.code == not_executable)
        return {tr("%1 on %2 cannot be executed. %3").arg(machine.engine(), machine.title(), last_line(end.words)),
                false};
    if (!end.noise.isEmpty())
        return {tr("What answers on %1 is not espalier-train: \"%2\"").arg(machine.title(), end.noise), false};
    return {with_words(
                tr("espalier-train on %1 ended with code %2 before it said hello.").arg(machine.title()).arg(end.code),
                last_line(end.words)),
            false};
}

QString explain_silence(const MachineSpec& machine, bool connected, int seconds, const QString& noise) {
    if (connected)
        return machine.is_here()
                   ? tr("The engine has answered nothing for %1 s. Runs go on without it. Wait, or start it anew.")
                         .arg(seconds)
                   : tr("%1 has answered nothing for %2 s. Runs there go on. Wait, or connect anew.")
                         .arg(machine.title())
                         .arg(seconds);
    const QString said = noise.isEmpty() ? QString() : tr(" It has said: \"%1\".").arg(noise);
    if (machine.is_here())
        return tr("The engine was started, but has said nothing for %1 s. Wait if this PC is busy; else try again.")
                   .arg(seconds) +
               said;
    return tr("The connection to %1 stands, but espalier-train there has said nothing for %2 s. Its login may wait for "
              "something: look in a terminal, with: %3")
               .arg(machine.title())
               .arg(seconds)
               .arg(command_by_hand(machine)) +
           said;
}

QString decode_console(const QByteArray& bytes) {
    // Text of the languages that wsl.exe speaks has line ends and spaces: as UTF-16 these bring zeros, as UTF-8 none.
    if (!bytes.contains('\0'))
        return QString::fromUtf8(bytes);
    QStringDecoder decoder(QStringDecoder::Utf16LE);
    return decoder.decode(bytes);
}

QStringList read_distributions(const QByteArray& output) {
    static const QRegularExpression ends(QStringLiteral("[\\r\\n]+"));
    QStringList names;
    for (const QString& line : decode_console(output).split(ends, Qt::SkipEmptyParts)) {
        QString name = line.trimmed();
        if (name.startsWith(QChar::ByteOrderMark))
            name.remove(0, 1);
        if (!name.isEmpty() && !name.startsWith(u"docker-desktop"))
            names.append(name);
    }
    return names;
}

} // namespace espalier
