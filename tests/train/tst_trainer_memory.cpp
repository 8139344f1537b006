// SPDX-License-Identifier: Apache-2.0
// The memory that a run may take, and the batch that fits into it.
#include "base/error.h"
#include "train/resources.h"
#include "train/run_setup.h"
#include "train_support.h"

#include <QtTest>
#include <fstream>

using namespace espalier;
using namespace espalier::test;

class TestTrainerMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void memory_is_what_the_machine_has_free();
    void a_batch_larger_than_the_set_is_cut_in_words();
    void a_last_batch_of_one_is_settled_before_the_start();
    void what_does_not_fit_in_memory_is_shrunk_openly();
    void memory_that_nothing_fits_into_is_an_error();
    void what_would_be_enough_is_said();
};

/// The limit is what the system has to give, by its own account and that of every control group above the process.
void TestTrainerMemory::memory_is_what_the_machine_has_free() {
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

void TestTrainerMemory::a_batch_larger_than_the_set_is_cut_in_words() {
    SmallRun run({"batch=500", "epochs=1"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const Json plan = log.of_type("plan").at(0);
    QCOMPARE(plan["batch"], Json(53));
    QVERIFY(plan["notes"].dump().find("500") != std::string::npos);
    QCOMPARE(log.steps().size(), std::size_t{1});
}

void TestTrainerMemory::a_last_batch_of_one_is_settled_before_the_start() {
    SmallRun run({"data=synthetic:1x8x8,2,121", "batch=4", "epochs=1"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const Json plan = log.of_type("plan").at(0);
    QVERIFY(!plan["notes"].empty());
    QCOMPARE(plan["steps_per_epoch"], Json(31));
    for (const auto& event : log.events) { // the notes come before the first step
        if (event["type"] == "plan")
            break;
        QVERIFY(event["type"] != "steps");
    }
}

void TestTrainerMemory::what_does_not_fit_in_memory_is_shrunk_openly() {
    const std::vector<std::string> settings{"data=synthetic:3x32x32,3,80", "network.widths=[16,16,16]", "batch=64",
                                            "epochs=1"};
    SmallRun large(settings);
    EventLog large_log;
    QCOMPARE(large.fault_of_training(large_log), std::string());
    const auto whole = large_log.of_type("plan")[0]["memory"]["total"].get<std::int64_t>();

    SmallRun run(settings);
    run.set("memory_limit_mib=" + std::to_string(whole / 3 / (1 << 20)));
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    QVERIFY(!log.of_type("fallback").empty());
    QCOMPARE(log.of_type("fallback").back()["rung"], Json("batch"));
    const Json plan = log.of_type("plan").at(0);
    QVERIFY(plan["memory"]["total"].get<std::int64_t>() <= whole / 3);
    QVERIFY(plan["batch"].get<int>() < 64);
}

void TestTrainerMemory::memory_that_nothing_fits_into_is_an_error() {
    SmallRun run({"data=synthetic:3x256x256,3,40", "network.widths=[64,64]", "memory_limit_mib=1"});
    EventLog log;
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QCOMPARE(outcome.code, ExitCode::out_of_memory);
    QVERIFY(log.steps().empty());
}

void TestTrainerMemory::what_would_be_enough_is_said() {
    const SmallRun run({"data=synthetic:3x256x256,3,40", "network.widths=[64,64]"});
    const auto config = read_json(run.folder().config());
    const auto refusal = [&](const Json& more) -> std::string {
        try {
            (void)set_up_run(RunConfig::from_json(merged(config, more)));
            return {};
        } catch (const OutOfMemory& error) {
            return error.what();
        }
    };
    for (const bool recompute : {false, true})
        for (const int batch : {2, 16}) {
            const auto limited = [&](std::size_t limit) {
                return refusal({{"memory_limit_mib", limit}, {"batch", batch}, {"toggles", {{"recompute", recompute}}}});
            };
            const auto text = limited(1);
            const std::string key = "Set memory_limit_mib=";
            const auto at = text.find(key);
            QVERIFY2(at != std::string::npos && text.find("memory_limit_mib allows 1.") != std::string::npos, text.c_str());
            const auto enough = std::stoul(text.substr(at + key.size()));
            QCOMPARE(limited(enough), std::string());
            QVERIFY(!limited(enough - 1).empty());
        }
}

QTEST_GUILESS_MAIN(TestTrainerMemory)
#include "tst_trainer_memory.moc"
