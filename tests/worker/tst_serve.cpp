// SPDX-License-Identifier: Apache-2.0
// The real espalier-train, as a window uses it: requests, runs that outlive everybody, and deaths in every order.
#include "io/checkpoint_folder.h"
#include "schema_check.h"
#include "serve_process.h"
#include "worker/event_files.h"
#include "worker/run_link.h"
#include "worker/run_summary.h"

#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>

using namespace espalier;

namespace {

constexpr int patient = ServeProcess::patient;

Json tiny_config(int epochs) {
    return {{"preset", "quick"}, {"data", "synthetic:1x16x16,2,128"},  {"batch", 16}, {"epochs", epochs},
            {"threads", 1},      {"checkpoint", {{"every_steps", 20}}}};
}

std::vector<Json> events_in(const std::filesystem::path& run) {
    std::vector<Json> events;
    visit_backwards(run / events_file, [&](const Json& event) {
        events.insert(events.begin(), event);
        return true;
    });
    return events;
}

/// pid of the run's worker as its last hello says.
pid_t worker_pid(const std::filesystem::path& run) {
    pid_t pid = 0;
    visit_backwards(run / events_file, [&](const Json& event) {
        if (protocol::is_event(event, "hello"))
            pid = static_cast<pid_t>(protocol::number_at(event, "pid"));
        return pid == 0;
    });
    return pid;
}

bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 3, ") Z") != 0;
}

bool gone(pid_t pid) {
    return QTest::qWaitFor([&] { return !alive(pid); }, patient);
}

} // namespace

class TestServe : public QObject {
    Q_OBJECT

    QTemporaryDir runs_;
    const SchemaCheck schema_{ESPALIER_SCHEMA};

    std::string state(const std::string& run) const { return summarize(RunFolder(run)).state; }

    /// A run under way: it has taken steps.
    std::string start_long_run(ServeProcess& serve) {
        const auto started = serve.get("start", {{"config", tiny_config(90000)}, {"name", "long"}});
        if (!started.contains("path"))
            qFatal("%s", started.dump().c_str());
        const auto path = started.at("path").get<std::string>();
        const auto id = serve.ask("attach", {{"path", path}});
        if (!serve.has_event(id, "checkpoint"))
            qFatal("no checkpoint came");
        serve.get("detach", {{"path", path}});
        return path;
    }

private slots:
    void it_greets_and_answers_by_the_schema() {
        ServeProcess serve(runs_.path());
        QCOMPARE(QString::fromStdString(schema_.event_fault(serve.hello())), QString());
        const std::pair<const char*, Json> requests[] = {
            {"probe", Json::object()},
            {"presets", Json::object()},
            {"runs", Json::object()},
            {"list", {{"path", runs_.path().toStdString()}}},
            {"scan", {{"data", "synthetic:3x8x8,3,30"}}},
            {"thumbnails", {{"data", "builtin"}, {"count", 3}, {"size", 28}}},
            {"plan", {{"config", tiny_config(2)}}},
        };
        for (const auto& [name, arguments] : requests) {
            const auto answer = serve.get(name, arguments);
            QCOMPARE(QString::fromStdString(schema_.fault(answer, std::string("answer.") + name)), QString());
        }
    }

    void what_cannot_be_answered_is_an_error_with_a_code() {
        ServeProcess serve(runs_.path());
        const auto code = [&](const char* request, const Json& arguments) {
            return serve.get(request, arguments).value("error", Json::object()).value("code", 0);
        };
        QCOMPARE(code("dance", {}), 2);
        QCOMPARE(code("scan", {}), 2);
        QCOMPARE(code("plan", {{"config", {{"preset", "quick"}, {"batch", -1}}}}), 2);
        QCOMPARE(code("plan", {{"config", {{"preset", "none"}}}}), 2);
        QCOMPARE(code("list", {{"path", "/nowhere"}}), 3);
        QCOMPARE(code("start", {{"config", {{"preset", "quick"}, {"colour", "red"}}}}), 2);
        QCOMPARE(code("command", {{"path", "/nowhere"}, {"command", "stop"}}), 2);
        QCOMPARE(code("attach", {{"path", "/nowhere"}}), 3);
        QCOMPARE(code("fetch", {{"path", "/etc/hostname"}}), 2);
        serve.process().write("noise\n{\"id\":999,\"request\":\"runs\"}\n");
        QVERIFY(serve.wait_for(999));
    }

    /// What comes back is what was sent, or words; never another number.
    void an_id_comes_back_as_it_was_sent_or_is_refused_data() {
        QTest::addColumn<QByteArray>("id");
        QTest::addColumn<bool>("taken");
        for (const char* id : {"0", "7", "-3", "9007199254740993", "9223372036854775807", "-9223372036854775808"})
            QTest::newRow(id) << QByteArray(id) << true;
        for (const char* id : {"9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e99", "-1e99",
                               "1.5", "3.0", "\"7\"", "\"\"", "null", "true", "{}", "{\"a\":1}", "[7]", ""})
            QTest::newRow(*id ? id : "missing") << QByteArray(id) << false;
    }
    void an_id_comes_back_as_it_was_sent_or_is_refused() {
        QFETCH(QByteArray, id);
        QFETCH(bool, taken);
        QProcess serve;
        serve.start(ESPALIER_TRAIN, {"serve", "--runs", runs_.path()});
        serve.write(id.isEmpty() ? QByteArray("{\"request\":\"runs\"}\n")
                                 : "{\"id\":" + id + ",\"request\":\"runs\"}\n");
        QList<QByteArray> lines;
        while (lines.size() < 2 && serve.waitForReadyRead(patient))
            while (serve.canReadLine())
                lines.append(serve.readLine());
        serve.closeWriteChannel();
        QVERIFY(serve.waitForFinished(patient));
        QCOMPARE(lines.size(), 2); // hello, and one answer
        const auto answer = Json::parse(lines[1].toStdString());
        QCOMPARE(QString::fromStdString(schema_.fault(answer, "reply")), QString());
        if (taken) {
            QVERIFY2(lines[1].contains("\"id\":" + id + "}") || lines[1].contains("\"id\":" + id + ","), lines[1]);
            QVERIFY2(answer.contains("answer"), lines[1]);
        } else {
            QVERIFY2(answer.at("id").is_null(), lines[1]);
            QCOMPARE(answer.at("error").at("code"), Json(2));
        }
    }

    void arguments_out_of_range_are_refused_in_words() {
        ServeProcess serve(runs_.path());
        const auto text = [&](const char* request, Json arguments) {
            return QString::fromStdString(
                serve.get(request, std::move(arguments)).value("error", Json::object()).value("text", ""));
        };
        for (const Json& count :
             {Json(-1), Json(0), Json(1001), Json(1e99), Json(2.5), Json("many"), Json(), Json({1})}) {
            QVERIFY(text("thumbnails", {{"data", "builtin"}, {"count", count}}).contains("from 1 to 1000"));
            QVERIFY(text("thumbnails", {{"data", "builtin"}, {"size", count}}).contains("from 8 to 512"));
        }
        QVERIFY(text("cancel", Json::object()).contains("`target`"));
        QVERIFY(text("cancel", {{"target", 1e99}}).contains("`target`"));
        QVERIFY(text("start", {{"config", tiny_config(1)}, {"name", 7}}).contains("`name`"));
        QVERIFY(text("resume", {{"path", runs_.path().toStdString()}, {"set", 7}}).size() > 0);
        QVERIFY(text("evaluate", {{"checkpoint", "x"}, {"data", "builtin"}, {"backend", 7}}).contains("`backend`"));
    }

    /// However many slow requests wait, one of another name is answered, and all end when they are cancelled.
    void a_pile_of_slow_requests_starves_no_other() {
        ServeProcess serve(runs_.path());
        std::vector<std::int64_t> slow;
        for (int i = 0; i < 40; ++i)
            slow.push_back(serve.ask("scan", {{"data", "synthetic:3x64x64,10,1000000"}}));
        for (const char* quick : {"runs", "probe", "presets"})
            QVERIFY2(serve.get(quick).contains(quick == std::string("probe") ? "devices" : quick), quick);
        QVERIFY(serve.get("thumbnails", {{"data", "synthetic:1x8x8,2,8"}, {"count", 1}}).contains("images"));
        for (const auto id : slow)
            QVERIFY(!serve.answered(id));
        for (const auto id : slow)
            serve.ask("cancel", {{"target", id}});
        for (const auto id : slow)
            QCOMPARE(serve.answer(id).at("error").at("code"), Json(6));
        // The places are free again.
        QVERIFY(serve.get("scan", {{"data", "synthetic:1x8x8,2,8"}}).contains("images"));
    }

    /// A slow request holds up nobody and ends at once when it is cancelled.
    void a_slow_request_can_be_cancelled() {
        ServeProcess serve(runs_.path());
        const auto slow = serve.ask("scan", {{"data", "synthetic:3x64x64,10,1000000"}});
        QVERIFY(serve.get("presets").contains("presets"));
        QVERIFY(!serve.answered(slow));
        QCOMPARE(serve.get("cancel", {{"target", slow}}), Json::object());
        QVERIFY(serve.answered(slow));
        QCOMPARE(serve.answer(slow).at("error").at("code"), Json(6));
    }

    /// Who asks for columns gets an overview and every step; who does not gets the lines, as ever.
    void a_long_past_comes_packed_to_who_asks() {
        const std::filesystem::path run = runs_.filePath("long-past").toStdString();
        std::filesystem::create_directory(run);
        std::ofstream(run / "config.json") << "{}";
        const std::int64_t steps = 150'000;
        {
            EventLog log(run);
            for (std::int64_t first = 1; first <= steps; first += 100) {
                auto event = protocol::make_event("steps");
                event["step"] = first;
                event["epoch"] = static_cast<double>(first) / 1000;
                for (int i = 0; i < 100; ++i) {
                    event["loss"].push_back(0.1234567890123 + static_cast<double>(first + i));
                    event["accuracy"].push_back(0.1234567890123);
                    event["learning_rate"].push_back(0.1234567890123);
                    event["seconds"].push_back(0.0123456789);
                }
                log.append(event);
                if (first % 10'000 == 1) {
                    auto epoch = protocol::make_event("epoch");
                    epoch["step"] = first + 99;
                    epoch["epoch"] = first / 10'000 + 1;
                    epoch["loss"] = 1;
                    log.append(epoch);
                }
            }
            auto bye = protocol::make_event("bye");
            bye["code"] = 0;
            log.append(bye);
        }
        std::filesystem::remove(run / column_file_name); // a run of an older version
        ServeProcess serve(runs_.path());
        const auto names = serve.hello().at("capabilities");
        QVERIFY(std::find(names.begin(), names.end(), "attach.packed") != names.end());
        const auto packed = serve.ask("attach", {{"path", run.string()}, {"packed", {"loss"}}});
        const auto lines = serve.ask("attach", {{"path", run.string()}});
        QCOMPARE(serve.answer(packed), Json::object());
        QCOMPARE(serve.answer(lines), Json::object());

        int overviews = 0, made = 0;
        for (const auto& progress : serve.progress_of(packed)) {
            made += progress.contains("making_columns");
            if (!progress.contains("overview"))
                continue;
            ++overviews;
            QCOMPARE(QString::fromStdString(schema_.fault(progress.at("overview"), "overview")), QString());
        }
        QCOMPARE(overviews, 1);
        QVERIFY(made > 0);
        for (const auto& progress : serve.progress_of(lines))
            QVERIFY(progress.contains("caught_up"));

        // in order, the same epochs after the same steps
        const auto told = [&](std::int64_t id) {
            std::vector<double> story;
            for (const auto& event : serve.events_of(id)) {
                if (event.contains("packed")) {
                    const auto fault = schema_.fault(event, "packed." + event.at("type").get<std::string>());
                    if (!fault.empty() || event.contains("accuracy"))
                        qFatal("%s", fault.c_str());
                    const auto bytes = protocol::from_base64(event.at("loss").get<std::string>()).value();
                    std::vector<float> losses(bytes.size() / sizeof(float));
                    std::memcpy(losses.data(), bytes.data(), bytes.size());
                    story.insert(story.end(), losses.begin(), losses.end());
                } else if (protocol::is_event(event, "steps")) {
                    for (const auto& loss : event.at("loss"))
                        story.push_back(loss.get<float>());
                } else {
                    story.push_back(-protocol::number_at(event, "step"));
                }
            }
            return story;
        };
        QVERIFY(told(packed) == told(lines));
        QVERIFY(serve.events_of(packed).size() < serve.events_of(lines).size());
        QVERIFY(std::filesystem::exists(run / column_file_name));
        std::filesystem::remove_all(run);
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

        QCOMPARE(serve.get("rename", {{"path", path}, {"name", "renamed"}}), Json::object());
        QCOMPARE(serve.get("runs").at("runs").at(0).at("name"), Json("renamed"));
        const auto fetched = serve.get("fetch", {{"path", path + "/checkpoints/last.safetensors"}});
        const auto bytes = QByteArray::fromBase64(QByteArray::fromStdString(fetched.at("base64")));
        QCOMPARE(static_cast<std::uintmax_t>(bytes.size()),
                 std::filesystem::file_size(path + "/checkpoints/last.safetensors"));
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
        QCOMPARE(state(path), std::string("running"));
        ServeProcess serve(runs_.path());
        const auto id = serve.ask("attach", {{"path", path}});
        QVERIFY(serve.has_event(id, "hello"));
        QVERIFY(serve.get("delete", {{"path", path}}).contains("error")); // not while it runs
        QVERIFY(serve.get("resume", {{"path", path}}).contains("error"));

        QCOMPARE(serve.get("command", {{"path", path}, {"command", "pause"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("paused"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "resume"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("running"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state(path), std::string("stopped"));
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
        QVERIFY(serve.has_phase(id, "training"));
        QTest::qWait(1000); // within the first step, even on a fast machine
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "pause"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("paused"), patient);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "resume"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("running"), patient);
        QTest::qWait(500);
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state(path), std::string("stopped"));
        QVERIFY(!serve.seen(id, "steps"));
        const auto last = load_checkpoint(RunFolder(path).checkpoints() / "last.safetensors");
        QCOMPARE(last.info.step, std::int64_t{0});
    }

    /// An evaluation is left as a step is: the state is that of the epoch's last step, and the rest of it is done
    /// later.
    void a_stop_in_an_evaluation() {
        ServeProcess serve(runs_.path());
        const Json config = {{"preset", "quick"},
                             {"backend", "reference"},
                             // 40 to train with, soon done even under sanitizers, and 360 to evaluate.
                             {"data", "synthetic:1x16x16,2,400"},
                             {"validation_share", 0.9},
                             {"batch", 10},
                             {"epochs", 3},
                             {"threads", 1}};
        const auto path = serve.get("start", {{"config", config}}).value("path", "");
        const auto id = serve.ask("attach", {{"path", path}});
        QVERIFY(serve.has_phase(id, "evaluating"));
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state(path), std::string("stopped"));
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
            QCOMPARE(state(path), std::string("stopped"));
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
            QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("interrupted"), patient);
            const auto resumed = serve.get("resume", {{"path", path}});
            QVERIFY2(resumed.contains("path"), resumed.dump().c_str());
        }
        QCOMPARE(serve.get("command", {{"path", path}, {"command", "stop"}}), Json::object());
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("stopped"), patient);
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
            QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("stopped"), patient);
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
        QTRY_COMPARE_WITH_TIMEOUT(state(path), std::string("interrupted"), patient);
        QVERIFY(gone(worker)); // it saves and leaves
        QCOMPARE(state(path), std::string("interrupted"));

        ServeProcess second(runs_.path());
        const auto resumed = second.get("resume", {{"path", path}, {"set", {{"epochs", 90001}}}});
        QVERIFY2(resumed.contains("path"), resumed.dump().c_str());
        QCOMPARE(state(path), std::string("running"));
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
        QCOMPARE(state(path), std::string("stopped"));

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

QTEST_GUILESS_MAIN(TestServe)
#include "tst_serve.moc"
