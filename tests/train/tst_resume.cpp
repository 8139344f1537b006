// SPDX-License-Identifier: Apache-2.0
#include "train_support.h"

#include <QtTest>
#include <fstream>
#include <random>

using namespace espalier;
using namespace espalier::test;

class TestResume : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void any_stop_point_gives_the_same_bits_data();
    void any_stop_point_gives_the_same_bits();
    void five_cycles_repeat_step_and_learning_rate_columns();
    void a_pause_gives_memory_back_and_changes_nothing();
    void the_loss_scale_goes_on();
    void a_pause_within_a_step_changes_nothing();
    void a_checkpoint_wished_for_within_a_step();
    void going_back_to_a_checkpoint_repeats_what_came_after_it();
    void the_advice_after_divergence_names_only_what_exists();
    void more_epochs_after_the_end();
    void nothing_left_to_do_is_said();
    void another_batch_size_goes_on();
    void another_network_is_refused();
    void other_classes_are_refused();
    void damaged_checkpoints_never_start_a_run_anew();
    void a_crash_goes_on_from_the_newest_checkpoint();
};

void TestResume::any_stop_point_gives_the_same_bits_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<int>("points");
    QTest::addColumn<bool>("within_steps");
    QTest::newRow("sgd") << QStringList{"optimizer.nesterov=true"} << 55 << false;
    QTest::newRow("adamw, accumulation") << QStringList{"optimizer.kind=adamw", "accumulation=2", "batch=4"} << 35
                                         << false;
    QTest::newRow("two threads, clipping, checkpoints between")
        << QStringList{"threads=2", "optimizer.clip_norm=0.5", "checkpoint.every_steps=3"} << 10 << false;
    QTest::newRow("data on the device") << QStringList{"data_on_device=on"} << 8 << false;
    QTest::newRow("data on the device, within steps")
        << QStringList{"data_on_device=on", "accumulation=3", "batch=4"} << 5 << true;
    QTest::newRow("within steps") << QStringList{"optimizer.nesterov=true"} << 25 << true;
    QTest::newRow("within accumulated steps")
        << QStringList{"optimizer.kind=adamw", "accumulation=3", "batch=4"} << 15 << true;
}

void TestResume::any_stop_point_gives_the_same_bits() {
    QFETCH(QStringList, settings);
    QFETCH(int, points);
    QFETCH(bool, within_steps);
    std::vector<std::string> list;
    for (const auto& setting : settings)
        list.push_back(setting.toStdString());

    SmallRun whole(list);
    EventLog whole_log;
    // The number of questions is the number of places where a run can be stopped: between steps, and in evaluations.
    CommandAt counter(1'000'000, Command::stop);
    counter.within_steps = within_steps;
    counter.watch(whole_log);
    QCOMPARE(train_run(whole.folder().path(), whole_log, counter).phase, std::string("finished"));
    const auto expected = whole.last();
    QVERIFY(counter.asked() > 20);

    std::mt19937 random(20261128);
    for (int i = 0; i < points; ++i) {
        // Within steps a slow machine asks a few times more: not the very last ones.
        const auto last = within_steps ? counter.asked() * 9 / 10 : counter.asked();
        const auto point = static_cast<std::int64_t>(random() % static_cast<unsigned>(last));
        SmallRun run(list);
        EventLog log;
        CommandAt stop(point, Command::stop);
        stop.within_steps = within_steps;
        QCOMPARE(run.train(log, stop).phase, std::string("stopped"));
        QCOMPARE(run.fault_of_training(log), std::string());
        const auto different = difference(run.last(), expected);
        QVERIFY2(different.empty(), (different + " after a stop at point " + std::to_string(point)).c_str());
        QCOMPARE(log.steps(), whole_log.steps());
        QCOMPARE(log.column("loss"), whole_log.column("loss"));
    }
}

void TestResume::five_cycles_repeat_step_and_learning_rate_columns() {
    SmallRun whole;
    EventLog expected;
    QCOMPARE(whole.fault_of_training(expected), std::string());

    SmallRun run;
    EventLog log;
    for (int cycle = 0; cycle < 5; ++cycle)
        QCOMPARE(run.train(log, CommandAt(3, Command::stop)).phase, std::string("stopped"));
    QCOMPARE(run.fault_of_training(log), std::string());
    QCOMPARE(log.steps(), expected.steps());
    QCOMPARE(log.column("learning_rate"), expected.column("learning_rate"));

    const auto columns = [](const SmallRun& of) {
        std::ifstream file(of.folder().path() / "metrics.csv");
        std::vector<std::string> rows;
        for (std::string line; std::getline(file, line);)
            rows.push_back(line.substr(0, line.rfind(','))); // all but the seconds
        return rows;
    };
    QCOMPARE(columns(run), columns(whole));
}

/// In fp16 the scale, and the steps since it last changed, are part of the run's state.
void TestResume::the_loss_scale_goes_on() {
    SmallRun run({"backend=reference", "toggles.precision=fp16"});
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(9, Command::pause)).phase, std::string("finished"));
    auto state = run.last().info.run_state;
    QVERIFY(state.at("step") > 10);
    QCOMPARE(state.at("loss_scale"), Json(65536.0));
    QCOMPARE(state.at("loss_scale_good_steps").get<double>(), state.at("step").get<double>());

    SmallRun stopped({"backend=reference", "toggles.precision=fp16"});
    QCOMPARE(stopped.train(log, CommandAt(9, Command::stop)).phase, std::string("stopped"));
    QVERIFY(stopped.last().info.run_state.at("loss_scale_good_steps") > 0);
    QCOMPARE(stopped.fault_of_training(log), std::string());
    state = stopped.last().info.run_state;
    QCOMPARE(state.at("loss_scale_good_steps").get<double>(), state.at("step").get<double>());
}

void TestResume::a_pause_gives_memory_back_and_changes_nothing() {
    SmallRun whole;
    EventLog whole_log;
    QCOMPARE(whole.fault_of_training(whole_log), std::string());

    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(9, Command::pause)).phase, std::string("finished"));
    const auto phases = log.phases();
    const auto paused = std::ranges::find(phases, "paused");
    QVERIFY(paused != phases.end());
    QCOMPARE(*(paused - 1), std::string("saving"));
    QCOMPARE(*(paused + 1), std::string("training"));
    QCOMPARE(difference(run.last(), whole.last()), std::string());
}

void TestResume::a_pause_within_a_step_changes_nothing() {
    SmallRun whole;
    EventLog whole_log;
    CommandAt counter(1'000'000, Command::pause);
    counter.within_steps = true;
    counter.watch(whole_log);
    QCOMPARE(whole.train(whole_log, static_cast<CommandSource&>(counter)).phase, std::string("finished"));

    for (std::int64_t point = 7; point < counter.asked(); point += counter.asked() / 10) {
        SmallRun run;
        EventLog log;
        CommandAt pause(point, Command::pause);
        pause.within_steps = true;
        QCOMPARE(run.train(log, pause).phase, std::string("finished"));
        QCOMPARE(difference(run.last(), whole.last()), std::string());
        QCOMPARE(log.steps(), whole_log.steps());
        QCOMPARE(log.column("loss"), whole_log.column("loss"));
    }
}

/// A wish for a checkpoint does not leave the step: it is answered in words at once, and met behind it.
void TestResume::a_checkpoint_wished_for_within_a_step() {
    SmallRun whole;
    EventLog whole_log;
    QCOMPARE(whole.fault_of_training(whole_log), std::string());

    SmallRun run;
    EventLog log;
    CommandAt wish(30, Command::checkpoint);
    wish.within_steps = true;
    QCOMPARE(run.train(log, wish).phase, std::string("finished"));
    QVERIFY(log.text().find("A checkpoint will be written after this step.") != std::string::npos);
    QCOMPARE(log.steps(), whole_log.steps());
    QCOMPARE(log.column("loss"), whole_log.column("loss"));
    QCOMPARE(log.of_type("checkpoint").size(), whole_log.of_type("checkpoint").size() + 1);
}

/// Back to any checkpoint, the best too: the run goes on from there as it did before, and nothing is lost.
void TestResume::going_back_to_a_checkpoint_repeats_what_came_after_it() {
    for (const char* choice : {"5", "step-00000010", "best", "last"}) {
        SmallRun run({"checkpoint.every_steps=5", "checkpoint.keep=20"});
        EventLog log;
        QCOMPARE(run.fault_of_training(log), std::string());
        const auto whole = run.last();
        auto folder = run.checkpoints();
        const auto file = folder.find(choice);
        const auto step = read_checkpoint_info(file).step;
        folder.go_back_to(file);
        QCOMPARE(folder.load_newest().checkpoint->info.step, step);
        QCOMPARE(run.last().info.step, step);
        QCOMPARE(std::filesystem::exists(run.folder().checkpoints() / "superseded"), step < whole.info.step);
        if (step == whole.info.step)
            continue;
        log = EventLog();
        QCOMPARE(run.fault_of_training(log), std::string());
        QCOMPARE(log.steps().front(), step + 1);
        for (const auto& entry : whole.store.entries())
            QCOMPARE(run.last().store.at(entry.name).values, entry.values);
    }
    // Going back again and again does not fill the disk.
    SmallRun often({"checkpoint.every_steps=1", "checkpoint.keep=3"});
    EventLog log;
    QCOMPARE(often.fault_of_training(log), std::string());
    for (int i = 0; i < 4; ++i) {
        auto folder = often.checkpoints();
        folder.go_back_to(folder.find(folder.names().at(2))); // the oldest of three
        QCOMPARE(often.fault_of_training(log), std::string());
        std::size_t steps = 0;
        for (const auto& file : std::filesystem::directory_iterator(often.folder().checkpoints() / "superseded"))
            steps += file.path().filename().string().starts_with("step-") ? 1 : 0;
        QVERIFY(steps >= 2 && steps <= 3);
    }
    SmallRun none;
    QVERIFY_THROWS_EXCEPTION(ConfigError, (void)none.checkpoints().find("best"));
}

void TestResume::the_advice_after_divergence_names_only_what_exists() {
    SmallRun early({"optimizer.learning_rate=1e6", "schedule.kind=constant", "schedule.warmup_epochs=0",
                    "max_bad_steps=2", "data=synthetic:1x8x8,3,8000"});
    EventLog log;
    auto outcome = early.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QVERIFY2(outcome.reason.find("There is no checkpoint") != std::string::npos, outcome.reason.c_str());
    QVERIFY2(outcome.reason.find("--checkpoint") == std::string::npos, outcome.reason.c_str());

    SmallRun late({"epochs=1"});
    QCOMPARE(late.fault_of_training(log), std::string());
    for (const char* setting : {"epochs=60", "schedule.warmup_epochs=0", "optimizer.learning_rate=1e6",
                                "schedule.kind=constant", "max_bad_steps=2"})
        late.set(setting);
    outcome = late.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    const auto at = outcome.reason.find("--checkpoint ");
    QVERIFY2(at != std::string::npos, outcome.reason.c_str());
    const auto name = outcome.reason.substr(at + 13, outcome.reason.find(' ', at + 13) - at - 13);
    QVERIFY(std::filesystem::exists(late.checkpoints().find(name)));
}

void TestResume::more_epochs_after_the_end() {
    SmallRun run({"epochs=2", "schedule.kind=constant"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    run.set("epochs=4");
    QCOMPARE(run.fault_of_training(log), std::string());

    SmallRun whole({"epochs=4", "schedule.kind=constant"});
    EventLog expected;
    QCOMPARE(whole.fault_of_training(expected), std::string());
    QCOMPARE(difference(run.last(), whole.last()), std::string());
    QCOMPARE(log.steps(), expected.steps());
}

void TestResume::nothing_left_to_do_is_said() {
    SmallRun run({"epochs=1"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QCOMPARE(outcome.code, ExitCode::bad_configuration);
    QVERIFY2(outcome.reason.find("epochs=") != std::string::npos, outcome.reason.c_str());
}

void TestResume::another_batch_size_goes_on() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::stop)).phase, std::string("stopped"));
    run.set("batch=5");
    QCOMPARE(run.fault_of_training(log), std::string());
    QVERIFY(log.text().find("An update takes 5 images now") != std::string::npos);
    const auto steps = log.steps();
    for (std::size_t i = 0; i < steps.size(); ++i)
        QCOMPARE(steps[i], static_cast<std::int64_t>(i + 1));
}

void TestResume::another_network_is_refused() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::stop)).phase, std::string("stopped"));
    run.set("network.widths=[4,9]");
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QVERIFY2(outcome.reason.find("network") != std::string::npos, outcome.reason.c_str());
}

void TestResume::other_classes_are_refused() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::stop)).phase, std::string("stopped"));
    run.set("data=synthetic:1x8x8,4,53");
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QVERIFY2(outcome.reason.find("3 classes") != std::string::npos, outcome.reason.c_str());
    QVERIFY2(outcome.reason.find("has 4; new there: 'pattern 3'.") != std::string::npos, outcome.reason.c_str());
}

void TestResume::damaged_checkpoints_never_start_a_run_anew() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::stop)).phase, std::string("stopped"));
    for (const auto& entry : std::filesystem::directory_iterator(run.folder().checkpoints()))
        std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << "damaged";
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QVERIFY2(outcome.reason.find("never begins anew") != std::string::npos, outcome.reason.c_str());
}

void TestResume::a_crash_goes_on_from_the_newest_checkpoint() {
    SmallRun run({"checkpoint.every_steps=5"});
    EventLog log;
    // A sink that throws is as sudden as a crash: nothing is saved after it.
    CommandAt never;
    log.on_event = [](const Json& event) {
        if (event.at("type") == "phase" && event.at("phase") == "evaluating" && event.at("epoch").get<double>() > 1.5)
            throw std::runtime_error("power cut");
    };
    QCOMPARE(run.train(log, static_cast<CommandSource&>(never)).phase, std::string("failed"));
    log = EventLog();
    QCOMPARE(run.fault_of_training(log), std::string());
    QCOMPARE(log.steps().front(), 11);

    SmallRun whole;
    EventLog whole_log;
    QCOMPARE(whole.fault_of_training(whole_log), std::string());
    QCOMPARE(difference(run.last(), whole.last()), std::string());
    QCOMPARE(run.last().info.step, whole.last().info.step);
}

QTEST_GUILESS_MAIN(TestResume)
#include "tst_resume.moc"
