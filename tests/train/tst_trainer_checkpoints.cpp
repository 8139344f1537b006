// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind: checkpoints, also those on a command, and the passport.
#include "base/threads.h"
#include "small_disk.h"
#include "texts.h"
#include "train/run_state.h"
#include "train_support.h"

#include <QtTest>
#include <algorithm>
#include <atomic>
#include <thread>

using namespace espalier;
using namespace espalier::test;

class TestTrainerCheckpoints : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void best_and_last_are_kept_and_old_ones_go();
    void a_disk_that_is_full_for_a_while_ends_no_run();
    void a_pause_on_a_full_disk_loses_nothing_data();
    void a_pause_on_a_full_disk_loses_nothing();
    void commands_are_answered_in_every_phase_data();
    void commands_are_answered_in_every_phase();
    void an_abandoned_run_saves_and_leaves();
    void a_checkpoint_on_demand();
    void the_passport_says_what_a_rerun_needs();
    void the_passport_counts_the_threads_in_force();
};

void TestTrainerCheckpoints::best_and_last_are_kept_and_old_ones_go() {
    SmallRun run({"checkpoint.every_steps=2", "checkpoint.keep=3"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    int step_files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run.folder().checkpoints()))
        step_files += entry.path().filename().string().starts_with("step-");
    QCOMPARE(step_files, 3);
    QCOMPARE(run.last().info.step, std::int64_t{21});
    std::int64_t best_step = 0;
    for (const auto& evaluation : log.of_type("evaluation"))
        if (evaluation["best"].get<bool>())
            best_step = evaluation["step"].get<std::int64_t>();
    QCOMPARE(load_checkpoint(run.checkpoints().best()).info.step, best_step);
}

/// Checkpoints that cannot be written are told of, the last one that could be stays the best, and the run goes on.
void TestTrainerCheckpoints::a_disk_that_is_full_for_a_while_ends_no_run() {
    SmallRun run({"epochs=4", "checkpoint.every_steps=2", "tensorboard=false", "schedule.kind=constant"});
    EventLog log;
    std::optional<SmallDisk> disk;
    std::size_t epochs = 0;
    log.on_event = [&](const Json& event) {
        const auto type = event.at("type").get<std::string>();
        if (type == "epoch" && ++epochs == 1)
            disk.emplace(rlim_t{2000});
        if (type == "epoch" && epochs == 3)
            disk.reset();
    };
    CommandAt never;
    const auto outcome = run.train(log, static_cast<CommandSource&>(never));
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    std::vector<std::string> warnings;
    for (const auto& warning : log.of_type("warning"))
        if (const auto text = warning.at("text").get<std::string>(); has(text, "heckpoint"))
            warnings.push_back(text);
    QCOMPARE(warnings.size(), std::size_t{2});
    QVERIFY2(has(warnings[0], "No checkpoint could be written, and training goes on without. The file"),
             warnings[0].c_str());
    QVERIFY(has(warnings[0], "File too large"));
    QCOMPARE(warnings[1], std::string("Checkpoints can be written again."));
    // What counts as the best is what the file of the best holds.
    const auto state = RunState::from_json(run.last().info.run_state);
    QCOMPARE(state.epoch, std::int64_t{4});
    if (state.best_epoch > 0)
        QCOMPARE(RunState::from_json(load_checkpoint(run.checkpoints().best()).info.run_state).best_epoch,
                 state.best_epoch);
    QVERIFY(state.best_epoch != 1 && state.best_epoch != 2);
    QCOMPARE(log.steps().size(), std::size_t{28});
}

namespace {

/// A pause while the disk is full. There is room again when the pause ends, or with the end of the epoch after it.
class FullPause : public CommandAt {
public:
    FullPause(EventLog& log, Command end, bool room) : CommandAt(12, Command::pause), end_(end), room_(room) {
        watch(log);
        log.on_event = [this, before = log.on_event](const Json& event) {
            before(event);
            if (event.at("type") == "epoch")
                disk_.reset();
        };
    }
    std::optional<Command> poll() override {
        const auto command = CommandAt::poll();
        if (command)
            disk_.emplace(rlim_t{2000});
        return command;
    }
    std::optional<Command> wait(std::chrono::milliseconds) override {
        if (room_)
            disk_.reset();
        return end_;
    }

private:
    Command end_;
    bool room_;
    std::optional<SmallDisk> disk_;
};

} // namespace

void TestTrainerCheckpoints::a_pause_on_a_full_disk_loses_nothing_data() {
    QTest::addColumn<bool>("stops");
    QTest::addColumn<bool>("room");
    QTest::newRow("goes on, with room again") << false << true;
    QTest::newRow("goes on, still full") << false << false;
    QTest::newRow("stops, with room again") << true << true;
    QTest::newRow("stops, still full") << true << false;
}

void TestTrainerCheckpoints::a_pause_on_a_full_disk_loses_nothing() {
    QFETCH(bool, stops);
    QFETCH(bool, room);
    SmallRun run({"tensorboard=false"});
    EventLog log;
    FullPause commands(log, stops ? Command::stop : Command::resume, room);
    const auto outcome = run.train(log, static_cast<CommandSource&>(commands));
    log.on_event = {};
    const auto phases = log.phases();
    QVERIFY(std::ranges::find(phases, "paused") != phases.end());
    std::vector<std::string> warnings;
    for (const auto& warning : log.of_type("warning"))
        if (const auto text = warning.at("text").get<std::string>(); has(text, "heckpoint"))
            warnings.push_back(text);
    QVERIFY(!warnings.empty());
    QVERIFY2(has(warnings[0], "No checkpoint could be written: while the run pauses"), warnings[0].c_str());
    QVERIFY(has(warnings[0], "File too large"));
    if (stops && !room) {
        QCOMPARE(outcome.phase, std::string("failed"));
        QVERIFY2(has(outcome.reason, "File too large"), outcome.reason.c_str());
        return;
    }
    QCOMPARE(warnings.size(), std::size_t{2}); // of a refusal once, however often it is tried
    QCOMPARE(warnings[1], std::string("Checkpoints can be written again."));
    if (stops) {
        QCOMPARE(outcome.phase, std::string("stopped"));
        QCOMPARE(run.last().info.step, log.steps().back());
        QCOMPARE(run.fault_of_training(log), std::string());
    }
    const SmallRun other({"tensorboard=false"}); // without a pause
    EventLog uninterrupted;
    QCOMPARE(other.fault_of_training(uninterrupted), std::string());
    QCOMPARE(log.steps(), uninterrupted.steps());
    QCOMPARE(QString::fromStdString(difference(run.last(), other.last())), QString());
}

void TestTrainerCheckpoints::commands_are_answered_in_every_phase_data() {
    QTest::addColumn<QByteArray>("phase");
    for (const char* phase : {"preparing", "training", "evaluating", "saving"})
        QTest::newRow(phase) << QByteArray(phase);
}

namespace {

/// Gives a stop as soon as the run is in a phase, from another thread's point of view at any moment.
class StopInPhase : public CommandSource {
public:
    StopInPhase(EventLog& log, std::string phase) {
        log.on_event = [this, phase = std::move(phase)](const Json& event) {
            if (event.at("type") == "phase" && event.at("phase") == phase)
                wanted_ = true;
        };
    }
    std::optional<Command> poll() override {
        return wanted_.exchange(false) ? std::optional(Command::stop) : std::nullopt;
    }
    std::optional<Command> wait(std::chrono::milliseconds) override { return poll(); }

private:
    std::atomic<bool> wanted_ = false;
};

} // namespace

void TestTrainerCheckpoints::commands_are_answered_in_every_phase() {
    QFETCH(QByteArray, phase);
    SmallRun run({"epochs=1000", "checkpoint.every_steps=4"});
    EventLog log;
    StopInPhase commands(log, phase.toStdString());
    const auto outcome = run.train(log, static_cast<CommandSource&>(commands));
    QCOMPARE(outcome.phase, std::string("stopped"));
    QCOMPARE(outcome.code, ExitCode::stopped);
    QCOMPARE(log.phases().back(), std::string("stopped"));
    QVERIFY(log.steps().size() < 30);
    // And it goes on from there.
    run.set("epochs=2");
    EventLog after;
    const auto resumed = run.train(after);
    QVERIFY2(resumed.phase == "finished", resumed.reason.c_str());
}

void TestTrainerCheckpoints::an_abandoned_run_saves_and_leaves() {
    SmallRun run({"epochs=1000"});
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(12, Command::abandon)).phase, std::string("interrupted"));
    QCOMPARE(run.last().info.step, log.steps().back());
}

void TestTrainerCheckpoints::a_checkpoint_on_demand() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::checkpoint)).phase, std::string("finished"));
    QCOMPARE(log.of_type("checkpoint").at(0)["step"], Json(4));
}

void TestTrainerCheckpoints::the_passport_says_what_a_rerun_needs() {
    SmallRun run({"epochs=1"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const Json passport = read_json(run.folder().passport());
    for (const char* key : {"build", "backend", "threads", "seed", "data_hash", "kernels", "fallbacks", "bit_exact"})
        QVERIFY2(passport.contains(key), key);
    QCOMPARE(passport["data_hash"].get<std::string>().size(), std::size_t{16});
}

void TestTrainerCheckpoints::the_passport_counts_the_threads_in_force() {
    const QByteArray before = qgetenv("OMP_NUM_THREADS");
    const auto threads = [](const std::vector<std::string>& settings) {
        SmallRun run(settings);
        EventLog log;
        run.train(log);
        return read_json(run.folder().passport())["threads"].get<int>();
    };
    qputenv("OMP_NUM_THREADS", "3,1");
    QCOMPARE(usable_threads(), 3);
    QCOMPARE(threads({"epochs=1", "threads=0"}), 3);
    QCOMPARE(threads({"epochs=1", "threads=2"}), 2); // what the run asks for goes before
    for (const char* invalid : {"", "none", "-4", "0"}) {
        qputenv("OMP_NUM_THREADS", invalid);
        QVERIFY(usable_threads() >= 1 && usable_threads() <= static_cast<int>(std::thread::hardware_concurrency()));
    }
    qputenv("OMP_NUM_THREADS", before);
    qputenv("OMP_THREAD_LIMIT", "1");
    QCOMPARE(usable_threads(), 1);
    QCOMPARE(usable_threads(2), 1);
    qunsetenv("OMP_THREAD_LIMIT");
}

QTEST_GUILESS_MAIN(TestTrainerCheckpoints)
#include "tst_trainer_checkpoints.moc"
