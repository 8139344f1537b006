// SPDX-License-Identifier: Apache-2.0
// What the real espalier-train prints, lists and leaves behind, after a signal and in other languages, too. Its
// refusals: tst_exit_codes.
#include "schema_check.h"
#include "train_program.h"
#include "worker/event_files.h"
#include "worker/protocol.h"

#include <QProcess>
#include <QtTest>
#include <csignal>

using namespace espalier;

class TestCommandLine : public QObject, private test::TrainProgram {
    Q_OBJECT

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

    /// The convolutions' library waits for the threads that it was promised.
    void runs_end_whatever_openmp_is_told_data() {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::newRow("one thread at most") << "OMP_THREAD_LIMIT"
                                            << "1";
        QTest::newRow("two at most") << "OMP_THREAD_LIMIT"
                                     << "2";
        QTest::newRow("as many as are idle") << "OMP_DYNAMIC"
                                             << "true";
        QTest::newRow("no level of threads") << "OMP_MAX_ACTIVE_LEVELS"
                                             << "0";
    }
    void runs_end_whatever_openmp_is_told() {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QProcessEnvironment environment;
        environment.insert(variable, value);
        const auto finished = run({"run", "--preset", "quick", "--data", "synthetic:1x28x28,10,256", "--set",
                                   "threads=3", "--set", "epochs=1"},
                                  environment);
        QVERIFY2(finished.code == 0, finished.output + finished.errors);
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

    /// Files and lines are the same whatever the user's language: two runs of one seed, but for the times in them.
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
