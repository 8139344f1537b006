// SPDX-License-Identifier: Apache-2.0
// Timing of algorithms between updates, on a backend that pretends to have some: it computes as the reference does.
#include "backends/registry.h"
#include "plan/forwarding_backend.h"
#include "train/evaluation.h"
#include "train/passport.h"
#include "train/training_loop.h"
#include "train_support.h"
#include "worker/schema_check.h"

#include <QtTest>
#include <chrono>
#include <thread>

using namespace espalier;
using espalier::test::CommandAt;
using espalier::test::EventLog;

namespace {

/// A kernel under another name.
class NamedKernel final : public Kernel {
public:
    NamedKernel(std::unique_ptr<Kernel> kernel, std::string name)
        : kernel_(std::move(kernel)), name_(std::move(name)) {}
    void bind(const Binding& binding) override { kernel_->bind(binding); }
    void run() override { kernel_->run(); }
    [[nodiscard]] std::string name() const override { return name_; }

private:
    std::unique_ptr<Kernel> kernel_;
    std::string name_;
};

/// The reference backend, whose convolutions are guessed at first and chosen after so many calls of tune().
class TunableBackend final : public ForwardingBackend {
public:
    explicit TunableBackend(int problems) : ForwardingBackend(make_backend("reference", {})) {
        state.open = static_cast<std::size_t>(problems);
    }

    Tuning state;
    double seconds_each = 0;            ///< that a call of tune() says it took
    std::chrono::milliseconds pause{0}; ///< that it does take
    std::size_t workspace_tuned = 64;   ///< that a chosen convolution asks for
    std::size_t kept = 0;               ///< problems whose choice was kept for later processes
    int plans = 0;                      ///< convolutions lowered with a choice
    std::function<void()> on_plan;      ///< called for each of them

    bool tune(double seconds) override {
        if (seconds <= 0) {
            kept = state.timed;
            return state.open > 0;
        }
        if (state.open > 0) {
            --state.open;
            ++state.timed;
            ++state.improved;
        }
        std::this_thread::sleep_for(pause);
        state.seconds += seconds_each;
        return state.open > 0;
    }
    [[nodiscard]] Tuning tuning() const override { return state; }

    [[nodiscard]] std::string_view name() const override { return "tunable"; }
    [[nodiscard]] bool in_host_memory() const override { return false; }
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        auto lowered = inner().lower(graph, op, given, given_outputs);
        if (op.kind.starts_with("conv2d")) {
            const bool chosen = state.timed > 0;
            plans += chosen ? 1 : 0;
            lowered.kernel = std::make_unique<NamedKernel>(std::move(lowered.kernel), chosen ? "chosen" : "guess");
            if (chosen && on_plan)
                on_plan();
            if (chosen)
                lowered.workspace = std::max(lowered.workspace, workspace_tuned);
        }
        return lowered;
    }
};

/// A run that is set up on a tunable backend, with values in its plans.
struct TunedRun {
    explicit TunedRun(int problems, double tuning_seconds = 60, std::size_t memory_limit = 0, int epochs = 10000) {
        auto config = RunConfig::from_json({{"data", "synthetic:1x8x8,3,4000"},
                                            {"network", {{"network", "quick"}, {"widths", {4, 8}}}},
                                            {"batch", 8},
                                            {"epochs", epochs},
                                            {"backend", "reference"},
                                            {"tuning_seconds", tuning_seconds}});
        setup = set_up_run(config);
        setup.network.reset();
        auto made = std::make_unique<TunableBackend>(problems);
        backend = made.get();
        setup.backend = std::move(made);
        setup.network = std::make_unique<NetworkSession>(*backend, setup.config, memory_limit);
        setup.network->prepare_training(8);
        store.add_missing(setup.network->forward_graph(), 1);
        setup.network->load(store);
    }
    [[nodiscard]] std::string convolution() {
        for (const auto& op : setup.network->plan_of(setup.network->training_step(8)).ops())
            if (op.kind == "conv2d")
                return op.kernel;
        return {};
    }
    /// An update of so many seconds, and what the tuner does then. True where it has something to say.
    bool update(Tuner& tuner, double seconds = 0.01) {
        ++state.step;
        ++state.epoch_step;
        state.spend(seconds);
        if (!tuner.is_due())
            return false;
        const double before = backend->state.seconds;
        const bool says = tuner.work();
        state.spend(backend->state.seconds - before);
        return says;
    }
    void update_until(Tuner& tuner, const std::function<bool()>& done) {
        for (int i = 0; i < 100000 && !done(); ++i)
            (void)update(tuner);
    }

    RunSetup setup;
    TunableBackend* backend = nullptr;
    ParameterStore store;
    EventLog log;
    RunState state;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

class TestTuner : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_run_begins_with_guesses_and_is_planned_anew_once() {
        TunedRun run(5);
        run.backend->state.rejected = {"cudnn 7 was the fastest, but differs"};
        Tuner tuner(run.setup, run.state, run.log, run.start);
        QVERIFY(!tuner.is_due());
        QVERIFY(run.update(tuner));
        QCOMPARE(run.backend->state.timed, std::size_t{0}); // never before the first step
        QVERIFY(run.setup.first_step_seconds > 0);
        QCOMPARE(run.convolution(), "guess");

        run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
        QCOMPARE(run.backend->state.open, std::size_t{0});
        QCOMPARE(run.convolution(), "chosen");
        QCOMPARE(run.log.of_type("plan").size(), std::size_t{1});
        QCOMPARE(run.log.of_type("fallback").size(), std::size_t{1});
        QCOMPARE(run.log.of_type("fallback")[0].at("rung"), "algorithm");
        const SchemaCheck schema(ESPALIER_SCHEMA);
        for (const auto& event : run.log.events)
            QCOMPARE(schema.fault(event, "event." + event.at("type").get<std::string>()), std::string());

        const int plans = run.backend->plans;
        for (int i = 0; i < 50; ++i)
            QVERIFY(!run.update(tuner));
        QCOMPARE(run.backend->plans, plans);

        const auto passport = make_passport(run.setup, Json::object());
        QCOMPARE(passport.at("tuning").at("timed"), 5);
        QVERIFY(passport.at("tuning").at("tuned_seconds") > passport.at("first_step_seconds"));
        QCOMPARE(passport.at("fallbacks").size(), std::size_t{1});
    }

    void kernels_that_the_new_plans_cannot_use_are_told() {
        TunedRun run(1);
        Tuner tuner(run.setup, run.state, run.log, run.start);
        run.backend->on_plan = [&] {
            if (run.setup.kernel_fallbacks->empty())
                run.setup.kernel_fallbacks->push_back({.rung = "kernel", .from = "chosen", .to = "reference"});
        };
        run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
        QCOMPARE(run.log.of_type("fallback").size(), std::size_t{1});
        QCOMPARE(run.log.of_type("fallback")[0].at("rung"), "kernel");
        QCOMPARE(make_passport(run.setup, Json::object()).at("fallbacks").size(), std::size_t{1});
    }

    void values_stay_when_steps_are_planned_anew() {
        TunedRun run(1), plain(0);
        const std::vector<float> images(8 * 64, 0.25F);
        const std::vector<std::int32_t> labels{0, 1, 2, 0, 1, 2, 0, 1};
        for (auto* each : {&run, &plain})
            for (std::int64_t step = 1; step <= 4; ++step) {
                if (each == &run && step == 3) {
                    run.backend->tune(1);
                    run.setup.network->replan();
                }
                QVERIFY(each->setup.network->train({images, labels}, {.learning_rate = 0.05, .step = step}));
            }
        QCOMPARE(run.convolution(), "chosen");
        const auto tuned = run.setup.network->take_history(), untouched = plain.setup.network->take_history();
        QCOMPARE(tuned.size(), std::size_t{4});
        for (std::size_t i = 0; i < tuned.size(); ++i)
            QCOMPARE(tuned[i].loss, untouched[i].loss);
        run.setup.network->save(run.store);
        plain.setup.network->save(plain.store);
        for (const auto& entry : plain.store.entries())
            QVERIFY2(run.store.at(entry.name).values == entry.values, entry.name.c_str());
    }

    void the_budget_ends_it() {
        TunedRun run(1'000'000, 0.5);
        run.backend->seconds_each = 0.2;
        Tuner tuner(run.setup, run.state, run.log, run.start);
        run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
        QVERIFY(run.backend->state.timed >= 2);
        QVERIFY2(run.backend->state.timed <= 3, "each call took 0.2 s of the 0.5 s");
        QCOMPARE(run.backend->kept, run.backend->state.timed); // though some are still open
        QCOMPARE(run.convolution(), "chosen");                 // with what was found until then
    }

    void timing_takes_no_longer_than_the_updates_before() {
        TunedRun run(1'000'000);
        run.backend->seconds_each = 0.4;
        Tuner tuner(run.setup, run.state, run.log, run.start);
        for (int i = 0; i < 500; ++i) {
            (void)run.update(tuner);
            const double updates = run.state.seconds - run.backend->state.seconds;
            QVERIFY(run.backend->state.seconds <= updates + run.backend->seconds_each);
        }
        QVERIFY(run.backend->state.timed >= 10);
    }

    void a_short_run_spends_a_tenth_of_its_time() {
        TunedRun run(1'000'000, 60, 0, 14); // 7000 updates of 0.01 s
        run.backend->seconds_each = 0.5;
        Tuner tuner(run.setup, run.state, run.log, run.start);
        run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
        QVERIFY2(run.backend->state.seconds >= 7 && run.backend->state.seconds <= 7.5,
                 qPrintable(QString::number(run.backend->state.seconds)));
        QCOMPARE(run.backend->kept, run.backend->state.timed); // for the next run
        QCOMPARE(run.convolution(), "chosen");
    }

    /// Its updates so far may have been of another batch: their number says nothing about how many are left.
    void a_run_that_goes_on_with_another_batch_spends_as_much() {
        for (const std::int64_t before : {std::int64_t{100}, std::int64_t{1'000'000}}) {
            TunedRun run(1'000'000, 60, 0, 14);
            run.backend->seconds_each = 0.5;
            run.state.step = before;
            run.state.epoch = 7;
            Tuner tuner(run.setup, run.state, run.log, run.start);
            run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
            QVERIFY2(run.backend->state.seconds >= 3.5 && run.backend->state.seconds <= 4,
                     qPrintable(QString::number(run.backend->state.seconds)));
        }
    }

    /// What is shown of updates (speed, GFLOPS, the time that is left) is theirs alone; the run's duration has it all.
    void timing_is_no_update_s_time() {
        constexpr double pause = 0.5;
        TunedRun run(1000);
        run.backend->pause = std::chrono::milliseconds(500);
        run.backend->seconds_each = pause;
        CommandAt nothing;
        RunControl control(nothing, run.log);
        TrainingLoop loop(run.setup, run.state, control, run.log, run.start);
        const auto begin = std::chrono::steady_clock::now();
        QDeadlineTimer patience(20000);
        const auto some_timed = [&] { return run.backend->state.timed >= 2; };
        while (!some_timed() && !patience.hasExpired()) {
            loop.train_epoch([&] {
                (void)loop.tune();
                return some_timed();
            });
            run.state.epoch_step = 0;
        }
        QVERIFY(some_timed());
        const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        double updates = 0;
        for (const auto& seconds : run.log.column("seconds"))
            updates += seconds.get<double>();
        QVERIFY2(updates <= passed - 2 * pause, qPrintable(QString::number(updates)));
        QVERIFY(run.state.seconds >= updates + 2 * pause);
        QVERIFY(run.state.seconds <= passed);
    }

    void a_run_without_budget_is_not_tuned() {
        TunedRun run(5, 0);
        Tuner tuner(run.setup, run.state, run.log, run.start);
        for (int i = 0; i < 20; ++i)
            (void)run.update(tuner);
        QCOMPARE(run.backend->state.timed, std::size_t{0});
        QCOMPARE(run.convolution(), "guess");
    }

    void a_faster_plan_that_does_not_fit_is_left() {
        TunedRun probe(0);
        const auto enough = probe.setup.network->memory().total() + (64 << 10);
        TunedRun run(1, 60, enough);
        run.backend->workspace_tuned = 64 << 20;
        Tuner tuner(run.setup, run.state, run.log, run.start);
        run.update_until(tuner, [&] { return run.setup.tuned_seconds > 0; });
        QCOMPARE(run.convolution(), "guess");
        const std::vector<float> images(8 * 64, 0.25F);
        const std::vector<std::int32_t> labels(8, 1);
        QVERIFY(run.setup.network->train({images, labels}, {.learning_rate = 0.05}));
    }
};

QTEST_GUILESS_MAIN(TestTuner)
#include "tst_tuner.moc"
