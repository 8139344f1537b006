// SPDX-License-Identifier: Apache-2.0
#include "io/zip_archive.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;

class TestZipArchive : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Another program's reader takes every file out as it went in.
    void python_reads_it() {
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty())
            QSKIP("There is no python3 to read it with.");
        const std::string text(200'000, 'a'), bytes("\0\xff\n zip", 7);
        ZipArchive archive;
        archive.add("long.txt", text);
        archive.add("with space/ö.bin", bytes);
        archive.add("empty", "");
        QTemporaryDir folder;
        const QString file = folder.filePath("a.zip");
        const auto whole = std::move(archive).finish();
        QVERIFY(whole.size() < 2000);
        std::ofstream(file.toStdString(), std::ios::binary) << whole;
        QProcess process;
        process.start(python, {"-c",
                               "import sys, zipfile\n"
                               "z = zipfile.ZipFile(sys.argv[1])\n"
                               "assert z.testzip() is None\n"
                               "print([(i.filename, len(z.read(i)), z.read(i)[-6:]) for i in z.infolist()])",
                               file});
        QVERIFY(process.waitForFinished());
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
        QCOMPARE(QString::fromUtf8(process.readAllStandardOutput().trimmed()),
                 QStringLiteral("[('long.txt', 200000, b'aaaaaa'), ('with space/ö.bin', 7, b'\\xff\\n zip'), ('empty', "
                                "0, b'')]"));
    }

    void nothing_is_an_archive_too() { QCOMPARE(ZipArchive().finish(), std::string("PK\x05\x06").append(18, '\0')); }
};

QTEST_GUILESS_MAIN(TestZipArchive)
#include "tst_zip_archive.moc"
