// SPDX-License-Identifier: GPL-3.0-or-later
// The program `espalier` as it is started: what it answers where it opens no window.
#include <QProcess>
#include <QTest>

class TestProgram : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void without_a_window_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("words");
        QTest::newRow("version") << QStringList{"--version"} << 0 << "espalier ";
        QTest::newRow("help") << QStringList{"--help"} << 0 << "--replay";
        QTest::newRow("no display") << QStringList{} << 1 << "espalier-train";
        QTest::newRow("two paths") << QStringList{"/tmp/a", "/tmp/b"} << 2 << "one path at a time";
    }
    void without_a_window() {
        QFETCH(QStringList, arguments);
        QFETCH(int, code);
        QFETCH(QString, words);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(name));
        QProcess program;
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::MergedChannels);
        program.start(QStringLiteral(ESPALIER_PROGRAM), arguments);
        QVERIFY(program.waitForFinished(20000));
        const QByteArray said = program.readAll();
        QCOMPARE(program.exitStatus(), QProcess::NormalExit);
        QVERIFY2(program.exitCode() == code, said);
        QVERIFY2(said.contains(words.toUtf8()), said);
    }
};

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_program.moc"
