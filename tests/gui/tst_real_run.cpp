// SPDX-License-Identifier: GPL-3.0-or-later
// The window over the real engine: click the demo, watch it learn, pause it, resume it, stop it, and find its files;
// and a run outlives its window, however that ends.
#include "plot_group.h"
#include "real_runs.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QDirIterator>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <algorithm>
#include <csignal>
#include <map>
#include <string_view>

using namespace espalier;
using namespace espalier::test;

namespace {

WindowDriver open_window() { return WindowDriver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")}); }

/// The demo, with so many epochs that it does not end by itself.
bool start_by_click(WindowDriver& driver) {
    if (!driver.click(QStringLiteral("preset-quick"), 20000))
        return false;
    auto* epochs = driver.find<QLineEdit>(QStringLiteral("field-epochs"));
    epochs->selectAll();
    QTest::keyClicks(epochs, QStringLiteral("500"));
    return driver.click(QStringLiteral("start"), 20000) && driver.wait_for_step(10, 60000);
}

bool choose_only_run(WindowDriver& driver) {
    auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
    if (!QTest::qWaitFor([&] { return list->count() == 1; }, 20000))
        return false;
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
    return driver.wait_for_state(RunState::running, 20000);
}

bool goes_on_without_a_window(std::int64_t left_at) {
    return QTest::qWaitFor([&] { return RealRuns::state() == "running" && RealRuns::step() > left_at; }, 60000);
}

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

qint64 supervisor_of(const QString& run) {
    const Json link = Json::parse(read(run + QStringLiteral("/supervisor.json")).toStdString(), nullptr, false);
    return static_cast<qint64>(protocol::number_at(link, "pid"));
}

qint64 worker_of(const QString& run) {
    qint64 pid = 0;
    for (const QByteArray& line : read(run + QStringLiteral("/events.jsonl")).split('\n'))
        if (const auto event = protocol::parse_line(line.toStdString()); event && protocol::is_event(*event, "hello"))
            pid = static_cast<qint64>(protocol::number_at(*event, "pid"));
    return pid;
}

/// The engine that a window has started.
qint64 serve_of(qint64 window) {
    QProcess children;
    children.start(QStringLiteral("pgrep"), {QStringLiteral("-P"), QString::number(window)});
    return children.waitForFinished() ? children.readAllStandardOutput().trimmed().toLongLong() : 0;
}

/// What a lock looks like that another life of this machine has left: number and name of its process mean nothing now.
void reboot(const QString& run, qint64 reused_number) {
    const QString path = run + QStringLiteral("/supervisor.lock");
    QList<QByteArray> lines = read(path).split('\n'); // process, program, host, host's id, id of the boot (QLockFile)
    QVERIFY(lines.size() >= 5 && lines[1] == "espalier-train" && lines[4] == QSysInfo::bootUniqueId());
    lines[0] = QByteArray::number(reused_number);
    lines[4] = "01234567-89ab-cdef-0123-456789abcdef";
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(lines.join('\n'));
}

/// A new window finds the run by itself, shows its past and what comes, and Stop ends it.
bool is_found_again_and_stopped(std::int64_t left_at) {
    WindowDriver again = open_window();
    if (!choose_only_run(again) || !again.wait_for_step(left_at + 10, 60000))
        return false;
    const std::int64_t then = again.run()->step();
    const bool whole = static_cast<std::int64_t>(again.run()->loss.raw.size()) == then;
    return whole && again.wait_for_step(then + 10, 60000) && again.click(QStringLiteral("stop"), 20000) &&
           again.wait_for_state(RunState::stopped, 60000) &&
           QTest::qWaitFor([] { return RealRuns::state() == "stopped"; }, 10000);
}

} // namespace

class TestRealRun : public WatchedTest {
    Q_OBJECT

private slots:
    void an_empty_list_says_what_will_stand_there() {
        const RealRuns runs;
        WindowDriver driver = open_window();
        auto* hint = driver.find<QLabel>(QStringLiteral("noRuns"));
        QTRY_VERIFY_WITH_TIMEOUT(hint->isVisible() && !hint->text().isEmpty(), 20000);
    }

    void a_start_without_its_data_is_told_and_leaves_no_run() {
        const RealRuns runs;
        WindowDriver driver = open_window();
        QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
        auto* data = driver.find<QComboBox>(QStringLiteral("field-data"))->lineEdit();
        data->selectAll();
        QTest::keyClicks(data, QStringLiteral("folder:/nowhere"));
        QVERIFY(driver.click(QStringLiteral("start"), 20000));
        auto* start = driver.find<QAbstractButton>(QStringLiteral("start"));
        QTRY_VERIFY_WITH_TIMEOUT(start->toolTip().contains(QStringLiteral("There is no folder '/nowhere'. Check")),
                                 20000);
        QTRY_VERIFY_WITH_TIMEOUT(!start->isEnabled(), 20000); // as soon as the fit check says so, too
        QVERIFY(start->isVisible());                          // the form stays
        QCOMPARE(driver.find<QListWidget>(QStringLiteral("runList"))->count(), 0);
        QCOMPARE(RealRuns::list(), Json::array());
    }

    void a_run_from_click_to_files() {
        const RealRuns runs;
        QString path;
        {
            WindowDriver driver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
            QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
            QVERIFY(driver.click(QStringLiteral("start"), 20000));
            QVERIFY(driver.wait_for_state(RunState::running, 60000));
            QVERIFY(driver.wait_for_step(20, 60000));
            path = driver.run()->path();
            QVERIFY(driver.run()->plan() && driver.run()->plan()->parameters > 0);
            QVERIFY(driver.run()->last_step() > 20);
            QTRY_VERIFY_WITH_TIMEOUT(!driver.run()->memory[3].empty(), 20000);

            QVERIFY(driver.click(QStringLiteral("pause"), 20000));
            QVERIFY(driver.wait_for_state(RunState::paused, 30000));
            QVERIFY(driver.run()->checkpoint().has_value()); // a pause writes one
            const std::int64_t stood = driver.run()->step();
            QVERIFY(driver.click(QStringLiteral("band-resume"), 20000));
            QVERIFY(driver.wait_for_step(stood + 10, 60000));
            QVERIFY(driver.run()->loss.raw.size() >= static_cast<std::size_t>(stood)); // one curve, not two
            QCOMPARE(static_cast<std::int64_t>(driver.run()->loss.raw.size()), driver.run()->step());

            QVERIFY(driver.click(QStringLiteral("stop"), 20000));
            QVERIFY(driver.wait_for_state(RunState::stopped, 60000));
        }
        for (const char* file : {"config.json", "events.jsonl", "metrics.csv", "log.txt", "passport.json"})
            QVERIFY2(QFile::exists(path + QLatin1Char('/') + QLatin1String(file)), file);
        QVERIFY(QDirIterator(path + QStringLiteral("/checkpoints"), {QStringLiteral("*.safetensors")}, QDir::Files)
                    .hasNext());

        // a new window finds it, with its curve
        WindowDriver again(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
        auto* list = again.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 1, 20000);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(again.wait_for_state(RunState::stopped, 20000));
        QVERIFY(again.run()->step() > 20);
        QCOMPARE(again.run()->path(), path);

        // back to the checkpoint of the pause, and on from there: one curve still
        const std::int64_t stopped_at = again.run()->step();
        again.find<QAction>(QStringLiteral("run-resume_from"))->trigger();
        QTRY_VERIFY(again.find<QInputDialog>(QStringLiteral("resumeFrom")));
        auto* dialog = again.find<QInputDialog>(QStringLiteral("resumeFrom"));
        QVERIFY(dialog->comboBoxItems().size() >= 2);
        dialog->setTextValue(dialog->comboBoxItems().at(1));
        dialog->accept();
        QVERIFY(again.wait_for_state(RunState::running, 60000));
        QVERIFY(QFile::exists(path + QStringLiteral("/checkpoints/superseded"))); // it did go back
        QVERIFY(again.wait_for_step(stopped_at, 60000));
        QCOMPARE(static_cast<std::int64_t>(again.run()->loss.raw.size()), again.run()->step());
        QVERIFY(again.click(QStringLiteral("stop"), 20000));
        QVERIFY(again.wait_for_state(RunState::stopped, 60000));
    }

    void a_run_goes_on_when_its_window_is_closed() {
        const RealRuns runs;
        std::int64_t left_at = 0;
        {
            WindowDriver driver = open_window();
            QVERIFY(start_by_click(driver));
            left_at = driver.run()->step();
            QVERIFY(!driver.window->close()); // it asks
            QVERIFY(driver.click(QStringLiteral("keepTraining")));
            QTRY_VERIFY(!driver.window->isVisible());
        }
        QVERIFY(goes_on_without_a_window(left_at));
        QVERIFY(is_found_again_and_stopped(left_at));
    }

    void a_run_goes_on_when_its_window_is_killed() {
        const RealRuns runs;
        QProcess window; // this program, as a window that starts a run by click
        window.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--as-window")});
        QVERIFY(QTest::qWaitFor([&] { return window.canReadLine(); }, 60000));
        const std::int64_t left_at = window.readLine().trimmed().toLongLong();
        QVERIFY(left_at > 0);
        window.kill(); // SIGKILL
        QTRY_COMPARE(window.state(), QProcess::NotRunning);
        QCOMPARE(window.exitStatus(), QProcess::CrashExit);
        QVERIFY(goes_on_without_a_window(left_at));
        QVERIFY(is_found_again_and_stopped(left_at));
    }

    /// All of them die, in any order, and the machine starts anew: no state is told that is not true any more.
    void after_deaths_and_a_reboot_it_is_interrupted_data() {
        QTest::addColumn<QStringList>("order");
        for (const char* order : {"window serve supervisor worker", "worker supervisor serve window",
                                  "supervisor window worker serve", "serve worker window supervisor"})
            QTest::newRow(order) << QString::fromLatin1(order).split(QLatin1Char(' '));
    }
    void after_deaths_and_a_reboot_it_is_interrupted() {
        QFETCH(QStringList, order);
        const RealRuns runs;
        QProcess window;
        window.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--as-window")});
        QVERIFY(QTest::qWaitFor([&] { return window.canReadLine(); }, 60000));
        const QString path = QString::fromStdString(protocol::text_at(RealRuns::list().at(0), "path"));
        const std::map<QString, qint64> processes{{QStringLiteral("window"), window.processId()},
                                                  {QStringLiteral("serve"), serve_of(window.processId())},
                                                  {QStringLiteral("supervisor"), supervisor_of(path)},
                                                  {QStringLiteral("worker"), worker_of(path)}};
        for (const QString& who : order) {
            QVERIFY2(processes.at(who) > 0, qPrintable(who));
            ::kill(static_cast<pid_t>(processes.at(who)), SIGKILL);
        }
        QTRY_COMPARE(window.state(), QProcess::NotRunning);
        QTRY_COMPARE_WITH_TIMEOUT(RealRuns::state(), std::string("interrupted"), 20000);
        QProcess other; // has the number of the dead supervisor now, and is a program of the same name
        other.start(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
        QVERIFY(other.waitForStarted());
        reboot(path, other.processId());
        QCOMPARE(RealRuns::state(), std::string("interrupted"));

        WindowDriver again = open_window();
        auto* list = again.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 1, 20000);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(again.wait_for_state(RunState::interrupted, 20000));
        QVERIFY(!again.find(QStringLiteral("stop"))->isVisible());
        const std::int64_t stood = again.run()->step();
        QVERIFY(again.click(QStringLiteral("band-resume"), 20000));
        QVERIFY(again.wait_for_state(RunState::running, 60000));
        QVERIFY(again.wait_for_step(stood + 10, 60000));
        QVERIFY(again.click(QStringLiteral("stop"), 20000));
        QVERIFY(again.wait_for_state(RunState::stopped, 60000));
        other.closeWriteChannel();
        QVERIFY(other.waitForFinished());
    }

    void stop_ends_a_run_at_every_stage_data() {
        QTest::addColumn<QString>("stage");
        for (const char* stage : {"preparing", "first epoch", "evaluating", "checkpoint", "paused"})
            QTest::newRow(stage) << QString::fromLatin1(stage);
    }
    void stop_ends_a_run_at_every_stage() {
        QFETCH(QString, stage);
        const RealRuns runs;
        WindowDriver driver = open_window();
        // enough images that the stages last: their statistics before the first step, a fourth more for the evaluation
        Json config{{"preset", "quick"}, {"data", "synthetic:3x32x32,10,20000"}, {"epochs", 50}};
        if (stage == u"evaluating")
            config["data"] = "synthetic:1x28x28,10,8000";
        QTRY_VERIFY_WITH_TIMEOUT(driver.window->machine()->is_connected(), 20000);
        driver.window->runs()->start(config, {});
        const auto reached = [&] {
            const RunModel* run = driver.run();
            if (!run || driver.window->runs()->is_loading(run->path()))
                return false;
            return stage == u"preparing"    ? run->state() == RunState::preparing
                   : stage == u"evaluating" ? run->is_evaluating()
                                            : run->step() > 2 && run->epoch() < 1;
        };
        QVERIFY(QTest::qWaitFor(reached, 60000));
        if (stage == u"checkpoint")
            QVERIFY(driver.click(QStringLiteral("checkpoint")));
        if (stage == u"paused") {
            QVERIFY(driver.click(QStringLiteral("pause")));
            QVERIFY(driver.wait_for_state(RunState::paused, 30000));
        }
        QVERIFY(driver.click(QStringLiteral("stop"), 20000));
        QVERIFY(driver.wait_for_state(RunState::stopped, 60000));
        QTRY_COMPARE(RealRuns::state(), std::string("stopped"));
        if (stage != u"preparing") { // there is something to keep
            QVERIFY(driver.run()->checkpoint().has_value());
            QCOMPARE(driver.run()->checkpoint()->step, driver.run()->step());
            QVERIFY(QFile::exists(driver.run()->path() + QStringLiteral("/checkpoints/last.safetensors")));
        }
    }

    void a_queue_goes_on_without_its_window() {
        const RealRuns runs;
        const auto in_state = [](const char* state) {
            const Json list = RealRuns::list();
            return std::ranges::count_if(list,
                                         [&](const Json& run) { return protocol::text_at(run, "state") == state; });
        };
        QString first;
        {
            WindowDriver driver = open_window();
            QVERIFY(start_by_click(driver));
            first = driver.run()->path();
            driver.key(Qt::Key_N, Qt::ControlModifier);
            QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
            QVERIFY(driver.click(QStringLiteral("addToQueue"), 20000));
            QTRY_COMPARE_WITH_TIMEOUT(in_state("queued"), std::ptrdiff_t{1}, 20000);
            QTRY_VERIFY(driver.find(QStringLiteral("queueTitle"))->isVisible());
            QVERIFY(!driver.window->close());
            QVERIFY(driver.click(QStringLiteral("keepTraining")));
            QTRY_VERIFY(!driver.window->isVisible());
        }
        QCOMPARE(in_state("queued"), std::ptrdiff_t{1});
        WindowDriver again = open_window();
        QTRY_VERIFY_WITH_TIMEOUT(again.find(QStringLiteral("queueTitle"))->isVisible(), 20000);
        again.window->show_run(first);
        QVERIFY(again.click(QStringLiteral("stop"), 20000));
        QVERIFY(again.wait_for_state(RunState::stopped, 60000));
        auto* list = again.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 2, 20000); // out of the queue by itself
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(again.wait_for_step(5, 60000));
        QVERIFY(again.click(QStringLiteral("stop"), 20000));
        QVERIFY(again.wait_for_state(RunState::stopped, 60000));
    }

    void two_windows_show_one_run() {
        const RealRuns runs;
        WindowDriver first = open_window();
        QVERIFY(start_by_click(first));
        WindowDriver second = open_window();
        QVERIFY(choose_only_run(second));
        QVERIFY(second.wait_for_step(first.run()->step(), 30000)); // its past, and live
        const auto both = [&](RunState state) {
            return first.wait_for_state(state, 30000) && second.wait_for_state(state, 30000);
        };
        QVERIFY(first.click(QStringLiteral("pause"), 20000));
        QVERIFY(both(RunState::paused));
        QTRY_COMPARE(second.run()->step(), first.run()->step());
        QVERIFY(second.click(QStringLiteral("band-resume"), 20000));
        QVERIFY(both(RunState::running));
        QVERIFY(second.click(QStringLiteral("stop"), 20000));
        QVERIFY(both(RunState::stopped));
        QTRY_COMPARE(second.run()->step(), first.run()->step());
        QCOMPARE(second.run()->loss.raw.size(), first.run()->loss.raw.size());
    }

    /// A run that a terminal (or another window) begins, and takes further after its end, is seen in a window that has
    /// no part in it.
    void what_others_do_with_runs_is_seen() {
        const RealRuns runs;
        WindowDriver driver = open_window();
        QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000)); // connected, its list is there
        const auto train = [](const QStringList& arguments) {
            QProcess process;
            process.start(QStringLiteral(ESPALIER_TRAIN), arguments);
            return QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 60000) &&
                   process.exitCode() == 0;
        };
        QVERIFY(
            train({QStringLiteral("run"), QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--data"),
                   QStringLiteral("synthetic:1x8x8,3,60"), QStringLiteral("--set"), QStringLiteral("epochs=2")}));
        auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 1, 30000);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(driver.wait_for_state(RunState::finished, 20000));
        const std::int64_t step = driver.run()->step();
        QVERIFY(step > 0);
        QTest::qWait(12000); // it is looked at for a while
        QCOMPARE(driver.run()->step(), step);
        QVERIFY(train(
            {QStringLiteral("resume"), driver.run()->path(), QStringLiteral("--set"), QStringLiteral("epochs=5")}));
        QTRY_VERIFY_WITH_TIMEOUT(driver.run()->step() > step && driver.run()->state() == RunState::finished, 30000);
        QTRY_COMPARE(static_cast<std::int64_t>(driver.run()->loss.raw.size()), driver.run()->step());
    }
};

int main(int argc, char** argv) {
    Application app(argc, argv);
    QCoreApplication::setAttribute(Qt::AA_Use96Dpi);
    if (argc > 1 && std::string_view(argv[1]) == "--as-window") { // to be killed
        WindowDriver driver = open_window();
        if (!start_by_click(driver))
            return 1;
        std::printf("%lld\n", static_cast<long long>(driver.run()->step()));
        std::fflush(stdout);
        return QApplication::exec();
    }
    TestRealRun test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_real_run.moc"
