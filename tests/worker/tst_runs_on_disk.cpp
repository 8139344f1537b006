// SPDX-License-Identifier: Apache-2.0
// The folders that the real espalier-train makes for runs: what stands in their way, full disks, two runs at once.
#include "train_program.h"
#include "worker/protocol.h"

#include <unistd.h>

#include <QProcess>
#include <QtTest>
#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>

using namespace espalier;

class TestRunsOnDisk : public QObject, private test::TrainProgram {
    Q_OBJECT

private Q_SLOTS:
    /// Whatever stands in the way of a run's folder is named, with what to do, as a failure and no bad configuration.
    void a_folder_that_cannot_be_made_is_named() {
        QFile file(folder_.filePath("file"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (const QString& out : {folder_.filePath("file"), folder_.filePath("file/below")}) {
            const auto refused = run({"run", "--preset", "quick", "--out", out});
            QCOMPARE(refused.code, 2);
            QVERIFY2(refused.errors.contains("A file stands where a folder should be"), refused.errors);
        }
        const auto endless = folder_.filePath(QString("a").repeated(300));
        const auto refused = run({"run", "--preset", "quick", "--out", endless});
        QVERIFY2(refused.errors.contains("choose a shorter one"), refused.errors);
        for (const QStringList& reads : {QStringList{"export", endless, "--format", "safetensors", "--out", "x"},
                                         QStringList{"predict", endless, endless}, QStringList{"eval", endless}}) {
            const auto errors = run(reads).errors;
            QVERIFY2(!errors.isEmpty() && !errors.contains("filesystem error"), errors);
        }
        const auto deep = folder_.filePath("missing/parents/run"); // made, as mkdir -p does
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", deep}).code, 0);
    }

    /// A file that is opened gets the lowest free number: that of a stream that is closed, and then what is printed.
    void what_is_printed_is_in_no_file_of_a_run() {
        const auto out = folder_.filePath("mute");
        QProcess process;
        process.setChildProcessModifier([] {
            for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
                ::close(stream);
        });
        process.start(ESPALIER_TRAIN, QStringList{"run"} + tiny + QStringList{"--set", "epochs=100000", "--out", out});
        QTRY_VERIFY_WITH_TIMEOUT(read(out + "/events.jsonl").contains("\"type\":\"epoch\""), patient);
        const auto lock = read(out + "/supervisor.lock");
        QVERIFY2(lock.startsWith(QByteArray::number(process.processId()) + '\n') && !lock.contains("Epoch"), lock);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(patient));
        QCOMPARE(process.exitCode(), 6);
        for (const auto& line : read(out + "/events.jsonl").trimmed().split('\n'))
            QVERIFY2(Json::accept(line.toStdString()), line);
    }

    /// At every size of a disk that is too small the run fails in the system's words.
    void a_full_disk_is_named_data() {
        QTest::addColumn<QString>("options");
        QTest::addColumn<QByteArray>("words");
        for (const char* size : {"4k", "8k", "12k", "16k", "24k"})
            QTest::newRow(size) << QString("size=%1").arg(size) << QByteArray("No space left on device");
        QTest::newRow("read-only") << QString("ro") << QByteArray("Read-only file system");
    }
    void a_full_disk_is_named() {
        QFETCH(QString, options);
        QFETCH(QByteArray, words);
        const auto disk = folder_.filePath("disk");
        QDir().mkpath(disk);
        QProcess process;
        process.start("unshare",
                      {"-r", "-m", "sh", "-c",
                       QString("mount -t tmpfs -o %1 none '%2' || exit 99; exec '%3' run --preset quick --data "
                               "synthetic:1x8x8,2,64 --set threads=1 --set epochs=2 --out '%2/run'")
                           .arg(options, disk, ESPALIER_TRAIN)});
        const bool ran = process.waitForStarted(patient) && process.waitForFinished(patient);
        const auto errors = process.readAllStandardError();
        if (!ran || process.exitCode() == 99 || errors.startsWith("unshare"))
            QSKIP("this system lets no test mount a small disk");
        const auto output = process.readAllStandardOutput() + errors;
        QVERIFY2(process.exitCode() == 1, output);
        QVERIFY2(output.contains(words), output);
        QVERIFY2(output.contains("choose another folder"), output);
    }

    /// Two programs and one folder: one run is begun, the other refused before it touches anything.
    void of_two_runs_in_one_folder_one_is_refused() {
        for (int round = 0; round < 10; ++round) {
            const auto out = folder_.filePath(QString("contested%1").arg(round));
            std::vector<std::unique_ptr<QProcess>> both;
            for (const char* seed : {"seed=1", "seed=2"}) {
                both.push_back(std::make_unique<QProcess>());
                both.back()->start(ESPALIER_TRAIN, QStringList{"run"} + tiny +
                                                       QStringList{"--set", "epochs=1", "--set", seed, "--out", out});
            }
            QList<int> codes;
            for (auto& process : both) {
                QVERIFY(process->waitForFinished(patient));
                codes.append(process->exitCode());
            }
            std::sort(codes.begin(), codes.end());
            QCOMPARE(codes, (QList<int>{0, 2}));
            const auto refused = both[0]->exitCode() == 2 ? 0U : 1U;
            QVERIFY(both[refused]->readAllStandardError().contains("is not empty"));
            const auto config = Json::parse(read(out + "/config.json").toStdString());
            QCOMPARE(config.at("seed"), Json(refused == 0 ? 2 : 1));
        }
    }

    void runs_of_one_instant_have_folders_of_their_own() {
        const auto runs = folder_.filePath("instant");
        std::vector<std::unique_ptr<QProcess>> all;
        for (int i = 0; i < 8; ++i) {
            all.push_back(std::make_unique<QProcess>());
            all.back()->start(ESPALIER_TRAIN,
                              QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--runs", runs});
        }
        for (auto& process : all) {
            QVERIFY(process->waitForFinished(patient));
            QCOMPARE(process->exitCode(), 0);
        }
        QCOMPARE(QDir(runs).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 8);
        QCOMPARE(Json::parse(run({"runs", "--runs", runs, "--json"}).output.toStdString()).at("runs").size(),
                 std::size_t{8});
    }
};

QTEST_GUILESS_MAIN(TestRunsOnDisk)
#include "tst_runs_on_disk.moc"
