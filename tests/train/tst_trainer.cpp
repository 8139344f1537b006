// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"
#include "train/resources.h"
#include "train/run_setup.h"
#include "train/run_state.h"
#include "train/time_estimate.h"
#include "train_support.h"

// Behind the engine's headers, which Qt's macros must not meet.
#include "data/photo_folder.h"

#include <QtTest>
#include <atomic>
#include <fstream>
#include <numeric>
#include <thread>

using namespace espalier;
using namespace espalier::test;

namespace {

QImage plain_picture(bool rare, int i) { return plain(8, 8, rare ? QColor(200, 10 + i, 0) : QColor(0, 10 + i, 200)); }

} // namespace

class TestTrainer : public QObject {
    Q_OBJECT

private slots:
    void a_run_tells_its_story();
    void accumulation_equals_a_larger_batch();
    void the_test_part_is_measured_once_at_the_end();
    void balanced_classes_weigh_the_same();
    void learning_lowers_the_loss();
    void best_and_last_are_kept_and_old_ones_go();
    void early_stopping();
    void weights_that_run_away_end_the_run_data();
    void weights_that_run_away_end_the_run();
    void a_single_class_is_warned_of();
    void an_image_folder_is_trained_on_without_its_bad_files();
    void files_that_a_set_lacks_are_told();
    void reading_images_is_told_and_can_be_stopped();
    void memory_is_what_the_machine_has_free();
    void nan_is_never_best();
    void a_batch_larger_than_the_set_is_cut_in_words();
    void a_last_batch_of_one_is_settled_before_the_start();
    void what_does_not_fit_in_memory_is_shrunk_openly();
    void memory_that_nothing_fits_into_is_an_error();
    void a_bad_configuration_fails_in_words();
    void commands_are_answered_in_every_phase_data();
    void commands_are_answered_in_every_phase();
    void an_abandoned_run_saves_and_leaves();
    void a_checkpoint_on_demand();
    void the_passport_says_what_a_rerun_needs();
    void the_passport_counts_the_threads_in_force();
    void the_layers_are_profiled();
    void time_is_estimated();
};

void TestTrainer::a_run_tells_its_story() {
    SmallRun run;
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    QCOMPARE(outcome.code, ExitCode::done);

    // 53 images in batches of 8: the remainder of 5 is a batch of its own.
    const Json plan = log.of_type("plan").at(0);
    QCOMPARE(plan["steps_per_epoch"], Json(7));
    QCOMPARE(plan["batch"], Json(8));
    QVERIFY(plan["memory"]["total"].get<double>() > 0);
    QVERIFY(plan["flops"].get<double>() > 0);
    std::int64_t parameters = 0;
    for (const auto& layer : plan["layers"])
        parameters += layer["parameters"].get<std::int64_t>();
    QCOMPARE(plan["parameters"].get<std::int64_t>(), run.last().store.parameter_count());
    QCOMPARE(parameters, run.last().store.parameter_count());

    std::vector<std::int64_t> expected(21);
    std::iota(expected.begin(), expected.end(), 1);
    QCOMPARE(log.steps(), expected);
    QCOMPARE(log.of_type("epoch").size(), std::size_t{3});
    const auto evaluations = log.of_type("evaluation");
    QCOMPARE(evaluations.size(), std::size_t{3});
    for (const auto& evaluation : evaluations) {
        QCOMPARE(evaluation["set"], Json("validation"));
        QVERIFY(evaluation["accuracy"].get<double>() >= 0 && evaluation["accuracy"].get<double>() <= 1);
    }
    // The mean over an epoch is the mean of its steps, weighted by their images.
    double sum = 0;
    const auto losses = log.column("loss");
    for (int i = 0; i < 7; ++i)
        sum += losses[static_cast<std::size_t>(i)].get<double>() * (i < 6 ? 8 : 5);
    QVERIFY(std::abs(log.of_type("epoch")[0]["loss"].get<double>() - sum / 53) < 1e-6);

    const auto phases = log.phases();
    QCOMPARE(phases.front(), std::string("preparing"));
    QCOMPARE(phases.back(), std::string("finished"));
    QVERIFY(!log.of_type("resources").empty());
    QVERIFY(std::filesystem::exists(run.folder().path() / "metrics.csv"));
}

void TestTrainer::accumulation_equals_a_larger_batch() {
    // Without batch norm's statistics in between the two would be equal to rounding; with them they are near in the
    // first step, where the weights are the same: compare the first loss.
    SmallRun whole({"data=synthetic:1x8x8,3,48", "batch=8", "epochs=1"});
    SmallRun parts({"data=synthetic:1x8x8,3,48", "batch=4", "accumulation=2", "epochs=1"});
    EventLog whole_log;
    EventLog parts_log;
    QCOMPARE(whole.train(whole_log).phase, std::string("finished"));
    QCOMPARE(parts.train(parts_log).phase, std::string("finished"));
    QCOMPARE(parts_log.steps(), whole_log.steps());
    QCOMPARE(parts_log.column("learning_rate"), whole_log.column("learning_rate"));
    QVERIFY(std::abs(parts_log.column("loss")[0].get<double>() - whole_log.column("loss")[0].get<double>()) < 0.2);
}

void TestTrainer::the_test_part_is_measured_once_at_the_end() {
    QTemporaryDir directory;
    const auto write = [&](const char* name, const std::vector<int>& header, const std::vector<unsigned char>& bytes) {
        std::ofstream file(std::filesystem::path(directory.path().toStdString()) / name, std::ios::binary);
        file.put(0).put(0).put(8).put(static_cast<char>(header.size()));
        for (int extent : header)
            file.put(0).put(0).put(static_cast<char>(extent >> 8)).put(static_cast<char>(extent & 255));
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    const auto part = [&](const std::string& prefix, int count) {
        std::vector<unsigned char> pixels;
        std::vector<unsigned char> labels;
        for (int i = 0; i < count; ++i) {
            labels.push_back(static_cast<unsigned char>(i % 2));
            for (int p = 0; p < 64; ++p)
                pixels.push_back(static_cast<unsigned char>(i % 2 ? 255 - 3 * p : 3 * p));
        }
        write((prefix + "-images-idx3-ubyte").c_str(), {count, 8, 8}, pixels);
        write((prefix + "-labels-idx1-ubyte").c_str(), {count}, labels);
    };
    part("train", 40);
    part("t10k", 20);
    SmallRun run({"data=idx:" + directory.path().toStdString() + ",classes=2", "validation_share=0.25", "epochs=2"});
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    const auto evaluations = log.of_type("evaluation");
    QCOMPARE(evaluations.size(), std::size_t{3});
    QCOMPARE(evaluations[0]["images"], Json(10));
    QCOMPARE(evaluations[2]["set"], Json("test"));
    QCOMPARE(evaluations[2]["images"], Json(20));
    // The last checkpoint holds the last weights again, not those that were tested.
    QCOMPARE(run.last().info.step, std::int64_t{8});
}

void TestTrainer::balanced_classes_weigh_the_same() {
    // As many images of each class: the weights are 1, and change nothing.
    const auto losses = [](const std::string& data, const std::string& weights) {
        SmallRun run({"data=" + data, "class_weights=" + weights, "epochs=2", "batch=8", "seed=3"});
        EventLog log;
        const auto outcome = run.train(log);
        if (outcome.phase != "finished" || run.last().store.has("class_weights"))
            qFatal("%s", outcome.reason.c_str());
        std::vector<double> values;
        for (const auto& loss : log.column("loss"))
            values.push_back(loss);
        return values;
    };
    const auto without = losses("synthetic:1x8x8,3,60", "none"), equal = losses("synthetic:1x8x8,3,60", "balanced");
    QCOMPARE(without.size(), equal.size());
    for (std::size_t i = 0; i < without.size(); ++i)
        QVERIFY2(std::abs(without[i] - equal[i]) < 1e-4, qPrintable(QString::number(i)));

    // Twice as many of one class as of the other: its images count less.
    QTemporaryDir directory;
    const auto folder = directory.path().toStdString();
    for (int i = 0; i < 60; ++i) {
        const bool rare = i % 3 == 0;
        const auto name = std::filesystem::path(folder) / (rare ? "rare" : "often") / (std::to_string(i) + ".png");
        std::filesystem::create_directories(name.parent_path());
        const auto bytes = encoded(plain_picture(rare, i), "png");
        std::ofstream(name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    const auto uneven = losses("folder:" + folder, "none"), weighted = losses("folder:" + folder, "balanced");
    QCOMPARE(uneven.size(), weighted.size());
    // The first one is log 2 whatever the weights are: all classes are as probable then.
    QVERIFY(std::abs(uneven.back() - weighted.back()) > 1e-3);
}

void TestTrainer::learning_lowers_the_loss() {
    SmallRun run({"data=synthetic:1x8x8,3,300", "epochs=6", "batch=16"});
    EventLog log;
    QCOMPARE(run.train(log).phase, std::string("finished"));
    const auto evaluations = log.of_type("evaluation");
    QVERIFY(evaluations.back()["accuracy"].get<double>() > 0.8);
    QVERIFY(log.of_type("epoch").back()["loss"].get<double>() <
            0.6 * log.of_type("epoch").front()["loss"].get<double>());
}

void TestTrainer::best_and_last_are_kept_and_old_ones_go() {
    SmallRun run({"checkpoint.every_steps=2", "checkpoint.keep=3"});
    EventLog log;
    QCOMPARE(run.train(log).phase, std::string("finished"));
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

void TestTrainer::early_stopping() {
    // A learning rate of zero never gets better than the first evaluation.
    SmallRun run({"epochs=50", "patience=2", "optimizer.learning_rate=0", "optimizer.weight_decay=0"});
    EventLog log;
    QCOMPARE(run.train(log).phase, std::string("finished"));
    QVERIFY(log.of_type("evaluation").size() < 10);
    QVERIFY(log.text().find("Stopped early") != std::string::npos);
}

void TestTrainer::weights_that_run_away_end_the_run_data() {
    QTest::addColumn<QStringList>("settings");
    // The gradient overflows before the loss does: its updates are left out, and nothing would ever change again.
    QTest::newRow("gradient") << QStringList{"optimizer.learning_rate=1e6"};
    QTest::newRow("loss") << QStringList{"optimizer.kind=adamw", "optimizer.learning_rate=1e6",
                                         "optimizer.weight_decay=1"};
}

void TestTrainer::weights_that_run_away_end_the_run() {
    QFETCH(QStringList, settings);
    SmallRun run({"schedule.warmup_epochs=0", "max_bad_steps=3", "epochs=30"});
    for (const auto& setting : settings)
        run.set(setting.toStdString());
    EventLog log;
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QCOMPARE(outcome.code, ExitCode::failed);
    QVERIFY2(outcome.reason.find("3 steps in a row") != std::string::npos, outcome.reason.c_str());
    QVERIFY2(outcome.reason.find("learning rate") != std::string::npos, outcome.reason.c_str());
    QCOMPARE(log.column("loss").size(), log.steps().size());
    QCOMPARE(log.phases().back(), std::string("failed"));
    QVERIFY(!log.of_type("error").empty());
}

void TestTrainer::a_single_class_is_warned_of() {
    SmallRun run({"data=synthetic:1x8x8,1,53", "epochs=1"});
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    const auto warnings = log.of_type("warning");
    QCOMPARE(warnings.size(), std::size_t{1});
    QVERIFY(warnings.front().dump().find("a single class") != std::string::npos);
}

void TestTrainer::an_image_folder_is_trained_on_without_its_bad_files() {
    const PhotoFolder photos;
    for (int i = 0; i < 20; ++i) {
        photos.png("10/" + std::to_string(i) + ".png", QColor(200 + i, 0, 0), 12, 10);
        photos.png("2/" + std::to_string(i) + ".png", QColor(0, 0, 200 + i), 10, 10);
    }
    photos.write("2/bad.jpg", {});
    SmallRun run({"image_size=8", "augmentation.crop=0"});
    run.set("data=" + photos.spec());
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    const auto text = log.of_type("warning").at(0).at("text").get<std::string>();
    QVERIFY2(text.find("1 of 41 files cannot be used") != std::string::npos, text.c_str());
    QVERIFY2(text.find("bad.jpg") != std::string::npos, text.c_str());
    const auto last = run.last();
    QCOMPARE(last.info.class_names, (std::vector<std::string>{"2", "10"}));
    QCOMPARE(last.info.network.channels, 3);
    QCOMPARE(last.info.network.height, 8);
    QVERIFY(log.of_type("evaluation").back().at("best_accuracy").get<double>() > 0.9);

    run.set("max_bad_share=0.02");
    EventLog refused;
    const auto second = run.train(refused);
    QCOMPARE(second.code, ExitCode::bad_data);
    QVERIFY2(second.reason.find("1 of 41 image files") != std::string::npos, second.reason.c_str());
}

void TestTrainer::files_that_a_set_lacks_are_told() {
    QTemporaryDir directory;
    const std::filesystem::path folder = directory.path().toStdString();
    for (const char* name : {"data_batch_1.bin", "data_batch_3.bin"})
        std::ofstream(folder / name, std::ios::binary) << std::string(8 * (1 + 3072), '\1');
    SmallRun run({"data=cifar10:" + folder.string()});
    const auto setup = set_up_run(RunConfig::from_json(read_json(run.folder().config())));
    std::string notes;
    for (const auto& note : setup.notes)
        notes += note;
    for (const int missing : {2, 4, 5})
        QVERIFY2(notes.find("data_batch_" + std::to_string(missing) + ".bin'") != std::string::npos, notes.c_str());
    QVERIFY(notes.find("data_batch_3.bin") == std::string::npos);
}

void TestTrainer::reading_images_is_told_and_can_be_stopped() {
    const PhotoFolder photos;
    QImage noise(300, 300, QImage::Format_RGB888);
    for (int i = 0; i < 300 * 300; ++i)
        noise.setPixel(i % 300, i / 300, static_cast<uint>(i) * 2654435761u | 0xff000000u);
    photos.write("a/0.png", encoded(noise, "PNG")); // milliseconds each
    for (int i = 1; i < 20000; ++i)
        std::filesystem::create_hard_link(photos.path() / "a/0.png",
                                          photos.path() / "a" / (std::to_string(i) + ".png"));
    SmallRun run({"image_size=8"});
    run.set("data=" + photos.spec());
    /// Stops once the first images are told of.
    class StopWhenTold : public CommandSource {
    public:
        std::optional<Command> poll() override {
            return std::exchange(told, false) ? std::optional(Command::stop) : std::nullopt;
        }
        std::optional<Command> wait(std::chrono::milliseconds) override { return Command::stop; }
        bool told = false, ever_told = false;
    } commands;
    EventLog log;
    log.on_event = [&](const Json& event) {
        const auto reason = event.value("reason", std::string());
        if (reason.starts_with("Reading images: ") && reason.ends_with(" of 20000."))
            commands.told = commands.ever_told = true;
    };
    const auto outcome = run.train(log, commands);
    QCOMPARE(outcome.phase, std::string("stopped"));
    QVERIFY(commands.ever_told);
    QVERIFY(log.of_type("steps").empty());
}

/// The limit is what the system has to give, by its own account and that of every control group above the process.
void TestTrainer::memory_is_what_the_machine_has_free() {
    constexpr std::size_t mib = std::size_t{1} << 20;
    QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    const auto write = [&](const char* name, const std::string& text) {
        std::filesystem::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    };
    QVERIFY(!available_memory(root));
    write("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1024 kB\nMemAvailable: 4194304 kB\n");
    QCOMPARE(*available_memory(root), 4096 * mib);
    write("proc/self/cgroup", "0::/user/job\n");
    write("sys/fs/cgroup/user/job/memory.max", "max\n");
    write("sys/fs/cgroup/user/job/memory.current", "5000\n");
    QCOMPARE(*available_memory(root), 4096 * mib);
    write("sys/fs/cgroup/user/memory.max", std::to_string(3072 * mib));
    write("sys/fs/cgroup/user/memory.current", std::to_string(2048 * mib));
    write("sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file " + std::to_string(512 * mib) + "\n");
    QCOMPARE(*available_memory(root), 1536 * mib);
    write("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(1024 * mib));
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(1025 * mib));
    QCOMPARE(*available_memory(root), std::size_t{0});

    QCOMPARE(memory_for_a_run(10240 * mib), 9216 * mib);
    QCOMPARE(memory_for_a_run(1024 * mib), 768 * mib);
    QCOMPARE(memory_for_a_run(0), 64 * mib);
}

void TestTrainer::nan_is_never_best() {
    RunState state;
    state.epoch = 1;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!state.take_evaluation({.loss = nan, .correct = 9, .images = 10}));
    QVERIFY(!state.take_evaluation({.loss = std::numeric_limits<double>::infinity(), .correct = 9, .images = 10}));
    QVERIFY(!state.take_evaluation({.loss = 1, .correct = nan, .images = 10}));
    QCOMPARE(state.best_epoch, 0);
    QVERIFY(state.take_evaluation({.loss = 1, .correct = 5, .images = 10}));
    QVERIFY(!state.take_evaluation({.loss = 1, .correct = 5, .images = 10})); // a tie keeps the earlier one
    QVERIFY(state.take_evaluation({.loss = 1, .correct = 6, .images = 10}));
}

void TestTrainer::a_batch_larger_than_the_set_is_cut_in_words() {
    SmallRun run({"batch=500", "epochs=1"});
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    const Json plan = log.of_type("plan").at(0);
    QCOMPARE(plan["batch"], Json(53));
    QVERIFY(plan["notes"].dump().find("500") != std::string::npos);
    QCOMPARE(log.steps().size(), std::size_t{1});
}

void TestTrainer::a_last_batch_of_one_is_settled_before_the_start() {
    SmallRun run({"data=synthetic:1x8x8,2,121", "batch=4", "epochs=1"});
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    const Json plan = log.of_type("plan").at(0);
    QVERIFY(!plan["notes"].empty());
    QCOMPARE(plan["steps_per_epoch"], Json(31));
    for (const auto& event : log.events) { // the notes come before the first step
        if (event["type"] == "plan")
            break;
        QVERIFY(event["type"] != "steps");
    }
}

void TestTrainer::what_does_not_fit_in_memory_is_shrunk_openly() {
    const std::vector<std::string> settings{"data=synthetic:3x32x32,3,80", "network.widths=[16,16,16]", "batch=64",
                                            "epochs=1"};
    SmallRun large(settings);
    EventLog large_log;
    QCOMPARE(large.train(large_log).phase, std::string("finished"));
    const auto whole = large_log.of_type("plan")[0]["memory"]["total"].get<std::int64_t>();

    SmallRun run(settings);
    run.set("memory_limit_mib=" + std::to_string(whole / 3 / (1 << 20)));
    EventLog log;
    const auto outcome = run.train(log);
    QVERIFY2(outcome.phase == "finished", outcome.reason.c_str());
    QVERIFY(!log.of_type("fallback").empty());
    QCOMPARE(log.of_type("fallback").back()["rung"], Json("batch"));
    const Json plan = log.of_type("plan").at(0);
    QVERIFY(plan["memory"]["total"].get<std::int64_t>() <= whole / 3);
    QVERIFY(plan["batch"].get<int>() < 64);
}

void TestTrainer::memory_that_nothing_fits_into_is_an_error() {
    SmallRun run({"data=synthetic:3x256x256,3,40", "network.widths=[64,64]", "memory_limit_mib=1"});
    EventLog log;
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QCOMPARE(outcome.code, ExitCode::out_of_memory);
    QVERIFY(log.steps().empty());
}

void TestTrainer::a_bad_configuration_fails_in_words() {
    SmallRun run;
    Json json = read_json(run.folder().config());
    json["epohcs"] = 3;
    write_json(run.folder().config(), json);
    EventLog log;
    const auto outcome = run.train(log);
    QCOMPARE(outcome.code, ExitCode::bad_configuration);
    QVERIFY(outcome.reason.find("epohcs") != std::string::npos);

    SmallRun no_data({"data=idx:/nonexistent"});
    QCOMPARE(no_data.train(log).code, ExitCode::bad_data);
}

void TestTrainer::commands_are_answered_in_every_phase_data() {
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

void TestTrainer::commands_are_answered_in_every_phase() {
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

void TestTrainer::an_abandoned_run_saves_and_leaves() {
    SmallRun run({"epochs=1000"});
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(12, Command::abandon)).phase, std::string("interrupted"));
    QCOMPARE(run.last().info.step, log.steps().back());
}

void TestTrainer::a_checkpoint_on_demand() {
    SmallRun run;
    EventLog log;
    QCOMPARE(run.train(log, CommandAt(4, Command::checkpoint)).phase, std::string("finished"));
    QCOMPARE(log.of_type("checkpoint").at(0)["step"], Json(4));
}

void TestTrainer::the_passport_says_what_a_rerun_needs() {
    SmallRun run({"epochs=1"});
    EventLog log;
    QCOMPARE(run.train(log).phase, std::string("finished"));
    const Json passport = read_json(run.folder().passport());
    for (const char* key : {"build", "backend", "threads", "seed", "data_hash", "kernels", "fallbacks", "bit_exact"})
        QVERIFY2(passport.contains(key), key);
    QCOMPARE(passport["data_hash"].get<std::string>().size(), std::size_t{16});
}

void TestTrainer::the_passport_counts_the_threads_in_force() {
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
}

void TestTrainer::the_layers_are_profiled() {
    SmallRun run({"epochs=4"});
    EventLog log;
    QCOMPARE(run.train(log).phase, std::string("finished"));
    const auto samples = log.of_type("layers");
    QVERIFY(!samples.empty());
    double milliseconds = 0;
    for (const auto& layer : samples[0]["layers"])
        milliseconds += layer["ms"].get<double>();
    QVERIFY(milliseconds > 0);
    QVERIFY(samples[0].dump().find("blocks.0.conv") != std::string::npos);
}

void TestTrainer::time_is_estimated() {
    SmallRun run({"epochs=2"});
    auto setup = set_up_run(RunConfig::from_json(read_json(run.folder().config())));
    const double short_run = estimated_seconds(setup);
    setup.config.epochs = 2000;
    const double long_run = estimated_seconds(setup);
    QVERIFY(short_run > 0);
    QVERIFY(long_run > 10 * short_run);
}

QTEST_GUILESS_MAIN(TestTrainer)
#include "tst_trainer.moc"
