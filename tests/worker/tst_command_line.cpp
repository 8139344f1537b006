// SPDX-License-Identifier: Apache-2.0
// What the real espalier-train writes and leaves behind; signals, disks, locales. Its refusals: tst_exit_codes.
#include "io/checkpoint.h"
#include "io/onnx_export.h"
#include "schema_check.h"
#include "train_program.h"
#include "worker/event_files.h"
#include "worker/protocol.h"

#include <QImage>
#include <QProcess>
#include <QtTest>
#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>
#ifndef Q_OS_WIN
#include <sys/stat.h>
#endif

using namespace espalier;

class TestCommandLine : public QObject, private test::TrainProgram {
    Q_OBJECT

    /// A run on two photos of each of two classes, which it makes.
    QStringList small_photos(const QString& name) const {
        for (const QString of_class : {"/a", "/b"}) {
            QDir(folder_.path()).mkpath(name + of_class);
            for (const QString file : {"/1.pgm", "/5.pgm"})
                (void)written(name + of_class + file, "P2 16 16 255\n" + QByteArray("9 ").repeated(256));
        }
        return {"run",     "--preset", "quick",    "--data",        "folder:" + folder_.filePath(name),
                "--set",   "epochs=1", "--set",    "image_size=16", "--set",
                "batch=2", "--set",    "threads=1"};
    }

private Q_SLOTS:
    void a_run_that_waited_keeps_its_record() {
        const QDir runs(folder_.filePath("waited"));
        QCOMPARE(
            run({"run", "--preset", "quick", "--set", "data=folder:/nowhere", "--runs", runs.path(), "--queue"}).code,
            3);
        const auto listed = Json::parse(run({"runs", "--runs", runs.path(), "--json"}).output.toStdString()).at("runs");
        QCOMPARE(listed.size(), std::size_t{1});
        QCOMPARE(listed[0].at("state"), Json("failed"));
        QVERIFY(listed[0].at("reason").get<std::string>().find("/nowhere") != std::string::npos);
    }

    void a_run_in_a_pipe_prints_plain_lines() {
        const auto out = folder_.filePath("plain");
        const auto finished = run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=2", "--out", out});
        QCOMPARE(finished.code, 0);
        QVERIFY(finished.output.contains("Epoch 2/2"));
        QVERIFY(finished.output.contains("Finished."));
        QVERIFY(!finished.output.contains('\r'));
        QCOMPARE(run({"run", "--preset", "quick", "--out", out}).code, 2); // the folder is taken

        // The run's log says the same, each line with its time.
        QByteArrayList told;
        for (const auto& line : read(out + "/log.txt").split('\n'))
            if (!line.isEmpty()) {
                const auto at = line.indexOf("  ");
                QVERIFY2(QDateTime::fromString(line.left(at), Qt::ISODate).isValid(), line.constData());
                told << line.mid(at + 2);
            }
        QCOMPARE(told.join('\n') + '\n', finished.output.mid(finished.output.indexOf('\n') + 1));

        const auto evaluated = run({"eval", out, "--data", "synthetic:1x16x16,2,128", "--json"});
        QCOMPARE(evaluated.code, 0);
        QVERIFY(Json::parse(evaluated.output.toStdString()).at("accuracy").get<double>() > 0.5);
        QCOMPARE(run({"eval", out, "--data", "builtin"}).code, 3); // other images

        // Without data those of the run, with what it held back; also for a file in it, but not for one elsewhere.
        const auto held_back = run({"eval", out}).output;
        QVERIFY2(held_back.startsWith("validation: 32 images, "), held_back);
        const auto best = out + "/checkpoints/best.safetensors", elsewhere = folder_.filePath("lone.safetensors");
        QCOMPARE(run({"eval", best}).output, held_back);
        QVERIFY(run({"eval", best, "--confusion"}).output.startsWith(held_back.trimmed()));
        QVERIFY(QFile::copy(best, elsewhere));
        for (const QStringList& more : {QStringList{}, QStringList{"--confusion"}}) {
            const auto unknown = run(QStringList{"eval", elsewhere} + more);
            QCOMPARE(unknown.code, 2);
            QVERIFY2(unknown.errors.contains("--data SPEC"), unknown.errors);
        }

        // More epochs after the end.
        const auto more = run({"resume", out, "--set", "epochs=3", "--json"});
        QCOMPARE(more.code, 0);
        const SchemaCheck schema(ESPALIER_SCHEMA);
        for (const auto& line : more.output.split('\n'))
            if (!line.isEmpty()) {
                const auto event = protocol::parse_line(line.toStdString());
                QVERIFY2(event.has_value(), line.constData());
                QCOMPARE(QString::fromStdString(schema.event_fault(*event)), QString());
            }
        const auto attached = run({"attach", out});
        QCOMPARE(attached.code, 0);
        QVERIFY(attached.output.contains("Epoch 3/3"));
    }

    void a_refused_resume_leaves_the_run_as_it_was_data() {
        QTest::addColumn<QString>("change");
        QTest::addColumn<int>("code");
        QTest::newRow("nothing left") << QString() << 2;
        QTest::newRow("fewer epochs") << QString("epochs=1") << 2;
        QTest::newRow("no such data") << QString("data=idx:/nowhere") << 3;
        QTest::newRow("other classes") << QString("data=synthetic:1x16x16,3,128") << 3;
        QTest::newRow("another network") << QString("network.widths=[4,4]") << 3;
        QTest::newRow("a crop of the images' size") << QString("augmentation.crop=16") << 2;
        QTest::newRow("less memory than a step takes") << QString("epochs=3 memory_limit_mib=1") << 5;
        QTest::newRow("unknown key") << QString("epoch=9") << 2;
    }
    void a_refused_resume_leaves_the_run_as_it_was() {
        QFETCH(QString, change);
        QFETCH(int, code);
        const auto out = folder_.filePath("refused");
        if (!QFile::exists(out))
            QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=2", "--out", out}).code, 0);
        const auto config = read(out + "/config.json"), events = read(out + "/events.jsonl");
        auto arguments = QStringList{"resume", out};
        for (const auto& setting : change.split(' ', Qt::SkipEmptyParts))
            arguments += {"--set", setting};
        const auto refused = run(arguments);
        QCOMPARE(refused.code, code);
        QVERIFY(!refused.errors.isEmpty());
        QCOMPARE(read(out + "/config.json"), config);
        QCOMPARE(read(out + "/events.jsonl"), events); // still finished
    }

    /// Which only decoding tells: the run has its folder by then, and leaves none.
    void a_run_of_which_too_many_photos_cannot_be_decoded_leaves_no_folder() {
        const auto train = [&, good = small_photos("photos")](const QString& share, const QStringList& more) {
            return run(good + QStringList{"--set", "max_bad_share=" + share} + more);
        };
        for (const char* file :
             {"photos/a/2.jpg", "photos/a/3.jpg", "photos/b/2.jpg", "photos/b/3.jpg", "photos/b/4.jpg"})
            (void)written(file, {});
        const QDir runs(folder_.filePath("bad photos"));
        const QString out = folder_.filePath("bad photos too");
        for (const auto& place : {QStringList{"--runs", runs.path()}, {"--out", out}, {"--out", out, "--json"}}) {
            const auto refused = train("0.5", place);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.output.contains("5 of 9 image files cannot be used"), refused.output);
            QVERIFY2((refused.output + refused.errors).contains("the run's folder is removed"), refused.output);
            QVERIFY(runs.isEmpty() && !QFile::exists(out));
        }
        QCOMPARE(train("0.6", {"--out", out}).code, 0);
        QVERIFY(QFile::remove(folder_.filePath("photos/a/1.pgm")) && QFile::remove(folder_.filePath("photos/a/5.pgm")));
        QCOMPARE(run({"resume", out, "--set", "epochs=2"}).code, 3); // it has been trained before
        QVERIFY(QFile::exists(out + "/checkpoints/last.safetensors"));
    }

    void an_image_that_cannot_be_used_holds_up_none_of_the_others() {
        const auto out = folder_.filePath("predicts");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto good = written("good.pgm", "P2 2 2 255 0 9 99 255\n"), late = written("late.pgm", "P2 1 1 255 7\n"),
                   text = written("text.jpg", "this is no image at all"),
                   document = written("document.png", "%PDF-1.7 and so on and so on"),
                   none = folder_.filePath("none.png");
        QCOMPARE(run({"predict", out, good, late}).code, 0);
        const QStringList images{none, good, text, document, folder_.path(), late};
        const auto some = run(QStringList{"predict", out} + images);
        QCOMPARE(some.code, 3);
        QVERIFY2(some.output.contains(good.toUtf8()) && some.output.contains(late.toUtf8()), some.output);
        for (const auto& bad : {none, text, document, folder_.path()})
            QVERIFY2(some.errors.contains('\'' + bad.toUtf8() + '\''), some.errors);
        QVERIFY2(some.errors.contains(". These formats can be read here: "), some.errors);
        QVERIFY2(some.errors.contains("it is a PDF document"), some.errors);
        QVERIFY2(some.errors.contains("4 of 6 images could not be used"), some.errors);

        const auto lines = run(QStringList{"predict", out, "--json"} + images).output.trimmed().split('\n');
        QCOMPARE(lines.size(), images.size());
        for (qsizetype i = 0; i < images.size(); ++i) {
            const auto answer = Json::parse(lines[i].toStdString());
            QCOMPARE(QString::fromStdString(answer.at("image")), images[i]);
            QCOMPARE(answer.contains("classes"), images[i] == good || images[i] == late);
            QCOMPARE(answer.contains("error"), !answer.contains("classes"));
        }
    }

    /// What `export --format network` writes is the same network again, for whatever reads it.
    void a_network_comes_back_from_its_json_data() {
        QTest::addColumn<QString>("network");
        QTest::newRow("quick") << R"({"network": "quick", "widths": [4, 8]})";
        QTest::newRow("resnet") << R"({"network": "resnet", "base_width": 4, "stages": [1, 1]})";
        QTest::newRow("supernet") << R"({"network": "supernet", "init_channels": 2, "layers": 3})";
        QTest::newRow("genotype") << R"({"network": "genotype", "init_channels": 2, "layers": 3})";
        QTest::newRow("growing") << R"({"network": "growing"})";
    }
    void a_network_comes_back_from_its_json() {
        QFETCH(QString, network);
        const auto out = folder_.filePath("as-json"), again = folder_.filePath("from-json");
        QDir(out).removeRecursively();
        QDir(again).removeRecursively();
        const auto config =
            QString(R"({"network": %1, "data": "synthetic:1x16x16,2,32", "batch": 16, "epochs": 1})").arg(network);
        const auto trained = run({"run", "--config", written("network-config.json", config.toUtf8()), "--out", out});
        QVERIFY2(trained.code == 0, trained.errors);
        const auto file = folder_.filePath("new/folders/" + QString(QTest::currentDataTag()) + ".json");
        QDir(folder_.filePath("new")).removeRecursively();
        const auto exported = run({"export", out, "--format", "network", "--out", file});
        QCOMPARE(exported.code, 0);
        QCOMPARE(exported.output.count("Folder made: "), 2);
        const auto json = Json::parse(read(file).toStdString());
        QCOMPARE(json, read_checkpoint_info((out + "/checkpoints/last.safetensors").toStdString()).network.to_json());

        const auto second = run({"run", "--network", file, "--data", "synthetic:1x16x16,2,32", "--set", "batch=16",
                                 "--set", "epochs=1", "--out", again});
        QVERIFY2(second.code == 0, second.errors);
        QCOMPARE(Json::parse(read(again + "/config.json").toStdString()).at("network"), json);
        QCOMPARE(run({"export", again, "--format", "network", "--out", file}).output.count("Folder made: "), 0);
        QCOMPARE(Json::parse(read(file).toStdString()), json);
    }

    /// As an export's.
    void the_folders_of_a_report_are_made_and_named() {
        const auto out = folder_.filePath("reported"), file = folder_.filePath("reports/of/today.zip");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        QCOMPARE(run({"report", out, "--out", file}).output.count("Folder made: "), 2);
        QVERIFY(QFile::exists(file));
        const auto refused = run({"report", out, "--out", folder_.path()});
        QCOMPARE(refused.code, 2);
        QVERIFY2(refused.errors.contains("is a folder"), refused.errors);
    }

    void an_export_that_fails_leaves_no_folder() {
        const auto out = folder_.filePath("no-genotype"), file = folder_.filePath("other/folders/genotype.json");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        QCOMPARE(run({"export", out, "--format", "genotype", "--out", file}).code, 2);
        QVERIFY(!QFile::exists(folder_.filePath("other")));
    }

    void an_export_spares_the_files_of_a_run() {
        const auto out = folder_.filePath("exported");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto config = read(out + "/config.json");
        const auto to = [&](const QString& place) {
            return run({"export", out, "--format", "safetensors", "--out", place}).code;
        };
        QCOMPARE(to(out + "/config.json"), 2);
        QCOMPARE(to(out + "/checkpoints/best.safetensors"), 2);
        QCOMPARE(to(folder_.path()), 2);
        QCOMPARE(read(out + "/config.json"), config);
        QCOMPARE(to(out + "/exports/network.safetensors"), 0);
        QCOMPARE(to(folder_.filePath("network.safetensors")), 0);
    }

    void an_onnx_file_is_compared_before_it_stands_there() {
        if (!why_no_onnx().empty())
            QSKIP("this build has no ONNX library");
        const auto out = folder_.filePath("to-onnx"), file = out + "/exports/network.onnx";
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto exported = run({"export", out, "--format", "onnx", "--out", file, "--json"});
        QVERIFY2(exported.code == 0, exported.errors);
        const auto answer = Json::parse(exported.output.toStdString());
        const auto& compared = answer.at("compared");
        QVERIFY(compared.at("images").get<int>() > 0);
        QVERIFY(compared.at("origin").get<std::string>().starts_with("synthetic:1x16x16,2,128"));
        QVERIFY(compared.at("largest_difference").get<double>() <= compared.at("tolerance").get<double>());
        check_onnx(read(file).toStdString());
        QVERIFY(run({"export", out, "--format", "onnx", "--out", file}).output.contains("differ by at most"));

        const auto refused = run({"export", out, "--format", "onyx", "--out", folder_.filePath("network.onyx")});
        QCOMPARE(refused.code, 2);
        QVERIFY(!QFile::exists(folder_.filePath("network.onyx")));
    }

    /// An image's fault is said once, with its name: a decoder's own words would stand among ours without one.
    void a_damaged_image_is_told_of_once() {
        const auto photos = folder_.filePath("photos");
        QDir().mkpath(photos + "/a");
        QImage photo(300, 200, QImage::Format_RGB888);
        for (int i = 0; i < 300 * 200; ++i)
            photo.setPixel(i % 300, i / 300, static_cast<uint>(i) * 2654435761u);
        for (const char* name : {"1", "2", "3"})
            QVERIFY(photo.save(photos + "/a/" + name + ".jpg"));
        const auto whole = read(photos + "/a/1.jpg"), half = whole.first(whole.size() * 9 / 10),
                   without_a_part = whole.first(whole.size() / 3) + whole.mid(whole.size() / 2);
        (void)written("photos/a/1.jpg", half);
        (void)written("photos/a/2.jpg", without_a_part);
        const auto scan = run({"scan", "folder:" + photos});
        QCOMPARE(scan.errors, QByteArray());
        QVERIFY2(scan.output.contains("1.jpg' is cut off"), scan.output);
        QVERIFY2(scan.output.contains("2.jpg' is damaged"), scan.output);
    }

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

#ifdef Q_OS_LINUX
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

    /// Numbers in files and answers do not follow the user's language, here those with other commas and letters.
    void locales_change_no_byte() {
        const auto locales = folder_.filePath("locales");
        QDir().mkpath(locales);
        const auto out_of = [&](const QString& locale) {
            const auto out = folder_.filePath("in-" + locale);
            QProcessEnvironment environment;
            environment.insert("LOCPATH", locales);
            environment.insert("LC_ALL", locale);
            QProcessEnvironment spoken = environment;
            if (run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=2", "--out", out}, spoken).code != 0)
                return QByteArray("failed");
            QByteArray bytes;
            for (auto line : read(out + "/metrics.csv").split('\n'))
                bytes += line.left(line.lastIndexOf(',')) + '\n'; // all but the seconds
            auto passport = Json::parse(read(out + "/config.json").toStdString()).dump();
            bytes += QByteArray::fromStdString(passport);
            bytes += run({"plan", "--preset", "quick", "--set", "memory_limit_mib=4096"}, spoken).output;
            bytes += run({"eval", out, "--data", "synthetic:1x16x16,2,128", "--json"}, spoken).output;
            bytes += run({"scan", "builtin", "--json"}, spoken).output;
            return bytes;
        };
        for (const char* language : {"de_DE", "tr_TR"})
            if (QProcess::execute("localedef", {"-i", language, "-f", "UTF-8", locales + '/' + language + ".UTF-8"}) !=
                0)
                QSKIP("localedef, or its sources of locales, are missing");
        const auto expected = out_of("C");
        QVERIFY(expected.contains("0."));
        QCOMPARE(out_of("de_DE.UTF-8"), expected);
        QCOMPARE(out_of("tr_TR.UTF-8"), expected);
    }
#endif

#ifndef Q_OS_WIN
    void a_pipe_is_no_data() {
        QDir(folder_.path()).mkpath("pipe");
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
            QCOMPARE(mkfifo(QFile::encodeName(folder_.filePath(QString("pipe/") + name)).constData(), 0600), 0);
        QCOMPARE(run({"scan", "idx:" + folder_.filePath("pipe")}).code, 3);
        QVERIFY(run({"scan", "idx:" + folder_.filePath("pipe")}).output.contains("pipe or a device"));
    }
#endif

    void runs_come_newest_first() {
        const auto runs = folder_.filePath("several");
        for (const char* name : {"z", "a", "m"})
            QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", runs + '/' + name}).code,
                     0);
        const auto listed = run({"runs", "--runs", runs, "--json"});
        QStringList names;
        const auto answer = Json::parse(listed.output.toStdString());
        for (const auto& one : answer.at("runs"))
            names.append(QString::fromStdString(one.at("name").get<std::string>()));
        QCOMPARE(names, (QStringList{"m", "a", "z"}));
    }

    void a_run_that_never_validated_has_no_best() {
        const auto runs = folder_.filePath("never validated");
        const auto train = [&](const char* share) { // of two images of each class
            return run(small_photos("few photos") +
                       QStringList{"--runs", runs, "--set", "validation_share=" + QString(share)})
                .code;
        };
        QCOMPARE(train("0.1"), 0);
        const auto listed = [&] { return run({"runs", "--runs", runs}).output; };
        QVERIFY2(listed().contains("best - ") && !listed().contains('%'), listed().constData());
        const auto answer = Json::parse(run({"runs", "--runs", runs, "--json"}).output.toStdString());
        QCOMPARE(QString::fromStdString(SchemaCheck(ESPALIER_SCHEMA).fault(answer, "answer.runs")), QString());
        QVERIFY(answer.at("runs").at(0).at("best_accuracy").is_null());
        QCOMPARE(train("0.5"), 0);
        QVERIFY2(listed().contains(" %"), listed().constData());
    }

    void ctrl_c_stops_with_a_checkpoint() {
        const auto out = folder_.filePath("interrupted");
        QProcess process;
        process.start(ESPALIER_TRAIN, QStringList{"run"} + tiny + QStringList{"--set", "epochs=100000", "--out", out});
        QVERIFY(process.waitForStarted(patient));
        QTRY_VERIFY_WITH_TIMEOUT(last_step_of(out.toStdString()) > 0, patient);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(patient));
        QCOMPARE(process.exitCode(), 6);
        QVERIFY(QFile::exists(out + "/checkpoints/last.safetensors"));
    }

    void ctrl_c_twice_stops_at_once() {
        const auto out = folder_.filePath("twice");
        QProcess process;
        process.start(ESPALIER_TRAIN, QStringList{"run"} + tiny + QStringList{"--set", "epochs=100000", "--out", out});
        QTRY_VERIFY_WITH_TIMEOUT(last_step_of(out.toStdString()) > 0, patient);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(patient));
        QCOMPARE(process.exitCode(), 6);
    }

    /// The log-off: the run is neither stopped nor failed, and can be resumed.
    void a_log_off_interrupts() {
        const auto out = folder_.filePath("log-off");
        QProcess process;
        process.start(ESPALIER_TRAIN, QStringList{"run"} + tiny + QStringList{"--set", "epochs=100000", "--out", out});
        QTRY_VERIFY_WITH_TIMEOUT(last_step_of(out.toStdString()) > 0, patient);
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        QVERIFY(process.waitForFinished(patient));
        QVERIFY(read(out + "/events.jsonl").contains("\"interrupted\""));
        QVERIFY(QFile::exists(out + "/checkpoints/last.safetensors"));
    }

    /// Files and lines are the same whatever the user's language: two runs of one seed, but for the times in them.
    /// As tests/bench/bench_torch.py names them, so that both sides can be put beside each other.
    void a_benchmark_is_named_by_its_case() {
        const auto finished =
            run({"bench", "step", "--network", "quick", "--batch", "4", "--seconds", "0.1", "--json"});
        QCOMPARE(finished.code, 0);
        QVERIFY2(finished.output.contains("{\"name\":\"step/quick/b4/fp32\","), finished.output);
    }

    /// In what a backend computes in; the rest is left out, and said.
    void every_backend_can_be_measured() {
        for (const auto& [kind, its_case] : {std::pair{"conv", "32x16x7x7"}, std::pair{"sepconv", "64x64x8_k3"}}) {
            const auto finished = run({"bench", kind, its_case, "--backend", "cpu", "--json"});
            QVERIFY2(finished.code == 0, finished.errors);
            QCOMPARE(finished.output.count('\n'), 1);
            QVERIFY2(finished.output.startsWith(QByteArray("{\"name\":\"") + kind + "/" + its_case) &&
                         finished.output.contains("/fp32\""),
                     finished.output);
            QVERIFY2(finished.errors.contains("cpu does not compute in them: tf32, fp16"), finished.errors);
        }
    }

    void a_precision_that_the_processor_has_not_is_named() {
        const QStringList on_cpu{"--set", "backend=cpu", "--set"};
        for (const char* precision : {"fp16", "bf16"}) {
            const auto refused =
                run(QStringList{"plan"} + tiny + on_cpu + QStringList{QString("toggles.precision=") + precision});
            QCOMPARE(refused.code, 2);
            QVERIFY2(refused.errors.contains(QByteArray("computes in fp32, not in ") + precision +
                                             ". Choose the precision auto or fp32."),
                     refused.errors);
        }
        const auto tf32 = run(QStringList{"plan", "--json"} + tiny + on_cpu + QStringList{"toggles.precision=tf32"});
        QVERIFY2(tf32.code == 0 && tf32.output.contains("\"precision\":\"fp32\""), tf32.output); // in which it computes
    }

    void a_plan_that_does_not_fit_names_no_batch_that_does() {
        const auto plan = run(QStringList{"plan"} + tiny + QStringList{"--set", "memory_limit_mib=3"});
        QVERIFY2(plan.output.contains("As asked for it does not fit (at most about "), plan.output);
        QVERIFY2(plan.output.contains(" runs in batches of "), plan.output);
    }

    void numbers_do_not_follow_the_locale() {
        const auto locales = folder_.filePath("locales");
        QDir().mkpath(locales);
        for (const char* name : {"de_DE", "tr_TR"})
            if (QProcess::execute("localedef", {"-i", name, "-f", "UTF-8", locales + "/" + name + ".UTF-8"}) > 1)
                QSKIP("this system cannot make locales");
        QByteArray plain;
        for (const QString locale : {"C", "de_DE.UTF-8", "tr_TR.UTF-8"}) {
            QProcessEnvironment environment;
            environment.insert("LOCPATH", locales);
            environment.insert("LC_ALL", locale);
            environment.insert("LANG", locale);
            const auto out = folder_.filePath("locale-" + locale);
            const auto finished =
                run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--json", "--out", out}, environment);
            QCOMPARE(finished.code, 0);
            QByteArray lines;
            for (const auto& line : finished.output.split('\n')) {
                const auto event = protocol::parse_line(line.toStdString());
                QVERIFY2(event.has_value() || line.isEmpty(), line.constData());
                if (event && protocol::is_event(*event, "steps"))
                    for (const auto& loss : event->at("loss"))
                        lines += QByteArray::fromStdString(loss.dump()) + ' ';
            }
            QVERIFY(!lines.isEmpty());
            QVERIFY(read(out + "/metrics.csv").count(',') > 0);
            if (plain.isEmpty())
                plain = lines;
            QCOMPARE(lines, plain);
        }
        // Byte for byte, apart from the columns that hold times.
        const auto config = read(folder_.filePath("locale-C/config.json"));
        QCOMPARE(read(folder_.filePath("locale-de_DE.UTF-8/config.json")), config);
        QCOMPARE(read(folder_.filePath("locale-tr_TR.UTF-8/config.json")), config);
    }
};

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_command_line.moc"
