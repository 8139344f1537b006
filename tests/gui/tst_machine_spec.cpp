// SPDX-License-Identifier: GPL-3.0-or-later
// Which command reaches a machine, and which sentence says how it ended.
#include "connection_end.h"
#include "machine_spec.h"

#include <QTest>

using namespace espalier;

namespace {

using Kind = MachineSpec::Kind;

QStringList ssh_tail(const QString& host, const QString& program = {}) {
    return machine_command({Kind::ssh, {}, host, program}, {}).arguments.mid(9);
}

QByteArray utf16(const QString& text) {
    return {reinterpret_cast<const char*>(text.utf16()), static_cast<qsizetype>(2 * text.size())};
}

} // namespace

class TestMachineSpec : public QObject {
    Q_OBJECT

private slots:
    void this_pc_is_its_own_command() {
        const CommandLine here{QStringLiteral("/opt/e t"), {QStringLiteral("serve")}};
        QCOMPARE(machine_command({}, here), here);
    }

    void ssh_asks_nothing_and_notices_silence() {
        const CommandLine command = machine_command({Kind::ssh, {}, QStringLiteral("lab"), {}}, {});
        QCOMPARE(command.program, QStringLiteral("ssh"));
        QCOMPARE(command.arguments.join(QLatin1Char(' ')),
                 QStringLiteral("-T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 "
                                "-o ServerAliveCountMax=3 -- lab espalier-train serve"));
    }

    void hosts_and_ports() {
        const auto with_port = QStringList{QStringLiteral("-p"), QStringLiteral("2222"), QStringLiteral("--")};
        const QString serve = QStringLiteral("espalier-train serve");
        QCOMPARE(ssh_tail(QStringLiteral("host:2222")), with_port + QStringList({QStringLiteral("host"), serve}));
        QCOMPARE(ssh_tail(QStringLiteral("ada@host:2222")),
                 with_port + QStringList({QStringLiteral("ada@host"), serve}));
        QCOMPARE(ssh_tail(QStringLiteral("ada@[::1]:2222")),
                 with_port + QStringList({QStringLiteral("ada@::1"), serve}));
        QCOMPARE(split_host(QStringLiteral("fe80::1")).host, QStringLiteral("fe80::1"));
    }

    void the_shell_there_reads_paths_as_they_are() {
        const auto remote = [](const char* program) {
            return ssh_tail(QStringLiteral("h"), QString::fromUtf8(program)).constLast();
        };
        QCOMPARE(remote("/opt/espalier/bin/espalier-train"), QStringLiteral("/opt/espalier/bin/espalier-train serve"));
        QCOMPARE(remote("/opt/my tools/espalier-train"), QStringLiteral("'/opt/my tools/espalier-train' serve"));
        QCOMPARE(remote("~/bin/espalier-train"), QStringLiteral("~/bin/espalier-train serve"));
        QCOMPARE(remote("~/my bin/e"), QStringLiteral("~/'my bin/e' serve"));
        QCOMPARE(remote("/a'; rm -rf b"), QStringLiteral("'/a'\\''; rm -rf b' serve"));
        QCOMPARE(remote("/$HOME/e"), QStringLiteral("'/$HOME/e' serve"));
    }

    void a_distribution_is_one_argument() {
        const CommandLine command = machine_command(
            {Kind::wsl, {}, QStringLiteral("My Ubuntu"), QStringLiteral("/opt/my tools/espalier-train")}, {});
        QCOMPARE(command.program, QStringLiteral("wsl.exe"));
        QCOMPARE(command.arguments,
                 QStringList({QStringLiteral("-d"), QStringLiteral("My Ubuntu"), QStringLiteral("--exec"),
                              QStringLiteral("/opt/my tools/espalier-train"), QStringLiteral("serve")}));
    }

    void what_cannot_be_a_host_is_said() {
        for (const char* host : {"", " ", "-oProxyCommand=x", "a b", "h:0", "h:70000", "h:x", "h:", "@", "a\nb"})
            QVERIFY2(!problem_of({Kind::ssh, {}, QString::fromUtf8(host), {}}).isEmpty(), host);
        for (const char* host : {"h", "ada@h", "h:22", "[::1]:22", "::1"})
            QVERIFY2(problem_of({Kind::ssh, {}, QString::fromUtf8(host), {}}).isEmpty(), host);
        QVERIFY(!problem_of({Kind::wsl, {}, {}, {}}).isEmpty());
        QVERIFY(!problem_of({Kind::wsl, {}, QStringLiteral("Debian"), QStringLiteral("~/e")}).isEmpty());
    }

    void json_there_and_back() {
        const MachineSpec spec{Kind::wsl, QStringLiteral("n"), QStringLiteral("My Ubuntu"), QStringLiteral("/e")};
        QCOMPARE(machine_from_json(to_json(spec)), spec);
    }

    void an_end_in_a_sentence_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("said");
        QTest::addColumn<bool>("again");
        const int ssh = static_cast<int>(Kind::ssh), wsl = static_cast<int>(Kind::wsl);
        const auto row = [](const char* name, int kind, int code, const char* words, const char* said, bool again) {
            QTest::newRow(name) << kind << code << QString::fromUtf8(words) << QString::fromUtf8(said) << again;
        };
        row("refused", ssh, 255, "ssh: connect to host box port 2222: Connection refused",
            "No connection to box:2222. ssh: connect to host box port 2222: Connection refused", true);
        row("key", ssh, 255, "Host key verification failed.", "compare the key: ssh -p 2222 box", false);
        row("changed", ssh, 255,
            "@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  @\nHost key verification failed.",
            "ssh-keygen -R \"[box]:2222\"", false);
        row("denied", ssh, 255, "box: Permission denied (publickey,password).", "ssh-copy-id -p 2222 box", false);
        row("nothing there", ssh, 127, "sh: 1: espalier-train: not found", "There is no espalier-train on box", false);
        row("no program", ssh, 126, "sh: 1: /etc: Permission denied", "cannot be executed", false);
        row("nothing in wsl", wsl, 1,
            "<3>WSL (9) ERROR: CreateProcessCommon:640: execvpe espalier-train failed: No such file or directory",
            "There is no espalier-train on box", false);
        row("no distribution", wsl, -1,
            "There is no distribution with the supplied name.\nError code: Wsl/Service/WSL_E_DISTRO_NOT_FOUND",
            "wsl.exe -l", false);
    }
    void an_end_in_a_sentence() {
        QFETCH(int, kind);
        QFETCH(int, code);
        QFETCH(QString, words);
        QFETCH(QString, said);
        QFETCH(bool, again);
        const EndExplained end = explain_end({static_cast<Kind>(kind), {}, QStringLiteral("box:2222"), {}},
                                             {.code = code, .words = words}, false);
        QVERIFY2(end.text.contains(said), qPrintable(end.text));
        QCOMPARE(end.again, again);
    }

    void a_connection_that_was_there_comes_again() {
        const MachineSpec lab{Kind::ssh, QStringLiteral("lab"), QStringLiteral("box"), {}};
        QVERIFY(explain_end(lab, {.code = 255}, true).again);
        QVERIFY(explain_end(lab, {.crashed = true, .code = 9}, true).again);
        QVERIFY(explain_end(lab, {.code = 255}, true).text.contains(QStringLiteral("Runs there go on")));
    }

    void distributions_in_both_encodings() {
        const QStringList expected{QStringLiteral("Ubuntu 22"), QStringLiteral("Débian")};
        const QString list = QStringLiteral("Ubuntu 22\r\nDébian\r\ndocker-desktop-data\r\n");
        QCOMPARE(read_distributions(utf16(list)), expected);
        QCOMPARE(read_distributions(utf16(QChar(QChar::ByteOrderMark) + list)), expected);
        QCOMPARE(read_distributions(list.toUtf8()), expected);
        QCOMPARE(read_distributions({}), QStringList());
    }
};

QTEST_GUILESS_MAIN(TestMachineSpec)
#include "tst_machine_spec.moc"
