// SPDX-License-Identifier: Apache-2.0
// An indexer or virus scanner holds files of a run, as on Windows: training goes on, whatever it holds and for however
// long, nothing is lost, and what is called otherwise is said.
#include "faults/faulty_run.h"
#include "io/checkpoint_folder.h"

#include <QtTest>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr std::int64_t all_steps = 21; // of the small run: 3 epochs of 7 updates, a checkpoint every 5

/// The steps that the run's record holds, each once.
std::int64_t steps_told(const FaultyRun& run) {
    std::int64_t steps = 0;
    for (const auto& event : run.of_type("steps")) {
        if (event.at("step") != steps + 1)
            return -1;
        steps = protocol::last_step(event);
    }
    return steps;
}

std::vector<std::string> warnings(const FaultyRun& run) {
    std::vector<std::string> texts;
    for (const auto& event : run.of_type("warning"))
        texts.push_back(event.at("text"));
    return texts;
}

std::ptrdiff_t warnings_with(const FaultyRun& run, const std::string& words) {
    return std::ranges::count_if(warnings(run),
                                 [&](const auto& text) { return text.find(words) != std::string::npos; });
}

} // namespace

class TestHeldFiles : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void for_a_moment_nobody_notices_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"step-00000010.safetensors", "last.safetensors", "best.safetensors", "passport.json"})
            QTest::newRow(name) << name;
    }
    void for_a_moment_nobody_notices() {
        QFETCH(QString, name);
        FaultyRun run({}, "held " + name.toStdString() + " 150\n");
        QVERIFY2(run.run() == 0, run.story().c_str());
        QCOMPARE(steps_told(run), all_steps);
        QVERIFY2(warnings(run).empty(), run.story().c_str());
        const CheckpointFolder folder(run.folder().checkpoints());
        QCOMPARE(load_checkpoint(folder.last()).info.step, all_steps);
        for (const auto& one : folder.names())
            QVERIFY2(one.find('~') == std::string::npos, one.c_str());
    }

    void for_ever_a_checkpoint_takes_another_name() {
        FaultyRun run({"checkpoint.keep=10"}, "held step-00000010.safetensors 0\n");
        QVERIFY2(run.run() == 0, run.story().c_str());
        QCOMPARE(steps_told(run), all_steps);
        QCOMPARE(warnings_with(run, "is called step-00000010~1.safetensors"), 1);
        QCOMPARE(warnings(run).size(), std::size_t{1});
        const auto beside = run.folder().checkpoints() / "step-00000010~1.safetensors";
        QCOMPARE(load_checkpoint(beside).info.step, std::int64_t{10});
        const auto events = run.of_type("checkpoint");
        QVERIFY(std::ranges::any_of(
            events, [](const Json& event) { return event.at("file") == "checkpoints/step-00000010~1.safetensors"; }));
    }

    void for_ever_last_and_best_are_said_to_be_older() {
        FaultyRun run({}, "held last.safetensors 0\nheld best.safetensors 0\n");
        QVERIFY2(run.run() == 0, run.story().c_str());
        QCOMPARE(steps_told(run), all_steps);
        QVERIFY(warnings_with(run, "last.safetensors still shows an earlier checkpoint") > 0);
        QVERIFY(warnings_with(run, "best.safetensors still shows an earlier checkpoint") > 0);
        const auto newest = CheckpointFolder(run.folder().checkpoints()).load_newest();
        QVERIFY(newest.checkpoint.has_value());
        QCOMPARE(newest.checkpoint->info.step, all_steps);
    }

    /// It stands there from the run's first part, and the second one cannot replace it.
    void for_ever_an_older_passport_stays() {
        FaultyRun run({}, "held passport.json 0\n");
        write_json(run.folder().passport(), {{"seed", 1}});
        QVERIFY2(run.run() == 0, run.story().c_str());
        QCOMPARE(steps_told(run), all_steps);
        QCOMPARE(warnings_with(run, "passport is an older one"), 1);
        QCOMPARE(warnings(run).size(), std::size_t{1});
        QCOMPARE(read_json(run.folder().passport()), (Json{{"seed", 1}}));
    }

    /// A worker that is killed meanwhile goes on from the checkpoint with the other name.
    void a_checkpoint_with_another_name_is_resumed_from() {
        FaultyRun run({}, "held step-00000010.safetensors 0\nstep 13 kill\n");
        QVERIFY2(run.run() == 0, run.story().c_str());
        QCOMPARE(run.first_step(2), std::int64_t{11});
        QCOMPARE(CheckpointFolder(run.folder().checkpoints()).load_newest().checkpoint->info.step, all_steps);
    }
};

QTEST_GUILESS_MAIN(TestHeldFiles)
#include "tst_held_files.moc"
