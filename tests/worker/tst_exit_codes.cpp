// SPDX-License-Identifier: Apache-2.0
// What the real espalier-train refuses, with which exit code, and what it leaves behind then: nothing.
#include "train_program.h"

#include <QtTest>

using namespace espalier;

class TestExitCodes : public QObject, private test::TrainProgram {
    Q_OBJECT

    QTemporaryDir empty_;

    /// A folder whose files have the right names alone.
    QString damaged_idx() const {
        const QString folder = folder_.filePath("damaged");
        QDir().mkpath(folder);
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
            (void)written(QString("damaged/") + name, "<!DOCTYPE html>");
        return folder;
    }

private Q_SLOTS:
    /// 2: what was typed, be it a name of nothing; 3: data; 1: the work itself. The same in every command.
    void the_exit_code_says_what_happened_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("code");
        const auto row = [](const QStringList& arguments, int code) {
            QTest::addRow("%s", qPrintable(arguments.join(' '))) << arguments << code;
        };
        row({"--help"}, 0);
        row({"--version"}, 0);
        row({}, 2);
        // No such file of settings, network or case.
        for (const char* command : {"run", "plan"})
            for (const char* option : {"--preset", "--config", "--network"})
                row({command, option, "/nowhere"}, 2);
        row({"bench", "step", "--network", "nothing"}, 2);
        row({"bench", "conv", "nothing", "--backend", "cpu"}, 2);
        row({"bench", "sepconv", "nothing", "--backend", "cpu"}, 2);
        // A file where the folder of all runs should be.
        row({"runs", "--runs", ESPALIER_SCHEMA}, 2);
        row({"serve", "--runs", ESPALIER_SCHEMA}, 2);
        for (const char* file : {ESPALIER_SCHEMA, ESPALIER_SCHEMA "/in-it"})
            row({"run", "--preset", "quick", "--data", "synthetic:1x8x8,2,64", "--out", file}, 2);
        // What is no checkpoint.
        row({"eval", ESPALIER_SCHEMA, "--data", "builtin"}, 3);
        row({"predict", ESPALIER_SCHEMA, "image.png"}, 3);
        row({"export", ESPALIER_SCHEMA, "--format", "network", "--out", "network.json"}, 3);
        // What is no configuration.
        row({"run", "--preset", "quick", "--config", written("list.json", "[1, 2]")}, 2);
        row({"run", "--config", written("none.json", "null")}, 2);
        // What is no network.
        row({"plan", "--network", ESPALIER_SCHEMA}, 2);
        // Too little, no number.
        for (const char* command :
             {"run", "resume", "attach", "report", "compare", "scan", "plan", "eval", "predict", "export", "bench"})
            row({command}, 2);
        for (const char* number : {"abc", "-1", "nan", "1e99", "1,5", ""}) {
            for (const char* option : {"--batch", "--threads", "--seconds", "--tuning-seconds"})
                row({"bench", "step", option, number}, 2);
            row({"serve", "--probe-seconds", number}, 2);
            row({"run", "--preset", "quick", "--set", QString("epochs=%1").arg(number)}, 2);
        }
        row({"run", "--preset", "quick", "--name", "a:b"}, 2);
        row({"run", "--preset", "quick", "--set", "epochs"}, 2);
        row({"bench", "step", "--precision", "fp7"}, 2);
        // A backend that is not there.
        for (const char* backend : {"cuda:99", "reference:1", "abacus"}) {
            row({"run", "--preset", "quick", "--set", QString("backend=%1").arg(backend)}, 2);
            row({"plan", "--preset", "quick", "--set", QString("backend=%1").arg(backend)}, 2);
            row({"bench", "step", "--backend", backend}, 2);
        }
        // Data.
        row({"scan", "idx:/nowhere"}, 3);
        row({"plan", "--preset", "quick", "--data", "idx:/nowhere"}, 3);
        row({"run", "--preset", "quick", "--data", "idx:/nowhere"}, 3);
        row({"scan", "nothing"}, 2);
        // All is well.
        for (const char* command : {"probe", "presets", "runs"})
            row({command, "--json"}, 0);
    }
    void the_exit_code_says_what_happened() {
        QFETCH(QStringList, arguments);
        QFETCH(int, code);
        const auto finished = run(arguments);
        QVERIFY2(finished.code == code, QByteArray::number(finished.code) + ": " + finished.errors);
        QVERIFY(code == 0 || !finished.errors.isEmpty() || !finished.output.isEmpty());
        if (code == 2) // one sentence or two, none of the library's own
            QVERIFY2(finished.errors.startsWith("espalier-train: ") && !finished.errors.contains("Run with"),
                     finished.errors);
    }

    void what_is_no_configuration_is_named() {
        const auto file = written("list.json", "[1, 2]");
        for (const auto& before : {QStringList(), QStringList{"--preset", "quick"}}) {
            const auto refused = run(QStringList{"plan"} + before + QStringList{"--config", file});
            QCOMPARE(refused.code, 2);
            QVERIFY2(refused.errors.contains("list.json' holds no configuration") && refused.errors.contains("[1,2]"),
                     refused.errors);
        }
    }

    /// As of the option, so of the variable in its place.
    void a_file_for_the_folder_of_runs_is_refused() {
        QProcessEnvironment extra;
        extra.insert("ESPALIER_RUNS", ESPALIER_SCHEMA);
        for (const auto& command : {QStringList{"runs"}, QStringList{"run", "--preset", "quick"}}) {
            const auto refused = run(command, extra);
            QCOMPARE(refused.code, 2);
            QVERIFY2(refused.errors.contains("ESPALIER_RUNS"), refused.errors);
        }
    }

    /// The commands that `--help` names, so that none is left out: each refuses an option that it has not, and a run or
    /// checkpoint that is not there, in the same way.
    void every_command_refuses_alike() {
        const auto command = QRegularExpression(QStringLiteral("^  ([a-z]+) "), QRegularExpression::MultilineOption);
        const auto place = QRegularExpression(QStringLiteral("^  ([A-Z_]+) "), QRegularExpression::MultilineOption);
        const auto help = run({"--help"}).output;
        int commands = 0, places = 0;
        for (auto found = command.globalMatch(QString::fromUtf8(help)); found.hasNext(); ++commands) {
            const auto name = found.next().captured(1);
            const auto unknown = run({name, "--colour"});
            QVERIFY2(unknown.code == 2 && unknown.errors.contains("espalier-train"), qPrintable(name));
            QStringList arguments{name};
            bool wants_a_run = false;
            for (auto one = place.globalMatch(QString::fromUtf8(run({name, "--help"}).output)); one.hasNext();) {
                const auto what = one.next().captured(1);
                wants_a_run |= what.startsWith("RUN") || what == "CHECKPOINT";
                arguments.append("/nowhere");
            }
            if (!wants_a_run)
                continue;
            ++places;
            if (name == "export")
                arguments += {"--format", "network", "--out", folder_.filePath("network.json")};
            const auto missing = run(arguments);
            QVERIFY2(missing.code == 2 && missing.errors.contains("/nowhere"), name.toUtf8() + ": " + missing.errors);
        }
        QVERIFY2(commands >= 15 && places >= 7, help);
    }

    void a_command_that_is_none_is_named_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("known");
        QTest::newRow("mistyped") << QStringList{"predcit"} << QByteArray("predict");
        QTest::newRow("mistyped, with options") << QStringList{"predcit", "--json"} << QByteArray("predict");
        QTest::newRow("of bench") << QStringList{"bench", "predcit"} << QByteArray("sepconv");
    }
    void a_command_that_is_none_is_named() {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, known);
        const auto refused = run(arguments);
        QCOMPARE(refused.code, 2);
        QVERIFY2(refused.errors.contains("'predcit'") && refused.errors.contains(known), refused.errors);
        QVERIFY2(!refused.errors.contains("worker"), refused.errors); // it is the supervisor's
    }

    /// What cannot begin is an error in words, and leaves nothing in the list of runs; what waits may find its data
    /// later.
    void a_run_that_cannot_begin_leaves_no_folder_data() {
        QTest::addColumn<QString>("data");
        QTest::addColumn<int>("code");
        QTest::newRow("no folder of classes") << "folder:/nowhere/flowers" << 3;
        QTest::newRow("no folder of IDX files") << "idx:/nowhere,classes=10" << 3;
        QTest::newRow("no folder of CIFAR") << "cifar10:/nowhere" << 3;
        QTest::newRow("no table") << "csv:/nowhere/images.csv" << 3;
        QTest::newRow("an empty table") << "csv:" + written("empty.csv", "") << 3;
        QTest::newRow("a table of one column") << "csv:" + written("column.csv", "a.png\nb.png\n") << 3;
        QTest::newRow("a web page for a table")
            << "csv:" + written("page.csv", "<!DOCTYPE html>\n<meta content=\"a, b\">\n") << 3;
        QTest::newRow("a program for a table") << "csv:" ESPALIER_TRAIN << 3;
        QTest::newRow("a table of images that are not there") << "csv:" + written("gone.csv", "a.png,cat\n") << 3;
        QTest::newRow("a folder without classes") << "folder:" + empty_.path() << 3;
        QTest::newRow("a folder without CIFAR") << "cifar10:" + empty_.path() << 3;
        QTest::newRow("a folder without IDX files") << "idx:" + empty_.path() << 3;
        QTest::newRow("IDX files that are none") << "idx:" + damaged_idx() << 3;
        QTest::newRow("a file for a folder") << "folder:" ESPALIER_SCHEMA << 3;
        QTest::newRow("no data set") << "flowers" << 2;
        QTest::newRow("made up wrongly") << "synthetic:0x0x0,2,128" << 2;
    }
    void a_run_that_cannot_begin_leaves_no_folder() {
        QFETCH(QString, data);
        QFETCH(int, code);
        const QDir runs(folder_.filePath("none"));
        const QStringList start{"run", "--preset", "quick", "--set", "data=" + data, "--runs", runs.path()};
        const auto refused = run(start);
        QCOMPARE(refused.code, code);
        const bool says_what_to_do = refused.errors.contains("heck ") || refused.errors.contains(" expected");
        QVERIFY2(code == 3 ? says_what_to_do : refused.errors.contains("synthetic:"), refused.errors);
        QVERIFY2(!refused.output.contains("Run folder"), refused.output);
        QVERIFY(runs.isEmpty());
        const QString out = folder_.filePath("named");
        QCOMPARE(run({"run", "--preset", "quick", "--set", "data=" + data, "--out", out}).code, code);
        QVERIFY(!QFile::exists(out));
    }

    /// What only the data tells: nothing is left, and the fit check, which the window's form shows, says the same.
    void settings_that_do_not_fit_the_data_leave_no_folder_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QByteArray>("words");
        QTest::addColumn<int>("code");
        for (const QString place : {"small", "large"})
            QDir(folder_.path()).mkpath(place + "/a");
        for (const QString file : {"/a/1.pgm", "/a/2.pgm"}) {
            (void)written("small" + file, "P2 3 4 255\n" + QByteArray("9 ").repeated(12));
            (void)written("large" + file, "P2 1100 1 255\n" + QByteArray("9 ").repeated(1100));
        }
        const auto row = [](const char* name, const QStringList& settings, const char* words, int code = 2) {
            QTest::newRow(name) << settings << QByteArray(words) << code;
        };
        row("a crop of the images' size", {"augmentation.crop=28"}, "Set augmentation.crop=27");
        row("a crop of the size that they are scaled to",
            {"data=folder:" + folder_.filePath("small"), "image_size=16", "augmentation.crop=16"},
            "Set augmentation.crop=15");
        row("a crop of the first image's shorter side",
            {"data=folder:" + folder_.filePath("small"), "image_size=0", "augmentation.crop=3"},
            "Set augmentation.crop=2");
        row("a crop of images of one pixel", {"data=synthetic:1x1x1,2,128", "augmentation.crop=1"},
            "Set augmentation.crop=0");
        row("images larger than a network takes", {"data=folder:" + folder_.filePath("large"), "image_size=0"},
            "Set image_size");
        row("less memory than the smallest step takes", {"network.widths=[64,64]", "memory_limit_mib=1"},
            "Set memory_limit_mib=", 5);
    }
    void settings_that_do_not_fit_the_data_leave_no_folder() {
        QFETCH(QStringList, settings);
        QFETCH(QByteArray, words);
        QFETCH(int, code);
        QStringList config{"--preset", "quick"};
        for (const auto& setting : settings)
            config += {"--set", setting};
        const auto out = folder_.filePath("does-not-fit");
        const auto refused = run(QStringList{"run"} + config + QStringList{"--out", out});
        QCOMPARE(refused.code, code);
        QVERIFY2(refused.errors.contains(words), refused.errors);
        QVERIFY2(!refused.output.contains("Run folder"), refused.output);
        QVERIFY(!QFile::exists(out));
        const auto checked = run(QStringList{"plan"} + config);
        QCOMPARE(checked.code, code);
        QCOMPARE(checked.errors, refused.errors);
    }

    void a_run_on_a_device_that_is_not_there_leaves_no_folder() {
        const auto kept = folder_.filePath("on-the-cpu");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", kept}).code, 0);
        const auto config = read(kept + "/config.json");
        for (const QString backend : {"cuda:99", "reference:1"}) {
            const auto out = folder_.filePath("nowhere-to-run");
            const auto refused =
                run(QStringList{"run"} + tiny + QStringList{"--set", "backend=" + backend, "--out", out});
            QVERIFY2(refused.code == 2, refused.errors);
            QVERIFY2(refused.errors.contains(backend.section(':', 0, 0).toUtf8()), refused.errors);
            QVERIFY2(!refused.output.contains("Run folder"), refused.output);
            QVERIFY(!QFile::exists(out));
            const auto resumed = run({"resume", kept, "--set", "epochs=2", "--set", "backend=" + backend});
            QVERIFY2(resumed.code == 2, resumed.errors);
            QCOMPARE(read(kept + "/config.json"), config);
        }
    }
};

QTEST_GUILESS_MAIN(TestExitCodes)
#include "tst_exit_codes.moc"
