// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/error.h"
#include "data/idx_files.h"
#include "plan/recording_backend.h"
#include "train/training_loop.h"
#include "train_support.h"

#include <QtTest>
#include <atomic>
#include <new>
#include <optional>
#include <thread>

using namespace espalier;
using namespace espalier::test;
using espalier::testing::RecordingBackend;

namespace {

RecordingBackend::Fault fault_to_inject = RecordingBackend::Fault::none;
std::function<void()> after_replay;

int trims = 0;     ///< of a backend's caches
int lowered = 0;   ///< ops that were given a kernel
int allocated = 0; ///< pieces of memory that were taken
std::vector<std::string> warnings; ///< that a backend still has to tell

/// As a GPU that is not the first: a thread reaches it when it has made it or entered it.
class OneThreadBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    void enter_thread() override { thread_ = std::this_thread::get_id(); }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        check();
        ++allocated;
        return inner().allocate(bytes);
    }
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        ++lowered;
        return inner().lower(graph, op, given, given_outputs);
    }
    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        check();
        inner().upload(tensor, layout, host, device);
    }
    [[nodiscard]] std::vector<std::string> take_warnings() override { return std::exchange(warnings, {}); }
    void trim_caches() override {
        ++trims;
        inner().trim_caches();
    }
    void synchronize() override {
        check();
        inner().synchronize();
    }

private:
    void check() const {
        if (std::this_thread::get_id() != thread_)
            throw DeviceError("This thread has another device.");
    }
    std::thread::id thread_ = std::this_thread::get_id();
};

/// What "auto" means in this program: the processor, but recorded, and for one thread at a time.
BackendDefinition recording_definition() {
    return {.name = "recording",
            .description = "records the processor's steps",
            .preference = 1000,
            .make =
                [](const BackendOptions& options) {
                    auto backend = std::make_unique<RecordingBackend>(
                        std::make_unique<OneThreadBackend>(make_backend("cpu", options)), fault_to_inject);
                    backend->after_replay = [] {
                        if (after_replay)
                            after_replay();
                    };
                    return backend;
                },
            .available = {}};
}

/// A small run that is ready for its first update.
RunSetup ready_run(Json settings) {
    Json config{{"data", "synthetic:1x8x8,3,53"},
                {"network", {{"network", "quick"}, {"widths", {4, 8}}}},
                {"epochs", 1},
                {"threads", 1},
                {"data_on_device", "off"}};
    config.update(settings);
    auto setup = set_up_run(RunConfig::from_json(config));
    ParameterStore store;
    store.add_missing(setup.network->forward_graph(), 1);
    setup.network->load(store);
    return setup;
}

/// A set that calls back before it reads an image.
class WatchedDataset final : public Dataset {
public:
    WatchedDataset(std::shared_ptr<const Dataset> inner, std::function<void()> before_read)
        : Dataset(inner->info()), inner_(std::move(inner)), before_read_(std::move(before_read)) {}
    [[nodiscard]] std::size_t size(Part part) const override { return inner_->size(part); }
    [[nodiscard]] std::int32_t label(Part part, std::size_t index) const override { return inner_->label(part, index); }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        before_read_();
        inner_->read(part, index, out);
    }
    [[nodiscard]] std::string file(Part part, std::size_t index) const override { return inner_->file(part, index); }
    [[nodiscard]] std::string content_hash() const override { return inner_->content_hash(); }

private:
    std::shared_ptr<const Dataset> inner_;
    std::function<void()> before_read_;
};

/// Wants to stop from some moment on, and is asked whenever it can be.
class StopWhen final : public CommandSource {
public:
    std::atomic<bool> now = false;
    std::optional<Command> poll() override { return now.exchange(false) ? std::optional(Command::stop) : std::nullopt; }
    std::optional<Command> wait(std::chrono::milliseconds) override { return poll(); }
    [[nodiscard]] std::chrono::milliseconds patience() const override { return std::chrono::milliseconds(0); }
};

/// Everything that a run tells of its training and evaluation.
std::vector<Json> told(const EventLog& log) {
    std::vector<Json> values;
    for (const char* column : {"loss", "accuracy", "learning_rate"})
        values.emplace_back(log.column(column));
    for (const auto& event : log.of_type("evaluation"))
        values.push_back({event["loss"], event["accuracy"]});
    return values;
}

} // namespace

/// Whole runs whose steps are replayed: schedule, changes of plan (evaluations, last batches of another size),
/// accumulation, pauses.
class TestRecordedRun : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        register_all_backends();
        BackendRegistry::instance().add(recording_definition());
    }
    void init() {
        fault_to_inject = RecordingBackend::Fault::none;
        after_replay = {};
    }

    void a_replayed_run_is_the_run_kernel_by_kernel_data() {
        QTest::addColumn<QString>("backend");
        QTest::addColumn<QStringList>("settings");
        const std::pair<const char*, QStringList> cases[] = {
            {"warm-up and cosine, odd last batches", {}},
            {"data on the device", {"data_on_device=on"}},
            {"data sent by the host", {"data_on_device=off"}},
            {"accumulation", {"accumulation=3", "batch=4", "optimizer.kind=adamw", "optimizer.learning_rate=0.01"}},
            {"clipped, steps of the rate",
             {"optimizer.clip_norm=0.5", "schedule.kind=step", "schedule.step_epochs=[1,2]"}},
        };
        for (const auto& status : available_backends())
            if (status.available && (status.name == "recording" || !status.devices.empty()))
                for (const auto& [name, settings] : cases)
                    QTest::newRow((status.name + ": " + name).c_str())
                        << QString::fromStdString(status.name == "recording" ? "auto" : status.name) << settings;
    }
    void a_replayed_run_is_the_run_kernel_by_kernel() {
        QFETCH(QString, backend);
        QFETCH(QStringList, settings);
        std::vector<std::string> list{"backend=" + backend.toStdString(), "toggles.deterministic=true"};
        for (const auto& setting : settings)
            list.push_back(setting.toStdString());
        SmallRun replayed(list), launched(list);
        launched.set("toggles.cuda_graphs=false");
        EventLog replayed_log, launched_log;
        QCOMPARE(replayed.fault_of_training(replayed_log), std::string());
        QCOMPARE(launched.fault_of_training(launched_log), std::string());
        QCOMPARE(QString::fromStdString(difference(replayed.last(), launched.last())), QString());
        QCOMPARE(told(replayed_log), told(launched_log));
        for (const auto& event : replayed_log.of_type("fallback"))
            QFAIL(event.dump().c_str());
    }

    void a_pause_between_replays_changes_nothing() {
        SmallRun whole({"backend=auto"}), paused({"backend=auto"});
        EventLog whole_log, paused_log;
        QCOMPARE(whole.fault_of_training(whole_log), std::string());
        QCOMPARE(paused.train(paused_log, CommandAt(9, Command::pause)).phase, std::string("finished"));
        QCOMPARE(QString::fromStdString(difference(whole.last(), paused.last())), QString());
    }

    void caches_are_trimmed_when_the_data_is_on_the_device() {
        for (const bool on_device : {false, true}) {
            SmallRun run({"backend=auto", on_device ? "data_on_device=on" : "data_on_device=off"});
            EventLog log;
            trims = 0;
            QCOMPARE(run.fault_of_training(log), std::string());
            QCOMPARE(trims, on_device ? 1 : 0);
        }
    }

    void caches_are_trimmed_before_a_smaller_plan_is_tried() {
        SmallRun run({"backend=auto", "data=synthetic:3x256x256,3,40", "network.widths=[64,64]", "memory_limit_mib=1",
                      "data_on_device=off"});
        EventLog log;
        trims = 0;
        QCOMPARE(run.train(log).code, ExitCode::out_of_memory);
        QVERIFY(trims > 0);
    }

    /// Memory that is not there for the first validation is found missing before the first step.
    void evaluation_is_planned_before_the_first_step() {
        for (const char* place : {"data_on_device=on", "data_on_device=off"}) {
            SmallRun run({"backend=auto", place});
            EventLog log;
            std::optional<std::pair<int, int>> at_first_evaluation;
            log.on_event = [&](const Json& event) {
                if (event.at("type") == "phase" && event.at("phase") == "evaluating" && !at_first_evaluation)
                    at_first_evaluation = {lowered, allocated};
            };
            CommandAt never;
            QCOMPARE(run.train(log, static_cast<CommandSource&>(never)).phase, std::string("finished"));
            QCOMPARE(log.of_type("evaluation").size(), std::size_t{3});
            QVERIFY(at_first_evaluation && at_first_evaluation->first > 0);
            QCOMPARE(std::pair(lowered, allocated), *at_first_evaluation);
        }
    }

    /// For example of memory that it could not pin, found when the first batch is sent or later.
    void what_a_backend_warns_of_is_told_once() {
        SmallRun run({"backend=auto"});
        EventLog log;
        warnings = {"found while it was set up"};
        int replays = 0;
        after_replay = [&] {
            if (++replays == 5)
                warnings = {"found in a step"};
        };
        QCOMPARE(run.fault_of_training(log), std::string());
        std::vector<std::string> told;
        for (const auto& event : log.of_type("warning"))
            told.push_back(event.at("text"));
        QCOMPARE(told, (std::vector<std::string>{"found while it was set up", "found in a step"}));
    }

    void a_wrong_recording_is_told_and_left_data() {
        QTest::addColumn<int>("fault");
        QTest::newRow("wrong values") << static_cast<int>(RecordingBackend::Fault::leaves_out_the_last);
        QTest::newRow("cannot be recorded") << static_cast<int>(RecordingBackend::Fault::cannot_record);
        QTest::newRow("fails") << static_cast<int>(RecordingBackend::Fault::fails_when_replayed);
    }
    void a_wrong_recording_is_told_and_left() {
        QFETCH(int, fault);
        SmallRun expected({"backend=cpu"}), run({"backend=auto"});
        EventLog expected_log, log;
        QCOMPARE(expected.fault_of_training(expected_log), std::string());
        fault_to_inject = static_cast<RecordingBackend::Fault>(fault);
        QCOMPARE(run.fault_of_training(log), std::string());
        QCOMPARE(QString::fromStdString(difference(run.last(), expected.last())), QString());
        QCOMPARE(told(log), told(expected_log));
        const auto fallbacks = log.of_type("fallback");
        QCOMPARE(fallbacks.size(), std::size_t{1});
        QCOMPARE(fallbacks[0]["rung"], Json("cuda_graphs"));
        QVERIFY(!fallbacks[0]["reason"].get<std::string>().empty());
        const auto passport = read_json(run.folder().passport());
        QCOMPARE(passport["fallbacks"].size(), std::size_t{1});
        QCOMPARE(passport["fallbacks"][0]["reason"], fallbacks[0]["reason"]);
    }

    void results_that_are_late_come_though_they_are_asked_for_at_every_update() {
        const auto setup = ready_run({{"batch", 4}});
        const std::vector<float> images(4 * 64, 0.25F);
        const std::vector<std::int32_t> labels{0, 1, 2, 0};
        std::size_t come = 0;
        for (std::int64_t step = 1; step <= 12; ++step) {
            QVERIFY(setup.network->train({images, labels}, {.learning_rate = 0.05, .step = step}));
            come += setup.network->take_ready_history().size();
            setup.network->ask_for_history();
        }
        QVERIFY2(come >= 6, std::to_string(come).c_str());
        come += setup.network->take_history().size();
        QCOMPARE(come, std::size_t{12});
    }

    /// The second part is late, and a stop comes meanwhile: the first one is with the device already.
    void an_update_that_the_device_has_begun_is_ended() {
        auto setup = ready_run({{"batch", 4}, {"accumulation", 2}});
        StopWhen commands;
        int images = 0;
        setup.sets.train.dataset = std::make_shared<WatchedDataset>(setup.sets.train.dataset, [&] {
            if (++images != 5)
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            commands.now = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        });
        EventLog log;
        RunState state;
        RunControl control(commands, log);
        TrainingLoop loop(setup, state, control, log, std::chrono::steady_clock::now());
        QVERIFY(!loop.train_epoch([&] { return control.leaving(); }));
        QCOMPARE(state.step, std::int64_t{1});
        QCOMPARE(log.steps(), std::vector<std::int64_t>{1});
        QVERIFY(!loop.in_update());
    }

    void memory_that_runs_out_within_an_update_saves_nothing_of_it_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<int>("sound");
        QTest::newRow("in the comparison") << QStringList{} << 1;
        QTest::newRow("in a later part") << QStringList{"batch=4", "accumulation=3"} << 0;
    }
    void memory_that_runs_out_within_an_update_saves_nothing_of_it() {
        QFETCH(QStringList, settings);
        QFETCH(int, sound); // updates that were whole
        std::vector<std::string> list{"backend=auto", "checkpoint.every_steps=1"};
        for (const auto& setting : settings)
            list.push_back(setting.toStdString());
        SmallRun run(list);
        after_replay = [] { throw std::bad_alloc(); };
        EventLog log;
        const auto outcome = run.train(log);
        QCOMPARE(outcome.code, ExitCode::out_of_memory);
        QVERIFY(outcome.next.has_value());
        const auto checkpoints = log.of_type("checkpoint");
        QCOMPARE(checkpoints.size(), static_cast<std::size_t>(sound));
        if (sound > 0)
            QCOMPARE(run.last().info.step, std::int64_t{sound});
    }

    void memory_that_runs_out_between_updates_loses_nothing() {
        SmallRun run({"backend=auto"});
        int replays = 0;
        EventLog log;
        after_replay = [&] { // the first of an evaluation comes after all updates of the epoch
            const auto phases = log.of_type("phase");
            if (phases.back()["phase"] == "evaluating" && ++replays == 1)
                throw std::bad_alloc();
        };
        QCOMPARE(run.train(log).code, ExitCode::out_of_memory);
        QCOMPARE(run.last().info.step, log.steps().back());
    }

    void memory_that_runs_out_in_the_test_leaves_the_last_weights() {
        QTemporaryDir directory;
        const std::filesystem::path folder = directory.path().toStdString();
        for (const auto& [part, count] : {std::pair("train", 40U), std::pair("t10k", 20U)}) { // nothing to be learned
            Bytes labels(count);
            for (std::size_t i = 0; i < count; ++i)
                labels[i] = static_cast<std::uint8_t>(i % 2);
            const std::string name = part;
            write(folder / (name + "-images-idx3-ubyte"), idx_bytes({count, 8, 8}, noise(64 * std::size_t{count})));
            write(folder / (name + "-labels-idx1-ubyte"), idx_bytes({count}, labels));
        }
        SmallRun run({"backend=auto", "data=idx:" + folder.string() + ",classes=2", "validation_share=0.25",
                      "optimizer.learning_rate=0.5", "seed=2"}); // with which the second epoch is the best
        EventLog log;
        after_replay = [&] {
            if (log.of_type("phase").back()["phase"] == "evaluating" && log.of_type("evaluation").size() == 3)
                throw std::bad_alloc();
        };
        QCOMPARE(run.train(log).code, ExitCode::out_of_memory);
        const auto evaluations = log.of_type("evaluation");
        QVERIFY(evaluations.back()["best_epoch"] < 3); // other weights than the last
        const auto checkpoints = log.of_type("checkpoint");
        QCOMPARE(checkpoints.back()["step"], Json(log.steps().back()));
        const auto phases = log.phases();
        QCOMPARE(phases.back(), std::string("evaluating")); // nothing was saved afterwards
    }

    void a_device_error_in_a_replay_blames_the_whole_update() {
        SmallRun run({"backend=auto"});
        int replays = 0;
        after_replay = [&] {
            if (++replays == 3)
                throw DeviceError("This replay was made to fail.");
        };
        EventLog log;
        const auto outcome = run.train(log);
        QCOMPARE(outcome.code, ExitCode::device_fault);
        QVERIFY(outcome.blame.at("certainty").get<std::string>().starts_with("The update was launched as a whole"));
    }
};

QTEST_GUILESS_MAIN(TestRecordedRun)
#include "tst_recorded_run.moc"
