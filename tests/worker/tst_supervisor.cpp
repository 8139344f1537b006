// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "schema_check.h"
#include "worker/run_link.h"
#include "worker/supervisor.h"

#include <QEventLoop>
#include <QLocalSocket>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

constexpr int patient = 60000; // for a loaded machine; nothing waits that long when all is well

/// A supervisor over the misbehaving worker, with a patience for tests.
struct Supervised {
    QTemporaryDir directory;
    std::filesystem::path run{directory.path().toStdString()};
    std::vector<Json> events;
    std::optional<int> code;
    std::function<void()> ended;
    std::unique_ptr<Supervisor> supervisor;

    explicit Supervised(const char* mode, ProgressWatch::Seconds stillness = 60s,
                        const std::function<void(const std::filesystem::path&)>& prepare = {}) {
        if (prepare)
            prepare(run);
        start(mode, stillness);
    }

    void start(const char* mode, ProgressWatch::Seconds stillness = 60s) {
        code.reset();
        Supervisor::Settings settings;
        settings.worker = {MISBEHAVING_WORKER, {mode, directory.path()}};
        settings.patience = {400ms, 300ms, 300ms, 1s, 1s};
        settings.restarts.first_delay = 1ms;
        settings.stillness = stillness;
        supervisor.reset();
        supervisor =
            std::make_unique<Supervisor>(run, settings,
                                         Supervisor::Handlers{[this](const Json& event) { events.push_back(event); },
                                                              [this](int c) {
                                                                  code = c;
                                                                  if (ended)
                                                                      ended();
                                                              }});
        supervisor->start();
    }

    /// An event loop of its own: qWaitFor sleeps between two looks, which a flood of output would feel.
    int wait() {
        QEventLoop loop;
        QTimer::singleShot(patient, &loop, &QEventLoop::quit);
        ended = [&loop] { loop.quit(); };
        if (!code)
            loop.exec();
        ended = {};
        return code.value_or(-1);
    }
    bool wait_for(const char* type) {
        return QTest::qWaitFor([&] { return count(type) > 0; }, patient);
    }
    long count(const std::string& type) const {
        return std::count_if(events.begin(), events.end(), [&](const Json& e) { return protocol::is_event(e, type); });
    }
    const Json& last(const std::string& type) const {
        static const Json none;
        const auto found =
            std::find_if(events.rbegin(), events.rend(), [&](const Json& e) { return protocol::is_event(e, type); });
        return found == events.rend() ? none : *found;
    }
    std::string file(const char* name) const {
        std::ifstream stream(run / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
};

/// Prepares a run that no device has a part in.
void on_cpu(const std::filesystem::path& run) { std::ofstream(run / "config.json") << R"({"backend":"cpu"})"; }

} // namespace

class TestSupervisor : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void noise_is_logged_and_skipped() {
        Supervised run("noise");
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("steps"), 1L);
        QCOMPARE(run.last("warning").at("text"), Json("a\xef\xbf\xbd\xef\xbf\xbd"));
        QVERIFY(run.file("log.txt").find("greets everybody") != std::string::npos);
        QVERIFY(run.file("log.txt").size() < 100000);
    }

    /// What is passed on, what is written and what the schema says are the same.
    void events_are_written_as_they_are_passed_on() {
        Supervised run("noise");
        QCOMPARE(run.wait(), 0);
        const SchemaCheck schema(ESPALIER_SCHEMA);
        std::vector<Json> written;
        protocol::LineReader reader([&](Json event) { written.push_back(std::move(event)); });
        reader.feed(run.file(events_file));
        QCOMPARE(reader.skipped(), std::size_t{0});
        QCOMPARE(written.size(), run.events.size());
        for (std::size_t i = 0; i < written.size(); ++i) {
            QCOMPARE(written[i], run.events[i]);
            QCOMPARE(QString::fromStdString(schema.event_fault(written[i])), QString());
        }
        QCOMPARE(written.front().at("run"), Json(1));
        QVERIFY(protocol::is_event(written.back(), "bye"));
    }

    void a_flood_of_errors_is_capped() {
        Supervised run("flood");
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("steps"), 1L);
        QVERIFY(run.file("log.txt").size() < 17u << 20);
    }

    void a_worker_that_fails_ends_the_run_with_its_last_words() {
        Supervised run("exit1");
        QCOMPARE(run.wait(), 1);
        QVERIFY(run.last("error").at("text").get<std::string>().find("runtime_error") != std::string::npos);
        QCOMPARE(run.last("phase").at("phase"), Json("failed"));
        QCOMPARE(run.last("bye").at("code"), Json(1));
    }

    void half_a_line_at_death_is_no_event() {
        Supervised run("half_line");
        QCOMPARE(run.wait(), 1);
        QCOMPARE(run.count("steps"), 1L);
        QVERIFY(run.file("log.txt").find("\"step\":11") != std::string::npos);
    }

    void a_crash_is_followed_by_a_restart_that_supersedes() {
        Supervised run("crash_once");
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("hello"), 2L);
        QCOMPARE(run.last("hello").at("run"), Json(2));
        QCOMPARE(run.count("superseded"), 1L);
        QCOMPARE(run.last("superseded").at("from_step"), Json(100));
        std::vector<std::string> order;
        for (const auto& event : run.events)
            if (protocol::is_event(event, "steps") || protocol::is_event(event, "superseded"))
                order.push_back(event.at("type"));
        QCOMPARE(order, (std::vector<std::string>{"steps", "superseded", "steps"}));
    }

    void another_supervisor_supersedes_too() {
        Supervised run("half_line"); // ends with step 10
        QCOMPARE(run.wait(), 1);
        run.start("noise"); // begins with step 1
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.last("superseded").at("from_step"), Json(0));
        QCOMPARE(run.last("hello").at("run"), Json(2));
    }

    void a_worker_that_always_crashes_is_given_up() {
        Supervised run("crash_always", 60s, on_cpu);
        QCOMPARE(run.wait(), 1);
        QCOMPARE(run.count("hello"), 3L);
        QCOMPARE(run.count("fallback"), 0L);
        QVERIFY(run.last("error").at("text").get<std::string>().find("signal 6") != std::string::npos);
    }

    void device_faults_lead_to_safe_mode_then_to_the_cpu() {
        Supervised run("device_fault");
        std::ofstream(run.run / "config.json") << R"({"backend":"cuda","toggles":{"fused":true}})";
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("fallback"), 2L);
        const auto config = Json::parse(run.file("config.json"));
        QCOMPARE(config.at("backend"), Json("cpu"));
        QCOMPARE(config.at("toggles").at("safe_mode"), Json(true));
        QCOMPARE(config.at("toggles").at("fused"), Json(true));
    }

    /// Users may edit both files, to anything.
    void a_fall_back_survives_whatever_is_in_the_files() {
        Supervised run("device_fault");
        std::ofstream(run.run / "config.json") << R"({"backend":7,"toggles":"none"})";
        std::ofstream(run.run / "passport.json") << R"({"fallbacks":{"none":true}})";
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("fallback"), 2L);
        QCOMPARE(Json::parse(run.file("passport.json")).at("fallbacks").size(), std::size_t{2});

        Supervised strange("strange_change");
        std::ofstream(strange.run / "config.json") << "{}";
        QCOMPARE(strange.wait(), 0);
        QCOMPARE(strange.count("warning"), 1L);
    }

    void an_undo_brings_back_what_was_asked_for() {
        Supervised run("device_fault");
        const auto asked = R"({"backend":"auto","toggles":{"fused":true,"safe_mode":false}})";
        std::ofstream(run.run / "config.json") << asked;
        QCOMPARE(run.wait(), 0);
        auto config = Json::parse(run.file("config.json"));
        for (auto event = run.events.rbegin(); event != run.events.rend(); ++event)
            if (protocol::is_event(*event, "fallback"))
                config.merge_patch(event->at("undo"));
        QCOMPARE(config, Json::parse(asked));
    }

    /// A driver that crashes wherever it is touched: the processor is left.
    void a_worker_that_always_crashes_on_a_device_goes_down_the_ladder() {
        Supervised run("crash_off_the_cpu", 60s, [](const std::filesystem::path& folder) {
            std::ofstream(folder / "config.json") << R"({"backend":"auto"})";
        });
        QCOMPARE(run.wait(), 0);
        std::vector<std::string> rungs;
        for (const auto& event : run.events)
            if (protocol::is_event(event, "fallback"))
                rungs.push_back(event.at("rung"));
        QCOMPARE(rungs, (std::vector<std::string>{"safe_mode", "cpu"}));
        const auto reason = protocol::text_at(run.last("fallback"), "reason");
        QVERIFY2(reason.find("signal 6") != std::string::npos, reason.c_str());
        QCOMPARE(run.count("hello"), 7L); // three times each
    }

    void a_hung_worker_is_warned_about_and_replaced() {
        Supervised run("hang_once", 1s);
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("hello"), 2L);
        const bool warned = std::any_of(run.events.begin(), run.events.end(), [](const Json& event) {
            return protocol::text_at(event, "text").starts_with("No progress");
        });
        QVERIFY(warned);
    }

    void a_worker_of_another_version_is_refused() {
        Supervised run("wrong_version");
        QCOMPARE(run.wait(), 2);
        QVERIFY(run.last("bye").at("reason").get<std::string>().find("\"2.0\"") != std::string::npos);
    }

    void commands_reach_the_worker() {
        Supervised run("endless_steps");
        QVERIFY(run.wait_for("steps"));
        run.supervisor->command("pause");
        QVERIFY(run.wait_for("warning"));
        QCOMPARE(run.last("warning").at("text"), Json("heard pause"));
        QVERIFY_EXCEPTION_THROWN(run.supervisor->command("dance"), ConfigError);
        run.supervisor->command("stop");
        QCOMPARE(run.wait(), 6);
        QCOMPARE(run.last("bye").at("code"), Json(6));
    }

    void stopping_climbs_until_the_worker_is_gone_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("slow, but in time") << "slow_stop";
        QTest::newRow("leaves at the end of its input") << "deaf_to_stop";
        QTest::newRow("must be killed") << "deaf";
    }
    void stopping_climbs_until_the_worker_is_gone() {
        QFETCH(QString, mode);
        Supervised run(mode.toLatin1().constData());
        QVERIFY(run.wait_for("phase"));
        run.supervisor->command("stop");
        QCOMPARE(run.wait(), 6);
        QCOMPARE(run.last("bye").at("code"), Json(6));
    }

    /// A driver that never comes to an end holds up no run whose worker has said how it went.
    void a_worker_that_stays_after_its_last_word_is_ended() {
        Supervised run("bye_and_stay");
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("hello"), 1L);
        QCOMPARE(run.count("fallback"), 0L);
    }

    /// Deep in a call of a driver no signal is heeded: nobody waits for what cannot be ended.
    void a_worker_that_outlives_sigkill_holds_up_no_run_data() {
        QTest::addColumn<bool>("stopped");
        QTest::newRow("it is stopped") << true;
        QTest::newRow("it hangs") << false;
    }
    void a_worker_that_outlives_sigkill_holds_up_no_run() {
        QFETCH(bool, stopped);
        Supervised run("unkillable", stopped ? 60s : 1s, [](const std::filesystem::path& folder) {
            std::ofstream(folder / "config.json") << R"({"backend":"cuda"})";
            std::ofstream(folder / "hold") << "yes";
        });
        QVERIFY(run.wait_for("steps"));
        QTRY_VERIFY_WITH_TIMEOUT(!run.file("how").empty(), patient);
        if (run.file("how") == "cannot be held")
            QSKIP("This system lets no process trace another.");
        if (stopped) {
            run.supervisor->command("stop");
            QCOMPARE(run.wait(), 6);
        } else {
            QTRY_COMPARE_WITH_TIMEOUT(run.count("hello"), 2L, patient);
            QCOMPARE(run.last("fallback").at("rung"), Json("safe_mode"));
        }
        QVERIFY(run.file("log.txt").find("was killed and is not gone") != std::string::npos);
        std::filesystem::remove(run.run / "hold");
    }

    /// What the user has asked for last is what the next worker does.
    void a_pause_outlives_the_worker_that_was_to_pause() {
        Supervised run("dies_before_the_pause");
        run.supervisor->command("pause");
        QVERIFY(QTest::qWaitFor([&] { return protocol::text_at(run.last("phase"), "phase") == "paused"; }, patient));
        QCOMPARE(run.count("hello"), 2L);
        run.supervisor->command("stop");
        QCOMPARE(run.wait(), 6);
    }
    void a_pause_that_has_ended_does_not_come_back_with_the_next_worker() {
        Supervised run("dies_after_the_pause");
        run.supervisor->command("pause");
        QVERIFY(QTest::qWaitFor([&] { return protocol::text_at(run.last("phase"), "phase") == "paused"; }, patient));
        run.supervisor->command("resume");
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.count("hello"), 2L);
    }

    void a_run_whose_folder_is_removed_ends() {
        Supervised run("endless_steps");
        QVERIFY(run.wait_for("steps"));
        std::filesystem::remove_all(run.run);
        QCOMPARE(run.wait(), 1);
        const auto reason = run.last("bye").at("reason").get<std::string>();
        QVERIFY2(reason.ends_with("was removed or renamed while the run trained."), reason.c_str());
        QVERIFY(!std::filesystem::exists(run.run));
    }

    void a_stop_that_fails_says_why() {
        Supervised run("cannot_save");
        QVERIFY(run.wait_for("phase"));
        run.supervisor->command("stop");
        QCOMPARE(run.wait(), 6);
        QCOMPARE(run.last("phase").at("phase"), Json("stopped"));
        QCOMPARE(run.last("bye").at("reason"), Json("Stopped by the user, but the worker failed: The disk is full."));
    }

    /// It took so long that the end of its input came, too: the user's stop is what it was.
    void a_stop_that_is_heard_late_is_a_stop() {
        Supervised run("interrupted_by_the_end_of_input");
        QVERIFY(run.wait_for("phase"));
        run.supervisor->command("stop");
        QCOMPARE(run.wait(), 6);
        QCOMPARE(run.count("phase"), 2L); // training, stopped
        QCOMPARE(run.last("phase").at("phase"), Json("stopped"));
        QCOMPARE(run.last("bye").at("reason"), Json("Stopped by the user."));
    }

    void stopping_at_once_does_not_wait() {
        Supervised run("deaf");
        QVERIFY(run.wait_for("phase"));
        run.supervisor->command("stop");
        run.supervisor->stop_at_once();
        QCOMPARE(run.wait(), 6);
        QCOMPARE(run.last("phase").at("phase"), Json("stopped"));
    }

    void leaving_makes_the_run_interrupted() {
        Supervised run("endless_steps");
        QVERIFY(run.wait_for("steps"));
        run.supervisor->leave();
        QCOMPARE(run.wait(), 1);
        QCOMPARE(run.last("phase").at("phase"), Json("interrupted"));
        QCOMPARE(run.count("bye"), 0L);
    }

    void a_run_that_has_finished_at_a_log_off_is_not_interrupted() {
        Supervised run("finished_by_the_end_of_input");
        QVERIFY(run.wait_for("phase"));
        run.supervisor->leave();
        QCOMPARE(run.wait(), 0);
        QCOMPARE(run.last("phase").at("phase"), Json("finished"));
        QCOMPARE(run.last("bye").at("code"), Json(0));
    }

    void a_second_supervisor_is_locked_out() {
        Supervised run("endless_steps");
        const auto again = [&] { const Supervisor second(run.run, Supervisor::default_settings(run.run), {}); };
        try {
            again();
            QFAIL("two supervisors own one run");
        } catch (const ConfigError& error) {
            const QString owner = "process " + QString::number(QCoreApplication::applicationPid());
            QVERIFY2(QString(error.what()).contains(owner), error.what());
        }
        QVERIFY(is_supervised(run.run));
    }

    void the_socket_takes_commands_and_tells_of_growth() {
        Supervised run("endless_steps");
        const auto link = RunLink::read(run.run);
        QVERIFY(link.has_value());
        QLocalSocket socket;
        std::vector<Json> heard;
        protocol::LineReader reader([&](Json message) { heard.push_back(std::move(message)); });
        QObject::connect(&socket, &QLocalSocket::readyRead, this, [&] { reader.feed(socket.readAll().toStdString()); });
        const auto hears = [&](const char* key) {
            return QTest::qWaitFor(
                [&] {
                    return std::any_of(heard.begin(), heard.end(), [&](const Json& one) { return one.contains(key); });
                },
                patient);
        };
        socket.connectToServer(QString::fromStdString(link->socket));
        QVERIFY(hears("supervisor"));
        QVERIFY(hears("grown"));
        socket.write("{\"command\":\"dance\"}\n");
        QVERIFY(hears("refused"));
        socket.write("rubbish\n{\"command\":\"stop\"}\n");
        QVERIFY(hears("taken"));
        QCOMPARE(run.wait(), 6);
        run.supervisor.reset();
        QTRY_COMPARE_WITH_TIMEOUT(socket.state(), QLocalSocket::UnconnectedState, patient);
        QVERIFY(!is_supervised(run.run));
    }
};

QTEST_GUILESS_MAIN(TestSupervisor)
#include "tst_supervisor.moc"
