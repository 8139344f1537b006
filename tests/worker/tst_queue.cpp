// SPDX-License-Identifier: Apache-2.0
// Runs of the real espalier-train that begin one after another, whoever closes, kills, pauses or stops what; and
// deleted runs that are brought back.
#include "schema_check.h"
#include "serve_runs.h"
#include "worker/run_link.h"
#include "worker/run_queue.h"
#include "worker/run_trash.h"

#include <QLocalServer>
#include <QLocalSocket>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <future>
#include <thread>

using namespace espalier;

namespace {

std::string start(ServeProcess& serve, int epochs, bool queue, const char* name) {
    const auto answer = serve.get("start", {{"config", tiny_config(epochs)}, {"name", name}, {"queue", queue}});
    if (!answer.contains("path"))
        qFatal("%s", answer.dump().c_str());
    return answer.at("path").get<std::string>();
}

std::string queue(ServeProcess& serve, int epochs, const char* name) { return start(serve, epochs, true, name); }

Json command(ServeProcess& serve, const std::string& path, const char* name) {
    return serve.get("command", {{"path", path}, {"command", name}});
}

bool comes_to(const std::string& path, const char* state) {
    return QTest::qWaitFor([&] { return state_of(path) == state; }, patient);
}

bool has_worker(const std::string& path) { return worker_pid(path) != 0; }

/// When the run's workers were at work, seconds since 1970.
std::pair<double, double> time_at_work(const std::string& path) {
    double begin = 0, end = 0;
    for (const auto& event : events_in(path)) {
        if (protocol::is_event(event, "hello") && begin == 0)
            begin = protocol::number_at(event, "time");
        if (protocol::is_event(event, "bye"))
            end = protocol::number_at(event, "time");
    }
    return {begin, end};
}

void kill_run(const std::string& path) {
    const auto supervisor = static_cast<pid_t>(RunLink::read(path)->pid);
    const auto worker = worker_pid(path);
    ::kill(supervisor, SIGKILL);
    if (worker > 0)
        ::kill(worker, SIGKILL);
    if (!gone(supervisor) || (worker > 0 && !gone(worker)))
        qFatal("it does not die");
}

} // namespace

class TestQueue : public QObject {
    Q_OBJECT

    const SchemaCheck schema_{ESPALIER_SCHEMA};
    std::unique_ptr<QTemporaryDir> runs_;

private Q_SLOTS:
    void init() { runs_ = std::make_unique<QTemporaryDir>(); }
    void cleanup() {
        for (const auto& run : runs_in(runs_->path().toStdString()))
            if (is_supervised(run.path())) {
                const auto pid = static_cast<pid_t>(RunLink::read(run.path())->pid);
                ::kill(pid, SIGTERM);
                QVERIFY(gone(pid));
            }
    }

    void runs_begin_one_after_another() {
        std::string first, second, third;
        {
            ServeProcess serve(runs_->path());
            first = start_long_run(serve);
            second = queue(serve, 90000, "second");
            third = queue(serve, 1, "third");
            const auto listed = serve.get("runs");
            QCOMPARE(QString::fromStdString(schema_.fault(listed, "answer.runs")), QString());
            std::map<std::string, std::int64_t> places;
            for (const auto& run : listed.at("runs"))
                places[run.at("path")] = run.at("queue");
            QCOMPARE(places[first], 0);
            QCOMPARE(places[second], 1);
            QCOMPARE(places[third], 2);
            for (const auto& event : events_in(third))
                QCOMPARE(QString::fromStdString(schema_.event_fault(event)), QString());
            QVERIFY(protocol::text_at(events_in(second).back(), "reason").find("until long has ended") !=
                    std::string::npos);
            QCOMPARE(serve.get("queue"), Json({{"queue", {second, third}}}));
            serve.process().kill(); // the queue is nobody's but the runs'
            serve.process().waitForFinished();
        }
        ServeProcess other(runs_->path());
        QTest::qWait(2200); // two questions for the turn
        QCOMPARE(state_of(second), std::string("queued"));
        QVERIFY(other.get("delete", {{"path", second}}).contains("error"));
        QVERIFY(other.get("resume", {{"path", second}}).contains("error"));
        QVERIFY(command(other, second, "pause").contains("error"));
        QCOMPARE(command(other, first, "stop"), Json::object());
        QVERIFY(comes_to(second, "running"));
        QVERIFY(QTest::qWaitFor([&] { return last_step_of(second) > 0; }, patient));
        QCOMPARE(state_of(first), std::string("stopped"));
        QCOMPARE(state_of(third), std::string("queued"));
        QVERIFY(!has_worker(third));
        QCOMPARE(command(other, second, "stop"), Json::object());
        QVERIFY(comes_to(third, "finished"));
        QCOMPARE(other.get("queue"), Json({{"queue", Json::array()}}));
    }

    /// Into an empty queue: at once.
    void a_queue_without_anything_before_it_does_not_wait() {
        ServeProcess serve(runs_->path());
        QVERIFY(comes_to(queue(serve, 1, "alone"), "finished"));
    }

    void a_paused_run_holds_up_nobody() {
        ServeProcess serve(runs_->path());
        const auto first = start_long_run(serve);
        const auto second = queue(serve, 1, "second");
        QCOMPARE(command(serve, first, "pause"), Json::object());
        QVERIFY(comes_to(second, "finished"));
        QCOMPARE(state_of(first), std::string("paused"));
    }

    void the_dead_free_the_way() {
        ServeProcess serve(runs_->path());
        const auto first = start_long_run(serve);
        const auto second = queue(serve, 90000, "second");
        const auto third = queue(serve, 1, "third");
        kill_run(second); // as a reboot leaves it
        QVERIFY(comes_to(second, "interrupted"));
        QVERIFY(summarize(RunFolder(second)).reason.find("waiting in the queue") != std::string::npos);
        QTest::qWait(2200);
        QCOMPARE(state_of(third), std::string("queued"));
        kill_run(first);
        QVERIFY(comes_to(third, "finished"));
        QCOMPARE(serve.get("resume", {{"path", second}}).value("path", ""), second);
        QVERIFY(QTest::qWaitFor([&] { return last_step_of(second) > 0; }, patient));
    }

    /// The log-off is told from a death.
    void a_waiting_run_that_is_ended_says_so() {
        ServeProcess serve(runs_->path());
        (void)start_long_run(serve);
        const auto second = queue(serve, 1, "second");
        ::kill(static_cast<pid_t>(RunLink::read(second)->pid), SIGTERM);
        QVERIFY(comes_to(second, "interrupted"));
        QVERIFY(summarize(RunFolder(second)).reason.find("waiting in the queue") != std::string::npos);
        QCOMPARE(serve.get("queue"), Json({{"queue", Json::array()}}));
    }

    void a_waiting_run_can_be_stopped_queued_again_and_begun_at_once() {
        ServeProcess serve(runs_->path());
        const auto first = start_long_run(serve);
        const auto second = queue(serve, 90000, "second");
        const auto id = serve.ask("attach", {{"path", second}});
        QCOMPARE(command(serve, second, "stop"), Json::object());
        QCOMPARE(serve.answer(id), Json::object());
        QCOMPARE(state_of(second), std::string("stopped"));
        QVERIFY(!has_worker(second));
        QCOMPARE(serve.get("queue"), Json({{"queue", Json::array()}}));
        QCOMPARE(serve.get("resume", {{"path", second}, {"queue", true}}).value("path", ""), second);
        QCOMPARE(state_of(second), std::string("queued")); // and not as its end before says
        QCOMPARE(command(serve, second, "resume"), Json::object());
        QVERIFY(comes_to(second, "running"));
        QVERIFY(QTest::qWaitFor([&] { return last_step_of(second) > 0; }, patient));
        QCOMPARE(state_of(first), std::string("running"));
    }

    void the_order_can_be_changed_from_another_window() {
        ServeProcess serve(runs_->path()), other(runs_->path());
        const auto first = start_long_run(serve);
        const auto b = queue(serve, 1, "b"), c = queue(other, 1, "c"), d = queue(serve, 1, "d");
        const Json before{{"queue", {b, c, d}}};
        QCOMPARE(other.get("queue"), before);
        const auto answer = other.get("queue", {{"order", {d, "/no/such/run", b}}});
        QCOMPARE(QString::fromStdString(schema_.fault(answer, "answer.queue")), QString());
        const Json after{{"queue", {d, b, c}}};
        QCOMPARE(answer, after);
        QVERIFY(other.get("queue", {{"order", {7}}}).contains("error"));
        QCOMPARE(serve.get("queue"), after);
        QCOMPARE(command(serve, first, "stop"), Json::object());
        for (const auto& run : {b, c, d})
            QVERIFY(comes_to(run, "finished"));
        QVERIFY(time_at_work(d).second <= time_at_work(b).first);
        QVERIFY(time_at_work(b).second <= time_at_work(c).first);
    }

    /// Queued by several, at the same time: never two at work.
    void many_at_once_are_still_one_after_another() {
        ServeProcess serve(runs_->path()), other(runs_->path());
        std::vector<std::pair<ServeProcess*, std::int64_t>> asked;
        for (int i = 0; i < 3; ++i)
            for (auto* one : {&serve, &other})
                asked.emplace_back(one, one->ask("start", {{"config", tiny_config(1)}, {"queue", true}}));
        QProcess terminal;
        terminal.setProcessChannelMode(QProcess::MergedChannels);
        terminal.start(ESPALIER_TRAIN, {"run", "--preset", "quick", "--data", "synthetic:1x16x16,2,128", "--set",
                                        "epochs=1", "--set", "threads=1", "--queue", "--runs", runs_->path()});
        std::vector<std::pair<double, double>> times;
        for (const auto& [one, id] : asked)
            QVERIFY(one->answer(id).contains("path"));
        QTRY_COMPARE_WITH_TIMEOUT(terminal.state(), QProcess::NotRunning, patient); // it may have ended by now
        QCOMPARE(terminal.exitCode(), 0);
        for (const auto& run : runs_in(runs_->path().toStdString())) {
            QVERIFY(comes_to(run.path().string(), "finished"));
            times.push_back(time_at_work(run.path().string()));
        }
        QCOMPARE(times.size(), std::size_t{7});
        std::ranges::sort(times);
        for (std::size_t i = 1; i < times.size(); ++i)
            QVERIFY(times[i].first >= times[i - 1].second);
    }

    void a_damaged_queue_is_made_anew() {
        ServeProcess serve(runs_->path());
        const auto first = start_long_run(serve);
        const auto second = queue(serve, 1, "second");
        std::ofstream(runs_->filePath("queue.json").toStdString()) << "{\"waiting\": [7, ";
        QVERIFY(QTest::qWaitFor([&] { return serve.get("queue") == Json({{"queue", {second}}}); }, patient));
        QCOMPARE(command(serve, first, "stop"), Json::object());
        QVERIFY(comes_to(second, "finished"));
    }

    void a_deleted_run_comes_back() {
        ServeProcess serve(runs_->path());
        const auto path = start(serve, 1, false, "kept");
        QVERIFY(serve.get("delete", {{"path", path}, {"keep", true}}).contains("error")); // it runs
        QVERIFY(comes_to(path, "finished"));
        QVERIFY(QTest::qWaitFor([&] { return !is_supervised(path); }, patient));
        const auto events = events_in(path).size();
        const auto deleted = serve.get("delete", {{"path", path}, {"keep", true}});
        QCOMPARE(QString::fromStdString(schema_.fault(deleted, "answer.delete")), QString());
        QVERIFY(!std::filesystem::exists(path));
        QCOMPARE(serve.get("runs").at("runs").size(), std::size_t{0});
        const auto trash = deleted.at("trash").get<std::string>();
        const auto restored = serve.get("restore", {{"trash", trash}});
        QCOMPARE(QString::fromStdString(schema_.fault(restored, "answer.restore")), QString());
        QCOMPARE(restored, Json({{"path", path}}));
        QCOMPARE(state_of(path), std::string("finished"));
        QCOMPARE(events_in(path).size(), events);
        QVERIFY(serve.get("restore", {{"trash", trash}}).contains("error"));
        QVERIFY(serve.get("restore", {{"trash", path}}).contains("error"));

        // another one by that name has come meanwhile
        const auto again = serve.get("delete", {{"path", path}, {"keep", true}}).value("trash", "");
        std::filesystem::create_directory(path);
        QCOMPARE(serve.get("restore", {{"trash", again}}), Json({{"path", path + "-2"}}));
        QCOMPARE(serve.get("resume", {{"path", path + "-2"}, {"set", {{"epochs", 2}}}}).value("path", ""), path + "-2");
        QVERIFY(comes_to(path + "-2", "finished"));
    }

    /// Of a deleted run's file only the name counts, not the place.
    void a_run_comes_back_beside_the_trash() {
        const std::filesystem::path root = runs_->path().toStdString();
        const RunFolder run(root / "mine/");
        std::filesystem::create_directory(run.path());
        write_json(run.config(), {{"preset", "quick"}});
        const auto trashed = move_to_trash(run);
        QCOMPARE(trashed, root / trash_folder / "mine");
        write_json(trashed / "deleted.json", {{"from", (root / "elsewhere" / "other/").string()}, {"time", 1.0}});
        QCOMPARE(restore_from_trash(trashed / "").path(), root / "other");
        QVERIFY(RunFolder(root / "other").is_run());
        QVERIFY(!std::filesystem::exists(root / "other" / "deleted.json"));
    }

    void a_run_stays_in_the_trash_if_its_time_is_unknown() {
        const std::filesystem::path root = runs_->path().toStdString();
        const RunFolder run(root / "mine");
        std::filesystem::create_directory(run.path());
        write_json(run.config(), {{"preset", "quick"}});
        const auto trashed = move_to_trash(run);
        for (const char* text : {"", "{\"from\": ", "{\"time\": 0}", "{\"time\": \"NaN\"}"}) {
            std::ofstream(trashed / "deleted.json") << text;
            empty_trash(root, std::chrono::system_clock::now() + 2 * longest_in_trash);
            QVERIFY2(RunFolder(trashed).is_run(), text);
        }
    }

    /// What stands in its events may be long past: an earlier worker may have been killed in a pause.
    void only_its_supervisor_says_that_a_run_pauses_data() {
        QTest::addColumn<QByteArray>("greeting");
        QTest::addColumn<bool>("come");
        QTest::newRow("pauses") << QByteArray(R"({"supervisor":1,"protocol":"1.0","paused":true})") << true;
        QTest::newRow("trains") << QByteArray(R"({"supervisor":1,"protocol":"1.0","paused":false})") << false;
        QTest::newRow("does not say") << QByteArray(R"({"supervisor":1,"protocol":"1.0"})") << false;
        QTest::newRow("says nothing") << QByteArray() << false;
    }
    void only_its_supervisor_says_that_a_run_pauses() {
        QFETCH(QByteArray, greeting);
        QFETCH(bool, come);
        const std::filesystem::path root = runs_->path().toStdString();
        const RunFolder other(root / "other");
        std::filesystem::create_directory(other.path());
        write_json(other.config(), {{"preset", "quick"}});
        std::ofstream(other.events()) << R"({"type":"hello","run":1})" << '\n'
                                      << R"({"type":"phase","phase":"paused"})" << '\n'
                                      << R"({"type":"heartbeat","phase":"paused"})" << '\n';
        std::promise<void> listening, asked;
        std::thread supervisor([&] {
            QLocalServer server;
            server.listen(runs_->filePath("socket"));
            RunLink{0, server.fullServerName().toStdString()}.write(other.path());
            listening.set_value();
            if (server.waitForNewConnection(patient) && !greeting.isEmpty()) {
                auto* socket = server.nextPendingConnection();
                socket->write(greeting + '\n');
                socket->waitForBytesWritten();
            }
            asked.get_future().wait();
        });
        listening.get_future().wait();
        const auto turn = RunQueue(root).ask("mine");
        asked.set_value();
        supervisor.join();
        QVERIFY(turn.has_value());
        QCOMPARE(turn->come, come);
    }

    /// A worker takes a while to leave its pause: nobody begins meanwhile.
    void a_run_that_is_told_to_go_on_is_waited_for() {
        ServeProcess serve(runs_->path());
        const auto first = start_long_run(serve);
        QCOMPARE(command(serve, first, "pause"), Json::object());
        QVERIFY(comes_to(first, "paused"));
        const auto worker = worker_pid(first);
        ::kill(worker, SIGSTOP);
        QCOMPARE(command(serve, first, "resume"), Json::object());
        const auto second = queue(serve, 1, "second");
        QTest::qWait(2200);                               // two questions for the turn
        QCOMPARE(state_of(first), std::string("paused")); // as its events say
        QCOMPARE(state_of(second), std::string("queued"));
        QVERIFY(!has_worker(second));
        ::kill(worker, SIGCONT);
        QVERIFY(comes_to(first, "running"));
        QTest::qWait(1200);
        QVERIFY(!has_worker(second));
        QCOMPARE(command(serve, first, "stop"), Json::object());
        QVERIFY(comes_to(second, "finished"));
    }

    void a_slash_behind_a_run_does_not_count() {
        ServeProcess serve(runs_->path());
        const auto path = start(serve, 1, false, "slash");
        QVERIFY(comes_to(path, "finished"));
        QVERIFY(QTest::qWaitFor([&] { return !is_supervised(path); }, patient));
        QCOMPARE(serve.get("report", {{"path", path + "/"}}).at("name"),
                 Json(std::filesystem::path(path).filename().string() + "-report.zip"));
        QCOMPARE(
            serve.get("resume", {{"path", path + "/"}, {"set", {{"epochs", 2}}}, {"queue", true}}).value("path", ""),
            path);
        QVERIFY(comes_to(path, "finished"));
        QVERIFY(!std::filesystem::exists(std::filesystem::path(path) / "queue.lock"));
        QVERIFY(!std::filesystem::exists(std::filesystem::path(path) / "queue.json"));
        QVERIFY(QTest::qWaitFor([&] { return !is_supervised(path); }, patient));
        const auto trash = serve.get("delete", {{"path", path + "/"}, {"keep", true}}).value("trash", "");
        QCOMPARE(serve.get("restore", {{"trash", trash + "/"}}), Json({{"path", path}}));
    }

    void a_report_holds_what_is_needed() {
        ServeProcess serve(runs_->path());
        const auto path = start(serve, 1, false, "told");
        QVERIFY(comes_to(path, "finished"));
        QCOMPARE(serve.get("notes", {{"path", path}, {"notes", "between us"}}), Json::object());
        const auto report = serve.get("report", {{"path", path}});
        QCOMPARE(QString::fromStdString(schema_.fault(report, "answer.report")), QString());
        QCOMPARE(report.at("name"), Json(std::filesystem::path(path).filename().string() + "-report.zip"));
        const auto zip = QByteArray::fromBase64(QByteArray::fromStdString(report.at("base64")));
        QVERIFY(zip.startsWith("PK\x03\x04"));
        for (const char* file : {"about.json", "config.json", "passport.json", "log.txt", "events.jsonl"})
            QVERIFY2(zip.contains(file), file);
        QVERIFY(!zip.contains("notes.json"));
        QVERIFY(serve.get("report", {{"path", runs_->path().toStdString()}}).contains("error"));

        QProcess terminal;
        const QString file = runs_->filePath("r.zip");
        terminal.start(ESPALIER_TRAIN, {"report", QString::fromStdString(path), "--out", file});
        QVERIFY(terminal.waitForFinished(patient));
        QCOMPARE(terminal.exitCode(), 0);
        QVERIFY(QFile::exists(file));
    }

    void the_trash_is_bounded() {
        const std::filesystem::path root = runs_->path().toStdString();
        const auto make = [&](const std::string& name) {
            const RunFolder run(root / name);
            std::filesystem::create_directory(run.path());
            write_json(run.config(), {{"preset", "quick"}});
            return move_to_trash(run);
        };
        std::vector<std::filesystem::path> deleted;
        for (std::size_t i = 0; i < most_in_trash + 3; ++i)
            deleted.push_back(make("run" + std::to_string(100 + i)));
        const auto left = [&] { return std::ranges::count_if(deleted, [](const auto& path) { return exists(path); }); };
        empty_trash(root);
        QCOMPARE(left(), static_cast<std::ptrdiff_t>(most_in_trash));
        QVERIFY(!exists(deleted.front()) && exists(deleted.back()));
        empty_trash(root, std::chrono::system_clock::now() + longest_in_trash + std::chrono::minutes(1));
        QCOMPARE(left(), std::ptrdiff_t{0});
    }
};

QTEST_GUILESS_MAIN(TestQueue)
#include "tst_queue.moc"
