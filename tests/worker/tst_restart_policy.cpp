// SPDX-License-Identifier: Apache-2.0
#include "worker/progress_watch.h"
#include "worker/protocol.h"
#include "worker/restart_policy.h"

#include <QtTest>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

const RestartPolicy::Clock::time_point start{};

WorkerDeath crash_at(std::int64_t step) { return {.crashed = true, .exit_code = 11, .step = step, .on_cpu = true}; }
WorkerDeath bye(int code) { return {.bye = code, .exit_code = code}; }

Json steps(std::int64_t step, double seconds) {
    auto event = protocol::make_event("steps");
    event["step"] = step;
    event["loss"] = {0.5};
    event["seconds"] = {seconds};
    return event;
}

Json phase(const char* name) {
    auto event = protocol::make_event("phase");
    event["phase"] = name;
    return event;
}

} // namespace

class TestRestartPolicy : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_bye_is_believed() {
        for (int code : {0, 1, 2, 3, 5, 6}) {
            const auto decision = RestartPolicy().decide(bye(code), start);
            QCOMPARE(decision.kind, Decision::Kind::end);
            QCOMPARE(decision.code, code);
        }
    }

    void an_exit_code_of_ours_without_bye_ends_the_run() {
        const auto decision = RestartPolicy().decide({.exit_code = 1, .last_words = "std::runtime_error"}, start);
        QCOMPARE(decision.kind, Decision::Kind::end);
        QCOMPARE(decision.code, 1);
        QVERIFY(decision.reason.find("std::runtime_error") != std::string::npos);
    }

    void a_crash_restarts_as_long_as_steps_are_taken() {
        RestartPolicy policy;
        for (int i = 1; i <= 20; ++i) {
            const auto decision = policy.decide(crash_at(10 * i), start);
            QCOMPARE(decision.kind, Decision::Kind::restart);
            QCOMPARE(decision.delay, 1000ms);
        }
        QCOMPARE(policy.decide(crash_at(150), start).delay, 2000ms); // not further than 200
        QCOMPARE(policy.decide(crash_at(200), start).delay, 4000ms);
        const auto last = policy.decide(crash_at(200), start);
        QCOMPARE(last.kind, Decision::Kind::end);
        QCOMPARE(last.code, 1);
    }

    void progress_resets_the_back_off() {
        RestartPolicy policy;
        QCOMPARE(policy.decide(crash_at(0), start).delay, 2000ms);
        QCOMPARE(policy.decide(crash_at(0), start).delay, 4000ms);
        QCOMPARE(policy.decide(crash_at(5), start).delay, 1000ms);
        QCOMPARE(policy.decide(crash_at(5), start).delay, 2000ms);
    }

    void crashes_without_a_step_on_a_device_climb_the_ladder() {
        using Kind = Decision::Kind;
        RestartPolicy policy;
        const auto third = [&](WorkerDeath death) {
            QCOMPARE(policy.decide(death, start).kind, Kind::restart);
            QCOMPARE(policy.decide(death, start).kind, Kind::restart);
        };
        WorkerDeath death{.crashed = true, .exit_code = 11};
        third(death);
        const auto safe = policy.decide(death, start);
        QCOMPARE(safe.kind, Kind::restart_in_safe_mode);
        QVERIFY2(safe.reason.find("3 times without") != std::string::npos, safe.reason.c_str());
        death.safe_mode = true;
        third(death);
        QCOMPARE(policy.decide(death, start).kind, Kind::restart_on_cpu);
        death.on_cpu = true;
        third(death);
        QCOMPARE(policy.decide(death, start).kind, Kind::end);
    }
    /// By the system for want of memory, or by a person: no device had a part in that.
    void what_is_killed_again_and_again_is_no_fault_of_a_device() {
        for (const int signal : {9, 15}) {
            RestartPolicy policy;
            const WorkerDeath killed{.crashed = true, .exit_code = signal};
            const auto reason = policy.decide(killed, start).reason;
            QCOMPARE(reason, "The worker was killed (signal " + std::to_string(signal) + ").");
            (void)policy.decide(killed, start);
            QCOMPARE(policy.decide(killed, start).kind, Decision::Kind::end);
        }
    }

    void memory_is_named_when_the_system_kills() {
        WorkerDeath death{.crashed = true, .exit_code = 9, .step = 5};
        auto decision = RestartPolicy().decide(death, start);
        QVERIFY(decision.reason.find("memory") == std::string::npos); // by a person, as far as is known
        death.memory_ran_out = true;
        decision = RestartPolicy().decide(death, start);
        QVERIFY(decision.reason.find("by the system, because memory ran out") != std::string::npos);
        QCOMPARE(decision.kind, Decision::Kind::restart);
    }

    void a_worker_that_makes_no_progress_counts_as_a_device_fault() {
        RestartPolicy policy;
        const WorkerDeath hung{.crashed = true, .exit_code = 15, .hung = true, .step = 5};
        QCOMPARE(policy.decide(hung, start).kind, Decision::Kind::restart_in_safe_mode);
        QCOMPARE(policy.decide(hung, start + 5min).kind, Decision::Kind::restart_on_cpu);
    }

    void one_that_was_sent_away_by_somebody_is_started_again() {
        WorkerDeath left{.bye = 1, .exit_code = 1, .sent_away = true, .step = 5};
        const auto decision = RestartPolicy().decide(left, start);
        QCOMPARE(decision.kind, Decision::Kind::restart);
        QVERIFY2(decision.reason.find("SIGTERM") != std::string::npos, decision.reason.c_str());
        left.hung = true; // then by the supervisor
        QCOMPARE(RestartPolicy().decide(left, start).kind, Decision::Kind::restart_in_safe_mode);
    }

    void a_worker_that_asks_for_other_settings_gets_them() {
        RestartPolicy policy;
        const WorkerDeath asks{.bye = 5, .wants_change = true, .step = 5};
        int changes = 0;
        auto decision = policy.decide(asks, start);
        for (; decision.kind == Decision::Kind::restart_changed && changes < 100; ++changes)
            decision = policy.decide(asks, start);
        QVERIFY(changes >= 8 && changes < 20); // without a step further it cannot go on for ever
        QCOMPARE(decision.kind, Decision::Kind::end);
        QCOMPARE(decision.code, 5);
    }

    void a_device_that_is_gone_after_its_fault_leads_to_the_cpu() {
        RestartPolicy policy;
        QCOMPARE(policy.decide(bye(2), start).kind, Decision::Kind::end); // before, it is a plain mistake
        QCOMPARE(policy.decide(bye(4), start).kind, Decision::Kind::restart_in_safe_mode);
        QCOMPARE(policy.decide(bye(2), start).kind, Decision::Kind::restart_on_cpu);
    }

    void device_faults_climb_the_ladder() {
        RestartPolicy policy;
        QCOMPARE(policy.decide(bye(4), start).kind, Decision::Kind::restart_in_safe_mode);
        QCOMPARE(policy.decide(bye(4), start + 10min).kind, Decision::Kind::restart_on_cpu);
        const auto last = policy.decide(bye(4), start + 20min);
        QCOMPARE(last.kind, Decision::Kind::end);
        QCOMPARE(last.code, 4);
    }

    void what_is_in_force_already_is_no_rung() {
        using Kind = Decision::Kind;
        const WorkerDeath safe{.bye = 4, .safe_mode = true}, on_cpu{.bye = 4, .on_cpu = true},
            both{.bye = 4, .safe_mode = true, .on_cpu = true};
        QCOMPARE(RestartPolicy().decide(safe, start).kind, Kind::restart_on_cpu);
        QCOMPARE(RestartPolicy().decide(both, start).kind, Kind::end);
        QCOMPARE(RestartPolicy().decide(both, start).code, 4);
        RestartPolicy policy;
        QCOMPARE(policy.decide(on_cpu, start).kind, Kind::restart_in_safe_mode);
        QCOMPARE(policy.decide(both, start).kind, Kind::end);
    }

    void an_hour_without_a_device_fault_is_forgiven() {
        using Kind = Decision::Kind;
        RestartPolicy policy;
        QCOMPARE(policy.decide(bye(4), start).kind, Kind::restart_in_safe_mode);
        QCOMPARE(policy.decide(bye(4), start + 61min).kind, Kind::restart_in_safe_mode);
        const WorkerDeath safe{.bye = 4, .safe_mode = true};
        QCOMPARE(policy.decide(safe, start + 122min).kind, Kind::restart); // as it was
        QCOMPARE(policy.decide(safe, start + 123min).kind, Kind::restart_on_cpu);
    }

    void standing_still_is_warned_then_a_fault() {
        using Verdict = ProgressWatch::Verdict;
        ProgressWatch watch(ProgressWatch::Seconds(60));
        watch.saw(phase("training"));
        watch.saw(steps(1, 0.1));
        int warned = 0;
        for (int second = 1; second < 120; ++second) {
            const auto verdict = watch.tick(1s);
            warned += verdict == Verdict::slow;
            QVERIFY(verdict != Verdict::hung);
        }
        QCOMPARE(warned, 1);
        QCOMPARE(watch.tick(1s), Verdict::hung);
    }

    void words_of_a_phase_are_progress() {
        using namespace std::chrono_literals;
        ProgressWatch watch(ProgressWatch::Seconds(5));
        for (int i = 0; i < 20; ++i) {
            watch.saw({{"type", "phase"}, {"phase", "preparing"}, {"reason", "Reading images: " + std::to_string(i)}});
            for (int second = 0; second < 10; ++second) {
                watch.saw({{"type", "heartbeat"}, {"phase", "preparing"}});
                QCOMPARE(watch.tick(1s), ProgressWatch::Verdict::fine);
            }
        }
        auto verdict = ProgressWatch::Verdict::fine;
        for (int second = 0; second < 110 && verdict != ProgressWatch::Verdict::hung; ++second) {
            watch.saw({{"type", "phase"}, {"phase", "preparing"}, {"reason", "Reading images: 19"}});
            verdict = watch.tick(1s);
        }
        QCOMPARE(verdict, ProgressWatch::Verdict::hung);
    }

    void heartbeats_without_steps_are_no_progress() {
        ProgressWatch watch(ProgressWatch::Seconds(5));
        auto heartbeat = protocol::make_event("heartbeat");
        heartbeat["step"] = 7;
        heartbeat["phase"] = "training";
        auto verdict = ProgressWatch::Verdict::fine;
        for (int second = 0; second < 11; ++second) {
            watch.saw(heartbeat);
            verdict = watch.tick(1s);
        }
        QCOMPARE(verdict, ProgressWatch::Verdict::hung);
    }

    void slow_steps_get_their_time() {
        ProgressWatch watch(ProgressWatch::Seconds(60));
        watch.saw(phase("training"));
        watch.saw(steps(1, 30.0)); // 20 of them: 600 s
        for (int second = 0; second < 599; ++second)
            QCOMPARE(watch.tick(1s), ProgressWatch::Verdict::fine);
    }

    void a_pause_and_a_sleep_are_no_fault() {
        ProgressWatch watch(ProgressWatch::Seconds(60));
        watch.saw(phase("training"));
        QCOMPARE(watch.tick(std::chrono::hours(8)), ProgressWatch::Verdict::fine);
        watch.saw(phase("paused"));
        for (int second = 0; second < 1000; ++second)
            QCOMPARE(watch.tick(1s), ProgressWatch::Verdict::fine);
    }
};

QTEST_GUILESS_MAIN(TestRestartPolicy)
#include "tst_restart_policy.moc"
