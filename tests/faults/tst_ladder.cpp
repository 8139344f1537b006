// SPDX-License-Identifier: Apache-2.0
// Every rung of docs/ARCHITECTURE.md's ladder, on the processor: real supervisor, real workers, injected faults.
#include "backends/why_no_gpu.h"
#include "base/error.h"
#include "faults/faulty_run.h"
#include "io/checkpoint_folder.h"
#include "worker/installed.h"
#include "worker/schema_check.h"

#include <QtTest>
#include <csignal>
#include <fstream>
#include <set>
#include <utility>

using namespace espalier;
using namespace espalier::test;
using namespace std::chrono_literals;

namespace {

using Names = std::vector<std::string>;

constexpr int device_fault = static_cast<int>(ExitCode::device_fault);

Checkpoint last_checkpoint(const FaultyRun& run) {
    return load_checkpoint(CheckpointFolder(run.folder().checkpoints()).last());
}

std::int64_t last_step(const FaultyRun& run) { return last_checkpoint(run).info.step; }

/// Runs it to its end; the whole story if that came otherwise, or by other rungs. Empty if all went as expected.
QString unexpected(FaultyRun& run, int code, const Names& rungs) {
    const int ended = run.run();
    static const SchemaCheck schema(ESPALIER_SCHEMA);
    for (const auto& event : run.events)
        if (const auto fault = schema.event_fault(event); !fault.empty())
            return QString::fromStdString(fault + ": " + event.dump());
    return ended == code && run.rungs() == rungs
               ? QString()
               : QString("It ended with code %1.\n").arg(ended) + QString::fromStdString(run.story());
}

constexpr std::int64_t all_steps = 21; // of the small run: 3 epochs of 7 updates

} // namespace

class TestLadder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void without_faults_there_is_no_rung() {
        FaultyRun run;
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(last_step(run), all_steps);
        QVERIFY(run.faults_left().empty());
    }

    void a_device_error_leads_to_safe_mode_data() {
        QTest::addColumn<QString>("code");
        for (const char* code : {"700", "719", "999"})
            QTest::newRow(code) << code;
    }
    void a_device_error_leads_to_safe_mode() {
        QFETCH(QString, code);
        FaultyRun run({}, "step 7 device_error " + code.toStdString());
        QCOMPARE(unexpected(run, 0, Names{"safe_mode"}), QString());
        QCOMPARE(last_step(run), all_steps);
        QVERIFY(run.faults_left().empty());
        QCOMPARE(run.config().at("toggles").at("safe_mode"), Json(true));
        QCOMPARE(run.first_step(2), std::int64_t{6}); // from the last checkpoint

        const auto fallback = run.of_type("fallback").at(0);
        QCOMPARE(fallback.at("undo"), (Json{{"toggles", {{"safe_mode", false}}}}));
        QVERIFY(fallback.at("reason").get<std::string>().find(code.toStdString()) != std::string::npos);
        const auto phases = run.of_type("phase");
        QVERIFY(std::ranges::none_of(phases, [](const Json& event) { return event.at("phase") == "failed"; }));
    }

    void the_blame_record_names_step_layer_kernel_and_memory() {
        FaultyRun run({}, "step 8 device_error 700");
        QCOMPARE(unexpected(run, 0, Names{"safe_mode"}), QString());
        std::ifstream stream(run.folder().faults());
        Json record;
        stream >> record;
        QCOMPARE(record.at("step"), Json(8));
        QCOMPARE(record.at("phase"), Json("training"));
        for (const char* key : {"layer", "kernel", "kind", "certainty"})
            QVERIFY2(!record.at(key).get<std::string>().empty(), key);
        QVERIFY(record.at("memory").at("total").get<std::int64_t>() > 0);
        QVERIFY(!record.at("launched").empty());
        QCOMPARE(run.of_type("error").at(0).at("blame").at("layer"), record.at("layer"));
        const auto fallback = run.of_type("fallback").at(0);
        for (const char* key : {"layer", "kernel", "memory", "certainty", "step"})
            QCOMPARE(fallback.at(key), record.at(key));
        const auto passport = read_json(run.folder().passport());
        QCOMPARE(passport.at("fallbacks").at(0).at("rung"), Json("safe_mode"));
    }

    /// Each launch of a run, of its evaluations too: here every 19th, until there is none any more.
    void a_device_error_anywhere_loses_nothing_and_is_told_where_it_was() {
        std::set<std::string> phases;
        bool happened = true;
        for (int launch = 1; happened; launch += 19) {
            FaultyRun run({"epochs=1"}, "launch " + std::to_string(launch) + " 700\n");
            QCOMPARE(run.run(), 0);
            happened = run.faults_left().empty();
            QCOMPARE(run.rungs(), happened ? Names{"safe_mode"} : Names());
            QCOMPARE(last_step(run), all_steps / 3);
            if (!happened)
                break;
            const auto blame = run.of_type("error").at(0).at("blame");
            const auto phase = blame.at("phase").get<std::string>(), text = blame.at("certainty").get<std::string>();
            const auto step = "update " + std::to_string(blame.at("step").get<std::int64_t>());
            phases.insert(phase);
            QVERIFY(blame.at("step") <= all_steps / 3);
            QCOMPARE(text, (phase == "evaluating" ? "In the evaluation after " : "In ") + step + ", at this layer.");
        }
        QCOMPARE(phases, (std::set<std::string>{"evaluating", "training"}));
    }

    void a_second_device_error_leads_to_the_processor_and_a_third_ends_the_run() {
        FaultyRun run({"backend=reference"}, "step 4 device_error 700\nstep 7 device_error 719\n");
        QCOMPARE(unexpected(run, 0, (Names{"safe_mode", "cpu"})), QString());
        QCOMPARE(run.config().at("backend"), Json("cpu"));
        QCOMPARE(run.of_type("fallback").at(1).at("undo"), (Json{{"backend", "reference"}}));
        QCOMPARE(run.of_type("plan").back().at("backend"), Json("cpu"));
        QCOMPARE(last_step(run), all_steps);

        FaultyRun ended({"backend=reference"},
                        "step 4 device_error 700\nstep 7 device_error 719\nstep 8 device_error 999\n");
        QCOMPARE(unexpected(ended, device_fault, (Names{"safe_mode", "cpu"})), QString());
        QCOMPARE(ended.of_type("phase").back().at("phase"), Json("failed"));
        QCOMPARE(ended.of_type("bye").size(), std::size_t{1});
    }

    void a_run_on_the_processor_has_no_rung_to_it() {
        if (why_no_gpu().empty())
            QSKIP("This machine has an NVIDIA GPU.");
        FaultyRun run({"backend=auto"}, "step 4 device_error 700\nstep 7 device_error 719\n");
        QCOMPARE(unexpected(run, device_fault, Names{"safe_mode"}), QString());
    }

    void a_rung_can_be_taken_back() {
        FaultyRun run({}, "step 8 device_error 700\nstep 18 kill\n");
        QCOMPARE(unexpected(run, 0, Names{"safe_mode"}), QString());
        auto config = run.config();
        config.merge_patch(run.of_type("fallback").at(0).at("undo"));
        config["epochs"] = 4;
        write_json(run.folder().config(), config);
        run.events.clear();
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(run.config().at("toggles").at("safe_mode"), Json(false));
        QCOMPARE(last_step(run), all_steps / 3 * 4);
    }

    void a_kernel_that_refuses_or_fails_its_check_is_replaced_data() {
        QTest::addColumn<QString>("fault");
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"conv2d", "conv2d_weight_gradient", "batch_norm", "sgd", "record", "cross_entropy"})
            QTest::addRow("refuses: %s", kind) << "refuse" << kind;
        for (const char* kind : {"conv2d", "linear"})
            QTest::addRow("is wrong: %s", kind) << "spoil" << kind;
    }
    void a_kernel_that_refuses_or_fails_its_check_is_replaced() {
        QFETCH(QString, fault);
        QFETCH(QString, kind);
        FaultyRun sound({"epochs=1"});
        QCOMPARE(unexpected(sound, 0, Names{}), QString());
        FaultyRun run({"epochs=1"}, (fault + ' ' + kind + '\n').toStdString());
        QCOMPARE(unexpected(run, 0, Names{"kernel"}), QString());
        const auto fallback = run.of_type("fallback").at(0);
        QCOMPARE(fallback.at("to"), Json("reference"));
        QVERIFY(fallback.at("reason").get<std::string>().find(kind.toStdString()) != std::string::npos);
        const auto loss = [](const FaultyRun& one) { return one.of_type("epoch").at(0).at("loss").get<double>(); };
        QVERIFY2(std::abs(loss(run) - loss(sound)) < 1e-4, std::to_string(loss(run) - loss(sound)).c_str());
    }

    void memory_that_is_not_there_leads_to_less_use_by_a_fresh_worker() {
        // The first allocation holds weights, the second activations: both are of the first process.
        FaultyRun run({}, "allocation 2\n");
        QCOMPARE(unexpected(run, 0, Names{"recompute"}), QString());
        QCOMPARE(run.of_type("hello").size(), std::size_t{2});
        QCOMPARE(run.config().at("toggles").at("recompute"), Json(true));
        QCOMPARE(last_step(run), all_steps);

        FaultyRun smaller({"toggles.recompute=true"}, "allocation 2\n");
        QCOMPARE(unexpected(smaller, 0, Names{"batch"}), QString());
        QCOMPARE(smaller.config().at("batch"), Json(4));
        QCOMPARE(smaller.config().at("accumulation"), Json(2));
        QCOMPARE(smaller.of_type("fallback").at(0).at("undo"), (Json{{"batch", 8}, {"accumulation", 1}}));
        QCOMPARE(last_step(smaller), all_steps);

        FaultyRun smallest({"toggles.recompute=true", "batch=2"}, "allocation 2\n");
        QCOMPARE(unexpected(smallest, static_cast<int>(ExitCode::out_of_memory), Names{}), QString());
    }

    /// It was given back for the pause, and somebody else has it now. The run is no longer paused for that.
    void memory_that_is_gone_after_a_pause_leads_to_less_use() {
        // The first two were before the pause. And the run might have ended before it is told to pause.
        FaultyRun run({}, "allocation 3\nstep 4 stall 1500\n");
        int pauses = 0;
        bool trains = false;
        run.on_event = [&](const Json& event) {
            if (protocol::is_event(event, "steps") && !std::exchange(trains, true))
                run.command("pause");
            if (protocol::is_event(event, "phase") && event.at("phase") == "paused" && ++pauses == 1)
                run.command("resume");
        };
        QCOMPARE(unexpected(run, 0, Names{"recompute"}), QString());
        QCOMPARE(pauses, 1);
        QCOMPARE(last_step(run), all_steps);
        QVERIFY(run.faults_left().empty());
    }

    void memory_that_is_not_there_for_the_weights_is_a_rung_too() {
        FaultyRun run({}, "allocation 1\n");
        QCOMPARE(unexpected(run, 0, Names{"recompute"}), QString());
    }

    /// What one backend and batch has trained goes on with another, never from its beginning.
    void a_checkpoint_goes_from_device_to_device_and_back() {
        FaultyRun run({"backend=reference", "epochs=1"});
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(last_step(run), all_steps / 3);
        run.set("backend=cpu");
        run.set("epochs=2");
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(last_step(run), all_steps / 3 * 2);
        run.set("backend=reference");
        run.set("batch=4");
        run.set("epochs=3");
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QVERIFY(last_step(run) > all_steps);
        QCOMPARE(run.of_type("epoch").size(), std::size_t{3});
        QVERIFY(run.of_type("superseded").empty());
        const auto warnings = run.of_type("warning");
        QVERIFY(std::ranges::any_of(warnings, [](const Json& warning) {
            return warning.at("text").get<std::string>().starts_with("An update takes 4 images now");
        }));
    }

    void the_machine_is_kept_awake_as_long_as_a_run_trains() {
        FaultyRun run({}, "step 8 kill\n");
        const auto script = run.folder().path() / "inhibit";
        const auto told = run.folder().path() / "told";
        std::ofstream(script) << "#!/bin/sh\necho held >> '" << told.string()
                              << "'\nwhile [ \"$1\" != cat ]; do shift; done\n\"$@\"\necho released >> '"
                              << told.string() << "'\n";
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        run.settings().sleep_inhibitor = QString::fromStdString(script.string());
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        const auto text = [&] {
            std::ifstream stream(told);
            return std::string{std::istreambuf_iterator<char>(stream), {}};
        };
        QTRY_COMPARE_WITH_TIMEOUT(text(), std::string("held\nreleased\n"), 60000);
    }

    void a_single_overflow_of_fp16_costs_a_step() {
        constexpr double scale = 850000; // overflows in update 9; half of it never does
        FaultyRun run({"backend=reference", "toggles.precision=fp16", "network.widths=[4]"},
                      "step 9 overflow " + std::to_string(scale));
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QVERIFY(run.faults_left().empty());
        const auto last = last_checkpoint(run).info;
        QCOMPARE(last.precision, std::string("fp16"));
        QCOMPARE(last.step, all_steps);
        QCOMPARE(last.run_state.at("loss_scale"), Json(scale / 2)); // once too large, and never again
        QCOMPARE(last.run_state.at("loss_scale_good_steps"), Json(all_steps - 9));
    }

    void endless_overflow_leads_to_a_wider_precision_from_the_last_good_checkpoint() {
        FaultyRun run({"backend=reference", "toggles.precision=fp16", "network.widths=[4]", "epochs=8"},
                      "step 9 overflow 1e30");
        QCOMPARE(unexpected(run, 0, Names{"precision"}), QString());
        const auto fallback = run.of_type("fallback").at(0);
        QCOMPARE(fallback.at("from"), Json("fp16"));
        QCOMPARE(fallback.at("to"), Json("fp32"));
        QCOMPARE(fallback.at("undo"), (Json{{"toggles", {{"precision", "fp16"}}}}));
        QCOMPARE(run.config().at("toggles").at("precision"), Json("fp32"));
        QCOMPARE(run.first_step(2), std::int64_t{8}); // the epoch before has ended with a checkpoint
        QCOMPARE(last_checkpoint(run).info.precision, std::string("fp32"));
        QVERIFY(last_checkpoint(run).store.all_finite());
        QCOMPARE(last_step(run), 8 * all_steps / 3);
    }

    void what_diverges_in_fp32_too_fails_and_names_the_cause() {
        FaultyRun run({"backend=reference", "toggles.precision=fp16", "network.widths=[4]", "epochs=60",
                       "optimizer.learning_rate=1e6", "optimizer.momentum=0.99"});
        QCOMPARE(unexpected(run, static_cast<int>(ExitCode::failed), Names{"precision"}), QString());
        const auto error = run.of_type("error").back().at("text").get<std::string>();
        QVERIFY2(error.find("learning rate") != std::string::npos, error.c_str());
    }

    void a_killed_worker_goes_on_in_the_same_mode() {
        FaultyRun run({}, "step 8 kill\nstep 12 kill\n");
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(run.of_type("hello").size(), std::size_t{3});
        QVERIFY(run.of_type("warning").at(0).at("text").get<std::string>().find("signal 9") != std::string::npos);
        QCOMPARE(last_step(run), all_steps);
        QCOMPARE(run.config().at("toggles").at("safe_mode"), Json(false));
    }

    void a_worker_that_hangs_is_warned_about_and_counts_as_a_fault() {
        FaultyRun run({}, "step 8 hang\n");
        run.settings().stillness = 5s; // a loaded machine may take a second for a step
        run.settings().patience = {200ms, 200ms, 200ms};
        QCOMPARE(unexpected(run, 0, Names{"safe_mode"}), QString());
        QVERIFY(run.of_type("warning").at(0).at("text").get<std::string>().starts_with("No progress"));
        QCOMPARE(last_step(run), all_steps);
    }

    /// It hears late that it was sent away, and leaves in good order: that is no end of the run.
    void a_worker_that_stands_still_for_a_while_counts_as_a_fault_too() {
        FaultyRun run({}, "step 8 stall 6000\n");
        run.settings().stillness = 2s;
        run.settings().patience.after_terminate = 60s;
        QCOMPARE(unexpected(run, 0, Names{"safe_mode"}), QString());
        QCOMPARE(run.first_step(2), std::int64_t{9}); // it had saved what it had
        QCOMPARE(last_step(run), all_steps);
    }

    /// By a person or a system, and not by the run's supervisor.
    void a_worker_that_is_sent_away_goes_on_in_the_same_mode() {
        FaultyRun run({"epochs=20"}, "step 20 stall 1500\n"); // or it might have ended before it is sent away
        qint64 worker = 0;
        int sent = 0;
        run.on_event = [&](const Json& event) {
            if (protocol::is_event(event, "hello"))
                worker = event.at("pid").get<qint64>();
            if (protocol::is_event(event, "steps") && worker != 0 && ++sent <= 2)
                ::kill(static_cast<pid_t>(std::exchange(worker, 0)), SIGTERM);
        };
        QCOMPARE(unexpected(run, 0, Names{}), QString());
        QCOMPARE(last_step(run), 20 * all_steps / 3);
        const auto workers = run.of_type("hello").size();
        QVERIFY(workers >= 2); // the second may have been too late
        QCOMPARE(run.of_type("warning").size(), workers - 1);
        const auto warning = run.of_type("warning").at(0).at("text").get<std::string>();
        QVERIFY2(warning.starts_with("The worker was told to leave (SIGTERM)"), warning.c_str());
        QCOMPARE(run.of_type("bye").size(), std::size_t{1});
        const auto phases = run.of_type("phase");
        QVERIFY(std::ranges::none_of(phases, [](const Json& event) { return event.at("phase") == "interrupted"; }));
    }

    /// As drivers do, with what a fault has left of them or without one. It changes nothing of how the run went.
    void a_driver_that_crashes_or_hangs_when_it_is_let_go_of_changes_nothing_data() {
        QTest::addColumn<QByteArray>("mode");
        QTest::addColumn<QByteArray>("fault");
        QTest::addColumn<QStringList>("rungs");
        QTest::newRow("crashes") << QByteArray("crash at end") << QByteArray() << QStringList();
        QTest::newRow("hangs") << QByteArray("hang at end") << QByteArray() << QStringList();
        QTest::newRow("crashes after a fault")
            << QByteArray("crash at end") << QByteArray("step 4 device_error 700\nstep 5 device_error 700\n")
            << QStringList{"safe_mode", "cpu"};
        QTest::newRow("crashes after a change")
            << QByteArray("crash at end") << QByteArray("allocation 2") << QStringList{"recompute"};
    }
    void a_driver_that_crashes_or_hangs_when_it_is_let_go_of_changes_nothing() {
        QFETCH(QByteArray, mode);
        QFETCH(QByteArray, fault);
        QFETCH(QStringList, rungs);
        const Installed installed(FAULTY_TRAIN, FAKE_PLUGIN);
        qputenv("ESPALIER_FAKE_GPU", mode);
        FaultyRun run({"backend=cuda"}, fault.toStdString());
        run.settings().worker.path = installed.program();
        run.settings().patience.after_bye = 2s;
        Names expected;
        for (const auto& rung : rungs)
            expected.push_back(rung.toStdString());
        QCOMPARE(unexpected(run, 0, expected), QString());
        QCOMPARE(run.of_type("hello").size(), expected.size() + 1);
        QVERIFY(run.of_type("warning").empty());
        QCOMPARE(last_step(run), all_steps);
        QVERIFY(run.faults_left().empty());
    }

    void a_driver_that_crashes_wherever_it_is_touched_leads_to_the_processor() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        for (const char* mode : {"crash at open", "crash", "crash later"}) {
            qputenv("ESPALIER_FAKE_GPU", mode);
            FaultyRun run({"backend=auto", "epochs=1"});
            run.settings().worker.path = installed.program();
            QCOMPARE(unexpected(run, 0, (Names{"safe_mode", "cpu"})), QString());
            QCOMPARE(run.of_type("plan").back().at("backend"), Json("cpu"));
        }
    }

    /// A device that is gone after its fault (a driver after the machine slept) refuses the configuration.
    void a_device_that_is_gone_after_its_fault_leads_to_the_processor() {
        if (why_no_gpu().empty())
            QSKIP("This machine has an NVIDIA GPU.");
        FaultyRun run({"backend=reference"}, "step 8 device_error 999\n");
        run.on_event = [&](const Json& event) {
            if (protocol::is_event(event, "fallback") && event.at("rung") == "safe_mode")
                run.set("backend=cuda");
        };
        QCOMPARE(unexpected(run, 0, (Names{"safe_mode", "cpu"})), QString());
        QCOMPARE(last_step(run), all_steps);
    }
};

QTEST_GUILESS_MAIN(TestLadder)
#include "tst_ladder.moc"
