// SPDX-License-Identifier: Apache-2.0
#include "train_support.h"

#include <QtTest>
#include <filesystem>

using namespace espalier;
using namespace espalier::test;
namespace fs = std::filesystem;

/// The runs of every release, in tests/fixtures/runs, still open and go on.
class TestOldRuns : public QObject {
    Q_OBJECT

    std::vector<RunFolder> runs_ = runs_in(ESPALIER_RUN_FIXTURES);

private Q_SLOTS:
    void are_there() { QVERIFY(!runs_.empty()); }

    void load_their_checkpoints() {
        for (const RunFolder& run : runs_) {
            const RunConfig config = RunConfig::from_json(read_json(run.config()));
            const CheckpointFolder checkpoints(run.checkpoints());
            const auto newest = checkpoints.load_newest();
            QVERIFY(newest.checkpoint && newest.problems.empty());
            QCOMPARE(newest.checkpoint->info.step, std::int64_t{18});
            QCOMPARE(newest.checkpoint->info.class_names.size(), std::size_t{3});
            QCOMPARE(config.epochs, std::int64_t{3});
            (void)load_checkpoint(checkpoints.best()); // throws if it cannot be used
            QCOMPARE(newest.checkpoint->store.parameter_count(), std::int64_t{293});
        }
    }

    void go_on() {
        for (const RunFolder& run : runs_) {
            const QTemporaryDir folder;
            const fs::path copy = fs::path(folder.path().toStdString()) / "run";
            fs::copy(run.path(), copy, fs::copy_options::recursive);
            Json config = read_json(run.config());
            config["epochs"] = 4;
            write_json(copy / "config.json", config);
            EventLog log;
            CommandAt none;
            const RunOutcome outcome = train_run(copy, log, none);
            QVERIFY2(outcome.code == ExitCode::done, outcome.reason.c_str());
            QCOMPARE(log.steps().front(), std::int64_t{19}); // from the checkpoint, not from the beginning
            QCOMPARE(CheckpointFolder(copy / "checkpoints").load_newest().checkpoint->info.step, std::int64_t{24});
        }
    }
};

QTEST_GUILESS_MAIN(TestOldRuns)
#include "tst_old_runs.moc"
