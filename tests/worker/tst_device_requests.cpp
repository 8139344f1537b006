// SPDX-License-Identifier: Apache-2.0
// The real espalier-train with a plug-in that pretends to be the GPU engine: whatever a driver does, serve stays.
#include "installed.h"
#include "schema_check.h"
#include "serve_runs.h"

#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest>

using namespace espalier;
using espalier::test::Installed;

namespace {

// Of patience with a probe. The second try, without the GPU, has to come to its end in the same time.
constexpr const char* usual = "60";
constexpr const char* soon = "10";

Json device_of(const Json& answer, const char* backend, std::size_t number = 0) {
    for (const auto& device : answer.value("devices", Json::array()))
        if (protocol::text_at(device, "backend") == backend && number-- == 0)
            return device;
    return nullptr;
}

std::string error_of(const Json& answer) { return protocol::text_at(answer.value("error", Json::object()), "text"); }
int code_of(const Json& answer) { return answer.value("error", Json::object()).value("code", 0); }

/// One of the process's children; 0 where it has none, or the system does not say.
qint64 child_of(qint64 process) {
    const QString tasks = QString("/proc/%1/task").arg(process);
    for (const auto& task : QDir(tasks).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile list(tasks + "/" + task + "/children");
        if (list.open(QIODevice::ReadOnly))
            if (const auto ids = list.readAll().simplified().split(' '); !ids.value(0).isEmpty())
                return ids.value(0).toLongLong();
    }
    return 0;
}

/// What the program prints, beside a pretended engine in that mode; the errors where it fails.
QByteArray in_terminal(const Installed& installed, const char* mode, const QStringList& arguments) {
    QProcess process;
    process.setProcessEnvironment(installed.environment(mode));
    process.start(installed.program(), arguments);
    if (!process.waitForFinished(patient))
        process.kill();
    process.waitForFinished();
    return process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0 ? process.readAllStandardOutput()
                                                                                   : process.readAllStandardError();
}

/// A plan that a GPU may be asked for.
Json wish(const char* backend = "auto") {
    auto config = tiny_config(2);
    config["backend"] = backend;
    return {{"config", config}};
}

} // namespace

class TestDeviceRequests : public QObject {
    Q_OBJECT

    QTemporaryDir runs_;

private Q_SLOTS:
    void every_card_is_told_once_and_serve_opens_none() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("cards"));
        const auto answer = serve.get("probe");
        QCOMPARE(QString::fromStdString(SchemaCheck(ESPALIER_SCHEMA).fault(answer, "answer.probe")), QString());
        const auto first = device_of(answer, "cuda"), second = device_of(answer, "cuda", 1);
        QCOMPARE(first.value("uuid", ""), "GPU-11111111-1111");
        QCOMPARE(first.value("driver", ""), "580.95.05");
        QCOMPARE(first.value("library", ""), "cuDNN 9.19.0");
        QCOMPARE(first.value("compute_capability", ""), "9.0");
        QVERIFY(first.value("usable", false));
        QCOMPARE(second.value("reason", ""), "Pretended 2 is too old.");
        QVERIFY(!second.value("usable", true));

        const auto asked = installed.asked();
        QVERIFY(!asked.isEmpty());
        QVERIFY(serve.get("probe") == answer);
        QCOMPARE(installed.asked(), asked); // the answer was kept

        QVERIFY(serve.get("plan", wish("cuda")).contains("parameters"));
        QFile maps(QString("/proc/%1/maps").arg(serve.process().processId()));
        QVERIFY(maps.open(QIODevice::ReadOnly));
        const auto mapped = maps.readAll();
        QVERIFY(mapped.contains("espalier-train"));
        QVERIFY(!mapped.contains("libespalier-cuda") && !mapped.contains("libcuda.so"));
    }

    void a_driver_that_dies_or_hangs_leaves_the_processor_data() {
        QTest::addColumn<QString>("mode");
        QTest::addColumn<QString>("seconds"); // enough for a busy machine, but where the end is waited for
        QTest::addColumn<QString>("said");
        QTest::newRow("dies") << "crash" << usual << "ended unexpectedly (signal 11";
        QTest::newRow("fails") << "throw" << usual << "The pretended driver failed.";
        QTest::newRow("hangs") << "hang" << soon << "did not answer within";
    }
    void a_driver_that_dies_or_hangs_leaves_the_processor() {
        QFETCH(QString, mode);
        QFETCH(QString, seconds);
        QFETCH(QString, said);
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {"--probe-seconds", seconds},
                           installed.environment(mode.toLatin1().constData()));
        const auto answer = serve.get("probe");
        QVERIFY(device_of(answer, "cpu").value("usable", false));
        const auto gpu = device_of(answer, "cuda");
        QVERIFY(!gpu.value("usable", true));
        QVERIFY2(QString::fromStdString(gpu.value("reason", "")).contains(said), gpu.dump().c_str());
        QVERIFY(serve.get("plan", wish("cpu")).contains("parameters"));
    }

    void in_a_terminal_too_data() {
        QTest::addColumn<QByteArray>("mode");
        for (const char* mode : {"crash at open", "crash", "throw"})
            QTest::newRow(mode) << QByteArray(mode);
    }
    void in_a_terminal_too() {
        QFETCH(QByteArray, mode);
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        const auto probe = in_terminal(installed, mode, {"probe"});
        QVERIFY2(probe.contains("\ncpu: ") && probe.startsWith("cuda: NVIDIA GPU, not usable: "), probe);
        QVERIFY(in_terminal(installed, mode, {"probe", "--json"}).startsWith("{\"devices\":"));
    }

    void a_plan_in_a_terminal_that_dies_is_an_error() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        for (const char* mode : {"crash", "crash later"}) {
            const auto said = in_terminal(installed, mode, {"plan", "--preset", "quick"});
            QVERIFY2(
                said.startsWith("espalier-train: The process that asks the devices ended unexpectedly (signal 11") &&
                    said.contains("Choose the cpu backend"),
                said);
        }
    }

    /// What is asked of the processor is no matter of an engine that cannot even be opened.
    void an_engine_that_crashes_when_it_is_opened_is_opened_for_itself_alone() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        const QStringList tiny{"--preset", "quick",      "--data", "synthetic:1x16x16,2,64",
                               "--set",    "batch=16",   "--set",  "epochs=1",
                               "--set",    "backend=cpu"};
        const auto plan = in_terminal(installed, "crash at open", QStringList{"plan", "--json"} + tiny);
        QVERIFY2(plan.contains("\"fits\":true"), plan);
        const auto run =
            in_terminal(installed, "crash at open", QStringList{"run", "--json", "--runs", runs_.path()} + tiny);
        QVERIFY2(run.contains("\"phase\":\"finished\"") && !run.contains("\"type\":\"warning\""), run);
    }

    void a_driver_that_outlives_sigkill_holds_up_no_answer() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        QVERIFY(QFile(installed.hold()).open(QIODevice::WriteOnly));
        ServeProcess serve(runs_.path(), installed.program(), {"--probe-seconds", soon},
                           installed.environment("unkillable"));
        const auto answer = serve.get("probe");
        if (installed.asked().contains("cannot be held"))
            QSKIP("This system lets no process trace another.");
        QVERIFY(installed.asked().contains("held"));
        QVERIFY(device_of(answer, "cpu").value("usable", false));
        const auto reason = QString::fromStdString(device_of(answer, "cuda").value("reason", ""));
        QVERIFY2(reason.contains("did not answer within"), qPrintable(reason));
        QVERIFY(QFile::remove(installed.hold()));
    }

    void a_plan_that_dies_is_an_error() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("crash later"));
        QVERIFY(device_of(serve.get("probe"), "cuda").value("usable", false));
        const auto answer = serve.get("plan", wish());
        QCOMPARE(code_of(answer), 4);
        const auto text = QString::fromStdString(error_of(answer));
        QVERIFY2(text.contains("ended unexpectedly (signal 11") && text.contains("install the GPU's driver"),
                 qPrintable(text));
        QVERIFY(serve.get("plan", wish("cpu")).contains("parameters"));
    }

    /// As the system does it when memory runs out.
    void an_evaluation_that_is_killed_says_what_to_do() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("cards"));
        auto config = tiny_config(1);
        config["backend"] = "cpu";
        const auto path = serve.get("start", {{"config", config}}).value("path", std::string());
        QVERIFY(QTest::qWaitFor([&] { return state_of(path) == "finished"; }, patient));
        const auto id = serve.ask("confusion", {{"checkpoint", path + "/checkpoints/last.safetensors"},
                                                {"data", "synthetic:1x16x16,2,2000000"},
                                                {"part", "train"},
                                                {"backend", "cpu"}});
        QTRY_VERIFY_WITH_TIMEOUT(!serve.progress_of(id).empty(), ServeProcess::patient);
        const auto child = child_of(serve.process().processId());
        if (child == 0)
            QSKIP("This system does not tell a process's children.");
        ::kill(static_cast<pid_t>(child), SIGKILL);
        const auto answer = serve.answer(id);
        QCOMPARE(code_of(answer), 4);
        QCOMPARE(error_of(answer),
                 std::string("The process that answered \"confusion\" ended unexpectedly (signal 9). If "
                             "memory ran out, close other programs or choose a smaller set; if the "
                             "GPU's driver failed, choose the cpu backend."));
    }

    /// The system leaves no room for the pipes to a child.
    void a_child_that_cannot_start_is_an_error() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("cards"));
        QVERIFY(serve.get("plan", wish("cpu")).contains("parameters")); // serve has opened all that it needs
        auto refused = wish("cpu")["config"];
        refused["epochs"] = 0;
        QCOMPARE(code_of(serve.get("start", {{"config", refused}})), 2); // but its child is let go
        const auto pid = static_cast<pid_t>(serve.process().processId());
        rlim_t open = 0; // of its files, without a gap
        while (QFileInfo(QString("/proc/%1/fd/%2").arg(pid).arg(open)).isSymLink())
            ++open;
        rlimit before{};
        QCOMPARE(prlimit(pid, RLIMIT_NOFILE, nullptr, &before), 0);
        const rlimit hardly_any{open + 2, before.rlim_max};
        QCOMPARE(prlimit(pid, RLIMIT_NOFILE, &hardly_any, nullptr), 0);
        const auto text = QString::fromStdString(error_of(serve.get("plan", wish("cpu"))));
        QVERIFY2(text.contains("cannot start itself"), qPrintable(text));
        QCOMPARE(prlimit(pid, RLIMIT_NOFILE, &before, nullptr), 0);
        QVERIFY(serve.get("plan", wish("cpu")).contains("parameters"));
    }

    void a_plan_that_hangs_can_be_cancelled() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("hang later"));
        const auto plan = serve.ask("plan", wish());
        QTRY_VERIFY_WITH_TIMEOUT(installed.asked().contains("made"), ServeProcess::patient); // the child is at work
        (void)serve.get("cancel", {{"target", plan}});
        QCOMPARE(code_of(serve.answer(plan)), 6);
        QVERIFY(serve.get("probe").contains("devices"));
    }

    /// What a driver costs to open is paid once for many edits of a form, and given back when a run wants the device.
    void a_child_is_kept_until_a_run_starts() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("cards"));
        for (int edit = 0; edit < 3; ++edit)
            QVERIFY(serve.get("plan", wish("cuda")).contains("parameters"));
        const auto processes = installed.processes();
        QVERIFY(processes.size() >= 3);
        for (const auto process : processes)
            QCOMPARE(process, processes.front());
        auto config = wish("cuda")["config"];
        config["epochs"] = 0; // refused, but only after the device was given back
        QCOMPARE(code_of(serve.get("start", {{"config", config}})), 2);
        QVERIFY(gone(processes.front()));
        QVERIFY(serve.get("plan", wish("cuda")).contains("parameters"));
        QVERIFY(installed.processes().back() != processes.front());
    }

    /// Another card that is tried gives up memory for it.
    void a_bench_asks_for_the_card_that_is_named() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        const auto said =
            in_terminal(installed, "cards", {"bench", "conv", "no such case", "--backend", "cuda:GPU-11111111-1111"});
        QVERIFY2(said.contains("No case has"), said);
        QCOMPARE(installed.asked(), QByteArray("asked for GPU-11111111-1111\n"));
    }

    void a_card_is_chosen_by_name() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("cards"));
        QVERIFY(serve.get("plan", wish("cuda:GPU-11111111-1111")).contains("parameters"));
        QVERIFY(installed.asked().contains("made for GPU-11111111-1111\n"));
        QCOMPARE(code_of(serve.get("plan", wish("cpu:1"))), 2);
        QCOMPARE(code_of(serve.get("plan", wish("cuda:"))), 2);
        QCOMPARE(code_of(serve.get("plan", wish("auto:0"))), 2);
    }

    void no_child_outlives_serve() {
        const Installed installed(ESPALIER_TRAIN, FAKE_PLUGIN);
        qint64 child = 0;
        {
            ServeProcess serve(runs_.path(), installed.program(), {}, installed.environment("hang later"));
            serve.ask("plan", wish());
            QTRY_VERIFY_WITH_TIMEOUT(installed.asked().contains("made"), ServeProcess::patient);
            child = child_of(serve.process().processId());
            if (child == 0)
                QSKIP("This system does not tell a process's children.");
            serve.process().kill(); // not even time to say farewell
            serve.process().waitForFinished();
        }
        QVERIFY(gone(static_cast<pid_t>(child)));
    }
};

QTEST_GUILESS_MAIN(TestDeviceRequests)
#include "tst_device_requests.moc"
