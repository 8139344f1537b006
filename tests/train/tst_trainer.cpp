// SPDX-License-Identifier: Apache-2.0
// What a run tells, and what it learns.
#include "train/run_events.h"
#include "train/run_setup.h"
#include "train/run_state.h"
#include "train/time_estimate.h"
#include "train_support.h"

// Behind the engine's headers, which Qt's macros must not meet.
#include "data/photo_folder.h"

#include <QtTest>
#include <fstream>
#include <limits>
#include <numeric>

using namespace espalier;
using namespace espalier::test;

namespace {

QImage plain_picture(bool rare, int i) { return plain(8, 8, rare ? QColor(200, 10 + i, 0) : QColor(0, 10 + i, 200)); }

} // namespace

class TestTrainer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_run_tells_its_story();
    void accumulation_equals_a_larger_batch();
    void the_test_part_is_measured_once_at_the_end();
    void balanced_classes_weigh_the_same();
    void learning_lowers_the_loss();
    void early_stopping();
    void weights_that_run_away_end_the_run_data();
    void weights_that_run_away_end_the_run();
    void nan_is_never_best();
    void of_equal_accuracies_the_smaller_loss_is_best();
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
    QCOMPARE(whole.fault_of_training(whole_log), std::string());
    QCOMPARE(parts.fault_of_training(parts_log), std::string());
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
    QCOMPARE(run.fault_of_training(log), std::string());
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
    QCOMPARE(run.fault_of_training(log), std::string());
    const auto evaluations = log.of_type("evaluation");
    QVERIFY(evaluations.back()["accuracy"].get<double>() > 0.8);
    QVERIFY(log.of_type("epoch").back()["loss"].get<double>() <
            0.6 * log.of_type("epoch").front()["loss"].get<double>());
}

void TestTrainer::early_stopping() {
    // A learning rate of zero never gets better than the first evaluation.
    SmallRun run({"epochs=50", "patience=2", "optimizer.learning_rate=0", "optimizer.weight_decay=0"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
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

void TestTrainer::nan_is_never_best() {
    RunState state;
    state.epoch = 1;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!state.take_evaluation({.loss = nan, .correct = 9, .images = 10}));
    QVERIFY(!state.take_evaluation({.loss = std::numeric_limits<double>::infinity(), .correct = 9, .images = 10}));
    QVERIFY(!state.take_evaluation({.loss = 1, .correct = nan, .images = 10}));
    QCOMPARE(state.best_epoch, 0);
    const auto told = [&](const char* field) {
        return evaluation_event(state, "validation", {}, false).contains(field);
    };
    QVERIFY(!told("best_accuracy") && !told("best_epoch"));
    QVERIFY(state.take_evaluation({.loss = 1, .correct = 5, .images = 10}));
    QVERIFY(told("best_accuracy") && told("best_epoch"));
    QVERIFY(!state.take_evaluation({.loss = 1, .correct = 5, .images = 10})); // a tie keeps the earlier one
    QVERIFY(state.take_evaluation({.loss = 1, .correct = 6, .images = 10}));
}

/// As where there are a dozen images: many networks tell the same number of them right.
void TestTrainer::of_equal_accuracies_the_smaller_loss_is_best() {
    RunState state;
    state.epoch = 5;
    QVERIFY(state.take_evaluation({.loss = 78, .correct = 11, .images = 12}));
    state.epoch = 6;
    QVERIFY(!state.take_evaluation({.loss = 79, .correct = 11, .images = 12}));
    QVERIFY(!state.take_evaluation({.loss = 1, .correct = 10, .images = 12}));
    QCOMPARE(state.evaluations_since_best, 2);
    state = RunState::from_json(state.to_json());
    state.epoch = 15;
    QVERIFY(state.take_evaluation({.loss = 2.5, .correct = 11, .images = 12}));
    QCOMPARE(state.best_epoch, 15);
    QCOMPARE(state.best_accuracy, 11.0 / 12);
    QCOMPARE(state.evaluations_since_best, 0);

    auto older = state.to_json(); // which tells no loss: what was the best stays it
    older.erase("best_loss");
    state = RunState::from_json(older);
    QVERIFY(!state.take_evaluation({.loss = 0.1, .correct = 11, .images = 12}));
    QVERIFY(state.take_evaluation({.loss = 9, .correct = 12, .images = 12}));
    state.forget_best();
    QVERIFY(state.take_evaluation({.loss = 90, .correct = 1, .images = 12}));
}

void TestTrainer::the_layers_are_profiled() {
    SmallRun run({"epochs=4"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
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
