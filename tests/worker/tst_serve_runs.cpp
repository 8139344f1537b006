// SPDX-License-Identifier: Apache-2.0
// Runs of the real espalier-train that outlive everybody, are stopped at any moment, and deaths in every order.
#include "data/idx_files.h"
#include "io/checkpoint_folder.h"
#include "schema_check.h"
#include "serve_runs.h"
#include "worker/run_link.h"

#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <random>

using namespace espalier;

namespace {

/// Of the phase that the run is in; 0 if that is another one.
long heartbeats_in_phase(const std::vector<Json>& events, const char* phase) {
    const auto begin = std::find_if(events.rbegin(), events.rend(),
                                    [](const Json& event) { return protocol::is_event(event, "phase"); });
    if (begin == events.rend() || protocol::text_at(*begin, "phase") != phase)
        return 0;
    return std::count_if(events.rbegin(), begin, [](const Json& e) { return protocol::is_event(e, "heartbeat"); });
}

} // namespace

class TestServeRuns : public QObject {
    Q_OBJECT

    QTemporaryDir runs_;
    const SchemaCheck schema_{ESPALIER_SCHEMA};

private Q_SLOTS:
    void a_start_without_its_data_is_refused_unless_it_waits() {
        const QTemporaryDir runs;
        ServeProcess serve(runs.path());
        auto config = tiny_config(2);
        config["data"] = "folder:/nowhere";
        const auto error = serve.get("start", {{"config", config}}).value("error", Json::object());
        QCOMPARE(error.value("code", 0), 3);
        QVERIFY(error.value("text", "").find("There is no folder '/nowhere'. Check") == 0);
        QCOMPARE(serve.get("runs").at("runs"), Json::array());
        const auto path = serve.get("start", {{"config", config}, {"queue", true}}).value("path", "");
        QVERIFY(!path.empty());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("failed"), patient);
        QCOMPARE(serve.get("runs").at("runs").size(), std::size_t{1});
    }

    void a_start_on_a_device_that_is_not_there_is_refused_unless_it_waits() {
        const QTemporaryDir runs;
        ServeProcess serve(runs.path());
        auto config = tiny_config(2);
        config["backend"] = "cuda:99";
        const auto error = serve.get("start", {{"config", config}}).value("error", Json::object());
        QCOMPARE(error.value("code", 0), 2);
        QVERIFY(error.value("text", "").find("cuda") != std::string::npos ||
                error.value("text", "").find("GPU \"99\"") != std::string::npos);
        QCOMPARE(serve.get("runs").at("runs"), Json::array());
        const auto path = serve.get("start", {{"config", config}, {"queue", true}}).value("path", "");
        QVERIFY(!path.empty());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("failed"), patient);
        const auto resumed = serve.get("resume", {{"path", path}, {"set", {{"epochs", 3}}}});
        QCOMPARE(resumed.value("error", Json::object()).value("code", 0), 2);
    }

    void a_run_is_started_followed_and_found() {
        ServeProcess serve(runs_.path());
        const auto started = serve.get("start", {{"config", tiny_config(2)}, {"name", "tiny"}});
        QVERIFY2(started.contains("path"), started.dump().c_str());
        const auto path = started.at("path").get<std::string>();
        const auto id = serve.ask("attach", {{"path", path}});
        QCOMPARE(serve.answer(id), Json::object());
        QVERIFY(serve.caught_up(id));
        const auto events = serve.events_of(id);
        for (const auto& event : events)
            QCOMPARE(QString::fromStdString(schema_.event_fault(event)), QString());
        QVERIFY(protocol::is_event(events.front(), "hello"));
        std::int64_t next = 1;
        for (const auto& event : events)
            if (protocol::is_event(event, "steps")) {
                QCOMPARE(static_cast<std::int64_t>(protocol::number_at(event, "step")), next);
                next = protocol::last_step(event) + 1;
            }
        QVERIFY(next > 2);

        const auto again = serve.ask("attach", {{"path", path}}); // old now: the same events
        QCOMPARE(serve.answer(again), Json::object());
        QCOMPARE(serve.events_of(again).size(), events.size());

        const auto listed = serve.get("runs");
        QCOMPARE(QString::fromStdString(schema_.fault(listed, "answer.runs")), QString());
        const auto& run = listed.at("runs").at(0);
        QCOMPARE(run.at("path"), Json(path));
        QCOMPARE(run.at("name"), Json("tiny"));
        QCOMPARE(run.at("state"), Json("finished"));
        QCOMPARE(run.at("epoch"), Json(2.0));
        QCOMPARE(run.at("step"), Json(next - 1));
        QCOMPARE(run.at("checkpoint"), Json(true));

        const auto saved = serve.get("checkpoints", {{"path", path}});
        QCOMPARE(QString::fromStdString(schema_.fault(saved, "answer.checkpoints")), QString());
        QCOMPARE(saved.at("checkpoints").front().at("step"), Json(next - 1));
        QCOMPARE(saved.at("checkpoints").back().at("name"), Json("last"));
        QCOMPARE(saved.at("checkpoints").back().at("epoch"), Json(2.0));

        QCOMPARE(serve.get("rename", {{"path", path}, {"name", "renamed"}}), Json::object());
        QCOMPARE(serve.get("runs").at("runs").at(0).at("name"), Json("renamed"));
        const auto fetched = serve.get("fetch", {{"path", path + "/checkpoints/last.safetensors"}});
        const auto bytes = QByteArray::fromBase64(QByteArray::fromStdString(fetched.at("base64")));
        QCOMPARE(static_cast<std::uintmax_t>(bytes.size()),
                 std::filesystem::file_size(path + "/checkpoints/last.safetensors"));
        for (const auto& file : {"/checkpoints/last.safetensors", "/checkpoints"}) { // names, then no folder at all
            std::filesystem::remove_all(path + file);
            const bool left = std::filesystem::exists(path + "/checkpoints");
            QCOMPARE(serve.get("runs").at("runs").at(0).at("checkpoint"), Json(left));
        }
        QCOMPARE(serve.get("delete", {{"path", path}}), Json::object());
        QVERIFY(!std::filesystem::exists(path));
    }

    void a_run_outlives_serve_and_takes_commands_from_another() {
        std::string path;
        {
            ServeProcess serve(runs_.path());
            path = start_long_run(serve);
            serve.process().kill(); // as kill -9
            serve.process().waitForFinished();
        }
        QCOMPARE(state_of(path), std::string("running"));
        ServeProcess serve(runs_.path());
        const auto id = serve.ask("attach", {{"path", path}});
        QVERIFY(serve.has_event(id, "hello"));
        QVERIFY(serve.get("delete", {{"path", path}}).contains("error")); // not while it runs
        QVERIFY(serve.get("resume", {{"path", path}}).contains("error"));

        QCOMPARE(serve.get("command", {{"path", path}, {"command", "pause"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("paused"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "resume"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("running"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state_of(path), std::string("stopped"));
    }

    /// A command is answered in the middle of a step that takes many seconds: the step is given up as if it had not
    /// been begun.
    void a_long_step_is_left() {
        ServeProcess serve(runs_.path());
        // The plain loops of the reference are slow on any machine.
        const Json config = {{"preset", "train-small"},
                             {"backend", "reference"},
                             {"data", "synthetic:3x32x32,2,300"},
                             {"batch", 128},
                             {"threads", 1},
                             {"epochs", 9}};
        const auto path = serve.get("start", {{"config", config}, {"name", "slow"}}).value("path", "");
        const auto id = serve.ask("attach", {{"path", path}});
        const auto in_a_step = [&] { // two heartbeats after training began: a second of it
            return QTest::qWaitFor([&] { return heartbeats_in_phase(serve.events_of(id), "training") >= 2; }, patient);
        };
        QVERIFY(in_a_step());
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "pause"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("paused"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "resume"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("running"), patient);
        QVERIFY(in_a_step());
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state_of(path), std::string("stopped"));
        QVERIFY(!serve.seen(id, "steps"));
        const auto last = load_checkpoint(RunFolder(path).checkpoints() / "last.safetensors");
        QCOMPARE(last.info.step, std::int64_t{0});
    }

    /// An evaluation is left as a step is: the state is that of the epoch's last step, and the rest of it is done
    /// later.
    void a_stop_in_an_evaluation() {
        ServeProcess serve(runs_.path());
        // 400 to train with, soon done even under sanitizers, and far more to evaluate than the fastest machine does
        // before the stop has come. A set with a validation part of its own would not be split.
        constexpr std::uint32_t count = 4000, size = 16;
        const QTemporaryDir folder;
        const std::filesystem::path data = folder.path().toStdString();
        espalier::test::Bytes labels(count);
        for (std::size_t i = 0; i < count; ++i)
            labels[i] = static_cast<std::uint8_t>(i % 2);
        espalier::test::write(
            data / "train-images-idx3-ubyte",
            espalier::test::idx_bytes({count, size, size}, espalier::test::noise(std::size_t{count} * size * size)));
        espalier::test::write(data / "train-labels-idx1-ubyte", espalier::test::idx_bytes({count}, labels));
        const Json config = {{"preset", "quick"},
                             {"backend", "reference"},
                             {"data", "idx:" + data.string() + ",classes=2"},
                             {"validation_share", 0.9},
                             {"batch", 100},
                             {"epochs", 3},
                             {"threads", 1}};
        const auto path = serve.get("start", {{"config", config}}).value("path", "");
        const auto id = serve.ask("attach", {{"path", path}});
        QVERIFY(serve.has_phase(id, "evaluating"));
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state_of(path), std::string("stopped"));
        QVERIFY(!serve.seen(id, "evaluation"));
        QCOMPARE(protocol::whole_at(serve.events_of(id).back(), "code"), std::int64_t{6});
        const auto last = load_checkpoint(RunFolder(path).checkpoints() / "last.safetensors");
        QCOMPARE(last.info.run_state.at("epoch"), Json(0));
        QCOMPARE(last.info.run_state.at("epoch_step"), Json(last.info.step));
        QVERIFY(last.info.step > 0);
    }

    /// A stop that finds the run at a save, whenever it comes.
    void a_stop_in_a_save() {
        ServeProcess serve(runs_.path());
        auto config = tiny_config(90000);
        config["checkpoint"]["every_steps"] = 1; // it saves nearly all of its time
        for (int round = 0; round < 6; ++round) {
            const auto path = serve.get("start", {{"config", config}, {"name", "saves"}}).value("path", "");
            const auto id = serve.ask("attach", {{"path", path}});
            QVERIFY(serve.has_phase(id, "saving"));
            QTest::qWait(7 * round);
            QCOMPARE(serve.get("command", {{"path", path}, {"command", "checkpoint"}}), Json::object());
            QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
            QCOMPARE(serve.answer(id), Json::object());
            QCOMPARE(state_of(path), std::string("stopped"));
            const auto found = CheckpointFolder(RunFolder(path).checkpoints()).load_newest();
            QVERIFY(found.checkpoint && found.problems.empty());
            QCOMPARE(found.checkpoint->info.step, last_step_of(path));
        }
    }

    /// Killed at any moment of a save, worker, supervisor or both: there is always a sound checkpoint, never an older
    /// one than was told of, and the run goes on from it.
    void a_kill_in_a_save_leaves_a_sound_checkpoint() {
        ServeProcess serve(runs_.path());
        auto config = tiny_config(90000);
        config["checkpoint"]["every_steps"] = 1;
        const auto path = serve.get("start", {{"config", config}, {"name", "killed"}}).value("path", "");
        std::mt19937 random(20261128);
        std::int64_t told = 0;
        const auto newest_told = [&] {
            visit_backwards(std::filesystem::path(path) / events_file, [&](const Json& event) {
                if (!protocol::is_event(event, "checkpoint"))
                    return true;
                told = std::max(told, protocol::whole_at(event, "step"));
                return false;
            });
            return told;
        };
        for (int round = 0; round < 16; ++round) {
            const auto before = told;
            QTRY_VERIFY_WITH_TIMEOUT(newest_told() > before, patient);
            QTest::qWait(static_cast<int>(random() % 60));
            const auto supervisor = static_cast<pid_t>(RunLink::read(path)->pid);
            const auto worker = worker_pid(path);
            const bool alone = round % 8 == 7; // the worker alone is started again after a second
            if (!alone)
                ::kill(supervisor, SIGKILL);
            ::kill(worker, SIGKILL);
            QVERIFY(gone(worker));
            const auto found = CheckpointFolder(RunFolder(path).checkpoints()).load_newest();
            QVERIFY(found.checkpoint.has_value());
            if (alone)
                continue;
            QVERIFY(gone(supervisor));
            QVERIFY2(found.checkpoint->info.step >= newest_told(),
                     qPrintable(QString("%1 of %2").arg(found.checkpoint->info.step).arg(told)));
            QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("interrupted"), patient);
            const auto resumed = serve.get("resume", {{"path", path}});
            QVERIFY2(resumed.contains("path"), resumed.dump().c_str());
        }
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("stopped"), patient);
    }

    /// Whoever attaches, whenever, however often, gets all events once and in order.
    void several_attach_to_a_live_run() {
        ServeProcess one(runs_.path()), other(runs_.path());
        const auto path = start_long_run(one);
        std::vector<std::pair<ServeProcess*, std::int64_t>> attached;
        for (auto* serve : {&one, &other, &one, &other}) {
            attached.emplace_back(serve, serve->ask("attach", {{"path", path}}));
            QVERIFY(serve->has_event(attached.back().second, "steps"));
        }
        QCOMPARE(other.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        for (const auto& [serve, id] : attached)
            QCOMPARE(serve->answer(id), Json::object());
        std::vector<Json> expected;
        for (auto& event : events_in(path))
            if (!protocol::is_event(event, "layers"))
                expected.push_back(event);
        for (const auto& [serve, id] : attached) {
            std::vector<Json> events;
            for (const auto& event : serve->events_of(id))
                if (!protocol::is_event(event, "layers"))
                    events.push_back(event);
            QVERIFY(events == expected);
        }
    }

    /// Two clicks on Start are two runs with folders of their own; each can be stopped before its first step.
    void a_run_can_be_stopped_at_once() {
        ServeProcess serve(runs_.path());
        const auto first = serve.ask("start", {{"config", tiny_config(90000)}, {"name", "twice"}});
        const auto second = serve.ask("start", {{"config", tiny_config(90000)}, {"name", "twice"}});
        const std::vector<std::string> paths = {serve.answer(first).value("path", ""),
                                                serve.answer(second).value("path", "")};
        QVERIFY(!paths[0].empty() && paths[0] != paths[1]);
        for (const auto& path : paths) {
            QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
            QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("stopped"), patient);
            QVERIFY(serve.get("command", {{"path", path}, {"command", "pause"}}).contains("error"));
        }
    }

    void deaths_in_any_order_leave_an_interrupted_run_data() {
        QTest::addColumn<QStringList>("order");
        QTest::newRow("supervisor") << QStringList{"supervisor"};
        QTest::newRow("supervisor, then worker") << QStringList{"supervisor", "worker"};
        QTest::newRow("worker, then supervisor") << QStringList{"worker", "supervisor"};
        QTest::newRow("serve, supervisor, worker") << QStringList{"serve", "supervisor", "worker"};
    }
    void deaths_in_any_order_leave_an_interrupted_run() {
        QFETCH(QStringList, order);
        ServeProcess serve(runs_.path());
        const auto path = start_long_run(serve);
        const auto supervisor = static_cast<pid_t>(RunLink::read(path)->pid);
        const auto worker = worker_pid(path);
        QVERIFY(supervisor > 0 && worker > 0 && supervisor != worker);
        for (const auto& who : order)
            ::kill(who == "serve"    ? static_cast<pid_t>(serve.process().processId())
                   : who == "worker" ? worker
                                     : supervisor,
                   SIGKILL);
        QVERIFY(gone(supervisor));
        // At once, not when the worker has gone; tried again because a dead process's last thread may hold its socket a
        // moment.
        QTRY_COMPARE_WITH_TIMEOUT(state_of(path), std::string("interrupted"), patient);
        QVERIFY(gone(worker)); // it saves and leaves
        QCOMPARE(state_of(path), std::string("interrupted"));

        ServeProcess second(runs_.path());
        const auto resumed = second.get("resume", {{"path", path}, {"set", {{"epochs", 90001}}}});
        QVERIFY2(resumed.contains("path"), resumed.dump().c_str());
        QCOMPARE(state_of(path), std::string("running"));
        const auto id = second.ask("attach", {{"path", path}});
        QVERIFY(QTest::qWaitFor(
            [&] {
                const auto& events = second.events_of(id);
                const auto hello = std::find_if(events.rbegin(), events.rend(), [](const Json& e) {
                    return protocol::is_event(e, "hello") && e.at("run") == 2;
                });
                return std::any_of(events.rbegin(), hello,
                                   [](const Json& e) { return protocol::is_event(e, "steps"); }) &&
                       hello != events.rend();
            },
            patient));
        QCOMPARE(second.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(second.answer(id), Json::object());
        QCOMPARE(state_of(path), std::string("stopped"));

        // No step is in force twice: what was lost is marked as superseded. Steps that a worker took when nobody was
        // there to write them down may be missing.
        std::int64_t last = 0;
        for (const auto& event : events_in(path)) {
            if (protocol::is_event(event, "superseded"))
                last = static_cast<std::int64_t>(protocol::number_at(event, "from_step"));
            if (protocol::is_event(event, "steps")) {
                QVERIFY(static_cast<std::int64_t>(protocol::number_at(event, "step")) > last);
                last = protocol::last_step(event);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestServeRuns)
#include "tst_serve_runs.moc"
