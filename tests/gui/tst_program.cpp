// SPDX-License-Identifier: GPL-3.0-or-later
// The program `espalier` as it is started: what it answers where it opens no window.
#include "man_page.h"

#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

class TestProgram : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// A display that is not named, does not answer or is no platform of Qt's, and arguments that mean nothing: each
    /// one sentence, the code for wrong usage, and never Qt's abort.
    void without_a_window_data() {
        QTest::addColumn<QString>("display"); // VARIABLE=VALUE
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("words");
        const QString none, dead = QStringLiteral("DISPLAY=:77"),
                            offscreen = QStringLiteral("QT_QPA_PLATFORM=offscreen");
        const QString other_program = QStringLiteral("espalier-train --help");
        QTest::newRow("version") << none << QStringList{"--version"} << 0 << "espalier ";
        QTest::newRow("help") << none << QStringList{"--help"} << 0 << "--replay";
        QTest::newRow("help, a dead display") << dead << QStringList{"--help"} << 0 << "--replay";
        QTest::newRow("no display") << none << QStringList{} << 2 << other_program;
        QTest::newRow("a dead display") << dead << QStringList{} << 2 << other_program;
        QTest::newRow("a dead display far away") << "DISPLAY=localhost:77.0" << QStringList{} << 2 << other_program;
        QTest::newRow("a dead compositor") << "WAYLAND_DISPLAY=wayland-77" << QStringList{} << 2 << other_program;
        QTest::newRow("no such platform") << "QT_QPA_PLATFORM=abacus" << QStringList{} << 2 << other_program;
        QTest::newRow("platform as an argument") << none << QStringList{"-platform", "abacus"} << 2 << other_program;
        QTest::newRow("two paths") << none << QStringList{"/tmp/a", "/tmp/b"} << 2 << "one path at a time";
        QTest::newRow("no such option") << none << QStringList{"--colour"} << 2 << "colour";
        for (const char* speed : {"abc", "-1", "nan", "inf", "1,5", "2x", ""})
            QTest::addRow("speed %s", speed)
                << offscreen << QStringList{"--replay", "/nowhere", "--speed", speed} << 2 << "takes a number such as";
        QTest::newRow("speed of nothing") << offscreen << QStringList{"--speed", "2"} << 2 << "goes with --replay";
        QTest::newRow("no run to replay") << offscreen << QStringList{"--replay", "/nowhere"} << 2 << "/nowhere";
    }
    void without_a_window() {
        QFETCH(QString, display);
        QFETCH(QStringList, arguments);
        QFETCH(int, code);
        QFETCH(QString, words);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(name));
        if (!display.isEmpty())
            environment.insert(display.section(QLatin1Char('='), 0, 0), display.section(QLatin1Char('='), 1));
        const QTemporaryDir own; // Qt warns of a folder that others may read
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), own.path());
        QProcess program;
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::MergedChannels);
        program.start(QStringLiteral(ESPALIER_PROGRAM), arguments);
        QVERIFY(program.waitForFinished(20000));
        const QByteArray said = program.readAll();
        QVERIFY2(program.exitStatus() == QProcess::NormalExit, said);
        QVERIFY2(program.exitCode() == code, said);
        QVERIFY2(said.contains(words.toUtf8()), said);
        QVERIFY2(code == 0 || said.count('\n') == 1, said);
    }

    void every_option_is_explained_in_the_man_page() {
        QProcess program;
        program.start(QStringLiteral(ESPALIER_PROGRAM), {QStringLiteral("--help")});
        QVERIFY(program.waitForFinished(20000));
        auto help = program.readAllStandardOutput();
        QStringList options;
        static const QRegularExpression option(QStringLiteral("^  (?:-., )?.*?(--[a-z-]+(?: <[^>]*>)?)"),
                                               QRegularExpression::MultilineOption);
        for (auto found = option.globalMatch(QString::fromUtf8(help)); found.hasNext();)
            options.append(found.next().captured(1).remove(QLatin1Char('<')).remove(QLatin1Char('>')));
        QVERIFY2(options.size() >= 5, help);
        const espalier::test::ManPage page(ESPALIER_MAN_PAGE);
        const auto explained = espalier::test::ManPage::options_in(page.section("OPTIONS"));
        for (const QString& one : options)
            QVERIFY2(explained.contains(one.toStdString()), qPrintable(one));
        help.replace('<', "").replace('>', "");
        for (const auto& one : explained)
            QVERIFY2(help.contains(one.c_str()), one.c_str());
    }
};

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_program.moc"
