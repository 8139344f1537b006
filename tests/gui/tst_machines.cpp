// SPDX-License-Identifier: GPL-3.0-or-later
// The machine chooser by clicks: a server over the real ssh and a real sshd on the loopback, in a folder of their own;
// WSL by a program that behaves as wsl.exe does.
#include "confusion_matrix.h"
#include "image_grid.h"
#include "image_upload.h"
#include "machine_dialog.h"
#include "machine_menu.h"
#include "machine_test.h"
#include "real_runs.h"
#include "watched_test.h"
#include "window_driver.h"

#include <unistd.h>

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabBar>
#include <QTcpServer>
#include <csignal>

using namespace espalier;
using namespace espalier::test;

namespace {

using Kind = MachineSpec::Kind;

void write_file(const QString& path, const QByteArray& text, bool executable = false) {
    QFile file(path);
    QVERIFY2(file.open(QIODevice::WriteOnly), qPrintable(path));
    file.write(text);
    file.setPermissions(executable ? QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner
                                   : QFile::ReadOwner | QFile::WriteOwner);
}

int free_port() {
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}

/// sshd with keys of its own, and a folder for the front of PATH whose `ssh` is the real one with a configuration of
/// its own: nothing of this user's is read or written.
class Loopback {
public:
    QString problem;
    int port = 0;

    bool start() {
        const QString sshd = QStandardPaths::findExecutable(
            QStringLiteral("sshd"), {QStringLiteral("/usr/sbin"), QStringLiteral("/usr/local/sbin")});
        const QString ssh = QStandardPaths::findExecutable(QStringLiteral("ssh"));
        if (sshd.isEmpty() || ssh.isEmpty())
            return fail(QStringLiteral("ssh or sshd is missing (Debian: openssh-server, openssh-client)."));
        if (geteuid() == 0)
            QDir().mkpath(QStringLiteral("/run/sshd")); // as root sshd insists on it
        for (const char* key : {"host", "user"})
            if (QProcess::execute(QStringLiteral("ssh-keygen"),
                                  {QStringLiteral("-q"), QStringLiteral("-t"), QStringLiteral("ed25519"),
                                   QStringLiteral("-N"), QString(), QStringLiteral("-f"), path(key)}) != 0)
                return fail(QStringLiteral("ssh-keygen made no key."));
        QFile::copy(path("user.pub"), path("authorized_keys"));
        port = free_port();
        write_file(
            path("sshd_config"),
            QStringLiteral("Port %1\nListenAddress 127.0.0.1\nHostKey %2\nAuthorizedKeysFile %3\nPidFile none\n"
                           "StrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                           "KbdInteractiveAuthentication no\nPermitRootLogin yes\n"
                           "PermitUserEnvironment no\nSetEnv ESPALIER_RUNS=%4 HOME=%5\n")
                .arg(port)
                .arg(path("host"), path("authorized_keys"), qEnvironmentVariable("ESPALIER_RUNS"), QDir::homePath())
                .toUtf8());
        QDir().mkpath(path("bin"));
        configure(path("user"), true);
        write_file(path("bin/ssh"),
                   QStringLiteral("#!/bin/sh\nexec %1 -F %2 \"$@\"\n").arg(ssh, path("ssh_config")).toUtf8(), true);
        sshd_.setProcessChannelMode(QProcess::MergedChannels);
        sshd_.start(sshd, {QStringLiteral("-D"), QStringLiteral("-e"), QStringLiteral("-f"), path("sshd_config")});
        const bool up = QTest::qWaitFor([this] { return sshd_.readAll().contains("listening"); }, 10000);
        return up || fail(QStringLiteral("sshd does not start here."));
    }
    ~Loopback() {
        sshd_.kill();
        sshd_.waitForFinished();
    }

    /// Which key is shown, and whether the host's is known.
    void configure(const QString& key, bool known) {
        QByteArray hosts;
        QFile file(path("host.pub"));
        if (known && file.open(QIODevice::ReadOnly))
            hosts = QStringLiteral("[127.0.0.1]:%1 ").arg(port).toUtf8() + file.readAll();
        write_file(path("known_hosts"), hosts);
        write_file(path("ssh_config"), QStringLiteral("Host *\n IdentityFile %1\n IdentitiesOnly yes\n"
                                                      " IdentityAgent none\n UserKnownHostsFile %2\n"
                                                      " GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking ask\n")
                                           .arg(key, path("known_hosts"))
                                           .toUtf8());
    }
    [[nodiscard]] QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }
    [[nodiscard]] QString bin() const { return path("bin"); }
    [[nodiscard]] QString host() const { return QStringLiteral("127.0.0.1:%1").arg(port); }
    [[nodiscard]] MachineSpec spec(const QString& program = QStringLiteral(ESPALIER_TRAIN)) const {
        return {Kind::ssh, QStringLiteral("lab"), host(), program};
    }

private:
    bool fail(const QString& text) {
        problem = text;
        return false;
    }

    QTemporaryDir folder_;
    QProcess sshd_;
};

/// What wsl.exe does (microsoft.com/wsl): its own words as UTF-16LE unless WSL_UTF8=1, --exec without a shell.
constexpr auto stand_in = R"(#!/bin/sh
say() { if [ "$WSL_UTF8" = 1 ]; then printf '%s\r\n' "$1"; else printf '%s\r\n' "$1" | sed 's/./&\x00/g' | tr -d '\n'; printf '\n\000'; fi; }
if [ "$1" = -l ]; then printf 'M\000y\000 \000D\000e\000b\000i\000a\000n\000\r\000\n\000'; exit 0; fi
[ "$1" = -d ] || exit 255
if [ "$2" != "My Debian" ]; then
  say 'There is no distribution with the supplied name.'; say 'Error code: Wsl/Service/WSL_E_DISTRO_NOT_FOUND'; exit 255
fi
shift 3
if ! command -v "$1" >/dev/null; then
  echo "<3>WSL (9) ERROR: CreateProcessCommon:640: execvpe $1 failed: No such file or directory" >&2; exit 1
fi
exec "$@"
)";

struct Outcome {
    bool ok = false;
    QString text;
};

Outcome outcome_of(const MachineSpec& spec) {
    MachineTest test(spec, {});
    QSignalSpy spy(&test, &MachineTest::ended);
    if (!spy.wait(40000))
        return {false, QStringLiteral("nothing came")};
    return {spy[0][0].toBool(), spy[0][1].toString()};
}

void type(QWidget* field, const QString& text) {
    auto* line = qobject_cast<QLineEdit*>(field);
    line->selectAll();
    QTest::keyClicks(line, text);
}

bool add_server(WindowDriver& driver, const MachineSpec& spec) {
    if (!driver.pick(QStringLiteral("addMachine")))
        return false;
    type(driver.find<QLineEdit>(QStringLiteral("machineHost")), spec.host);
    type(driver.find<QLineEdit>(QStringLiteral("machineProgram")), spec.program);
    type(driver.find<QLineEdit>(QStringLiteral("machineName")), spec.name);
    return true;
}

/// A click on a tab.
void press(WindowDriver& driver, const char* bar, int index) {
    auto* tabs = driver.find<QTabBar>(QLatin1String(bar));
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(index).center());
}

} // namespace

class TestMachines : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() {
        path_ = qgetenv("PATH");
        runs_ = std::make_unique<RealRuns>();
        if (server_.start())
            qputenv("PATH", server_.bin().toLocal8Bit() + ':' + path_);
        else
            qputenv("PATH", tools_.path().toLocal8Bit() + ':' + path_);
    }
    void cleanupTestCase() { runs_.reset(); }

    void a_test_over_ssh_says_what_is_there() {
        need_server();
        const Outcome outcome = outcome_of(server_.spec());
        QVERIFY2(outcome.ok && outcome.text.contains(QStringLiteral("ready")), qPrintable(outcome.text));
    }

    void each_failure_over_ssh_has_its_sentence() {
        need_server();
        const auto says = [&](const MachineSpec& spec, const char* words) {
            const Outcome outcome = outcome_of(spec);
            if (outcome.ok || !outcome.text.contains(QString::fromUtf8(words)))
                qWarning("%s", qPrintable(outcome.text));
            return !outcome.ok && outcome.text.contains(QString::fromUtf8(words));
        };
        QVERIFY(says(server_.spec(QStringLiteral("/no where/espalier-train")), "There is no /no where/espalier-train"));
        QVERIFY(says(server_.spec(QStringLiteral("echo")), "What answers on lab is not espalier-train: \"serve\""));
        MachineSpec closed = server_.spec();
        closed.host = QStringLiteral("127.0.0.1:%1").arg(free_port());
        QVERIFY(says(closed, "No connection to lab."));
        server_.configure(server_.path("user"), false);
        QVERIFY(says(server_.spec(), "Connect once in a terminal and compare the key: ssh -p"));
        server_.configure(QStringLiteral("/dev/null"), true);
        QVERIFY(says(server_.spec(), "ssh-copy-id -p"));
        server_.configure(server_.path("user"), true);
    }

    void another_protocol_and_a_talkative_login() {
        need_server();
        write_file(server_.path("other"), QByteArray("#!/bin/sh\nexec " FAKE_SERVE " --version 2.0\n"), true);
        const Outcome other = outcome_of(server_.spec(server_.path("other")));
        QVERIFY2(!other.ok && other.text.contains(QStringLiteral("2.0")) && other.text.contains(QStringLiteral("1.")),
                 qPrintable(other.text));
        write_file(server_.path("noisy"), QByteArray("#!/bin/sh\necho Welcome to lab\nexec " ESPALIER_TRAIN " serve\n"),
                   true);
        const Outcome noisy = outcome_of(server_.spec(server_.path("noisy")));
        QVERIFY2(noisy.ok && noisy.text.contains(QStringLiteral("\"Welcome to lab\"")), qPrintable(noisy.text));
    }

    void a_server_that_never_says_hello_is_told_of() {
        const QTemporaryDir tools;
        write_file(tools.filePath(QStringLiteral("ssh")),
                   QByteArray("#!/bin/sh\necho 'Choose a project [1-4]:'\nexec sleep 60\n"), true);
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH", tools.path().toLocal8Bit() + ':' + before);
        Machine machine({});
        machine.set_patience(1000);
        QSignalSpy silent(&machine, &Machine::silent);
        machine.use({Kind::ssh, QStringLiteral("lab"), QStringLiteral("box:2222"), {}});
        QTRY_VERIFY((machine.take(5), !silent.isEmpty()));
        const QString text = silent[0][0].toString();
        for (const char* words : {"The connection to lab stands", "ssh -p 2222 box", "\"Choose a project [1-4]:\""})
            QVERIFY2(text.contains(QString::fromUtf8(words)), qPrintable(text));
        QVERIFY(!machine.is_connected());

        MachineTest test({Kind::ssh, QStringLiteral("lab"), QStringLiteral("box"), {}}, {});
        QSignalSpy ended(&test, &MachineTest::ended);
        QVERIFY(ended.wait(30000)); // the dialog's test says the same, when people's patience is over
        QVERIFY(!ended[0][0].toBool() && ended[0][1].toString().contains(QStringLiteral("has said nothing for 20 s")));
        qputenv("PATH", before);
    }

    /// It neither leaves when it is let go of nor when it is asked to, so that a wait for it would see its end.
    void nobody_waits_for_a_machine_that_is_silent() {
        const QTemporaryDir tools;
        const QString note = tools.filePath(QStringLiteral("pid"));
        write_file(
            tools.filePath(QStringLiteral("ssh")),
            QStringLiteral("#!/bin/sh\ntrap '' TERM\necho $$ > %1.new; mv %1.new %1\nwhile :; do sleep 1; done\n")
                .arg(note)
                .toLocal8Bit(),
            true);
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH", tools.path().toLocal8Bit() + ':' + before);
        const MachineSpec silent{Kind::ssh, QStringLiteral("lab"), QStringLiteral("box"), {}};
        const WindowDriver driver{QStringLiteral(FAKE_SERVE)}; // which brings the theme
        const auto lives = [](pid_t process) { return kill(process, 0) == 0; };
        std::vector<pid_t> processes;
        const auto came = [&] {
            QFile file(note);
            if (!file.open(QIODevice::ReadOnly))
                return false;
            processes.push_back(static_cast<pid_t>(file.readAll().toInt()));
            return file.remove();
        };

        auto* dialog = new MachineDialog(silent, {});
        dialog->show();
        auto* button = dialog->findChild<QPushButton*>(QStringLiteral("machineTest"));
        QPointer<MachineTest> test;
        const auto ask = [&] {
            button->click();
            test = dialog->findChild<MachineTest*>();
        };
        ask();
        QVERIFY(QTest::qWaitFor(came));
        type(dialog->findChild<QLineEdit*>(QStringLiteral("machineHost")), QStringLiteral("box:2222"));
        QTRY_VERIFY(!test);
        QVERIFY(lives(processes.back()));
        ask();
        QVERIFY(QTest::qWaitFor(came));
        dialog->close();
        QTRY_VERIFY(!test);
        QVERIFY(lives(processes.back()));

        auto machine = std::make_unique<Machine>(CommandLine{QStringLiteral(FAKE_SERVE), {}});
        machine->use(silent);
        QVERIFY(QTest::qWaitFor(came));
        machine->use({});
        QTRY_VERIFY((machine->take(5), machine->is_connected()));
        QVERIFY(lives(processes.back()));
        machine->use(silent);
        QVERIFY(QTest::qWaitFor(came));
        machine.reset();
        QVERIFY(lives(processes.back()));

        for (const pid_t process : processes)
            QTRY_VERIFY_WITH_TIMEOUT(!lives(process), 20000);
        qputenv("PATH", before);
    }

    void a_run_goes_on_while_the_connection_is_gone() {
        need_server();
        const QString settings = QDir(tools_.path()).filePath(QStringLiteral("settings.json"));
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {}, settings);
        QVERIFY(add_server(driver, server_.spec()));
        QVERIFY(driver.click(QStringLiteral("machineTest")));
        auto* outcome = driver.find<QLabel>(QStringLiteral("machineOutcome"));
        QTRY_VERIFY_WITH_TIMEOUT(outcome->text().startsWith(QStringLiteral("Connected")), 30000);
        QVERIFY(driver.click(QStringLiteral("machineSave")));
        Machine* machine = driver.window->machine();
        QTRY_VERIFY_WITH_TIMEOUT(machine->is_connected() && machine->name() == u"lab", 20000);

        QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
        type(driver.find<QLineEdit>(QStringLiteral("field-epochs")), QStringLiteral("500"));
        QVERIFY(driver.click(QStringLiteral("start"), 20000));
        QVERIFY(driver.wait_for_step(10, 60000));
        QVERIFY(!driver.find<QPushButton>(QStringLiteral("openFolder"))->isEnabled());

        const std::int64_t then = driver.run()->step();
        kill_ssh();
        auto* band = driver.find<QWidget>(QStringLiteral("message"));
        QTRY_VERIFY_WITH_TIMEOUT(!machine->is_connected() && band->isVisible(), 10000);
        QTRY_VERIFY_WITH_TIMEOUT(machine->is_connected() && !band->isVisible(), 30000);
        QVERIFY(driver.wait_for_step(then + 10, 60000));
        QCOMPARE(static_cast<std::int64_t>(driver.run()->loss.raw.size()), driver.run()->step()); // none is missing

        // Another machine, with runs of its own, and back.
        RunModel* model = driver.run();
        QVERIFY(driver.pick(QStringLiteral("machine-here:")));
        QTRY_VERIFY_WITH_TIMEOUT(machine->is_connected() && machine->is_here(), 20000);
        QTRY_VERIFY(!driver.window->runs()->runs().empty());
        QVERIFY(!driver.window->runs()->entry(model->path()));
        QVERIFY(driver.pick(QStringLiteral("machine-") + server_.spec().id()));
        QTRY_VERIFY_WITH_TIMEOUT(machine->is_connected() && driver.window->runs()->entry(model->path()), 20000);
        driver.window->show_run(model->path());
        QCOMPARE(driver.run(), model);
        QVERIFY(driver.wait_for_step(then + 20, 60000));
        QVERIFY(driver.click(QStringLiteral("stop"), 20000));
        QVERIFY(driver.wait_for_state(RunState::stopped, 60000));
        driver.window->close();

        QString problem;
        const Settings kept = Settings::load(settings, &problem);
        QCOMPARE(kept.machines.size(), std::size_t{1});
        QCOMPARE(kept.machines.front(), server_.spec());
        QCOMPARE(kept.machine, server_.spec().id());
    }

    /// The run of before, by an engine that notes what it is asked: never for a file of this PC.
    void images_are_sent_and_networks_brought() {
        need_server();
        write_file(server_.path("noting"),
                   "#!/bin/sh\ntee -a " + server_.path("asked").toUtf8() + " | " ESPALIER_TRAIN " serve\n", true);
        WindowDriver driver{QStringLiteral(FAKE_SERVE)};
        driver.window->use_machine(server_.spec(server_.path("noting")));
        RunStore* store = driver.window->runs();
        QTRY_VERIFY_WITH_TIMEOUT(driver.window->machine()->is_connected() && store->runs().size() == 1, 20000);
        const QString path = store->runs().front().id;
        driver.window->show_run(path);
        QVERIFY(driver.wait_for_state(RunState::stopped, 20000));
        QTRY_VERIFY_WITH_TIMEOUT(!store->is_loading(path), 20000);

        QImage noise(1500, 1000, QImage::Format_RGB32); // as PNG far above a line of the protocol
        QRandomGenerator random(7);
        random.fillRange(reinterpret_cast<quint32*>(noise.bits()), static_cast<qsizetype>(noise.sizeInBytes()) / 4);
        const QString photo = QDir(tools_.path()).filePath(QStringLiteral("photo.png"));
        QVERIFY(noise.save(photo) && QFileInfo(photo).size() > 3 * ImageUpload::most_bytes);
        QVERIFY(driver.drop(photo));
        auto* words = driver.find<QLabel>(QStringLiteral("predictionWords"));
        const bool predicted = QTest::qWaitFor([&] { return words->text().contains(QLatin1Char('%')); }, 30000);
        QVERIFY2(predicted && words->isVisible(), qPrintable(words->text()));

        const auto* matrix = driver.find<ConfusionMatrix>(QStringLiteral("confusion"));
        QVERIFY(driver.click(QStringLiteral("evaluate"), 20000)); // only finished runs are evaluated unasked
        QTRY_COMPARE_WITH_TIMEOUT(matrix->counts().classes.size(), 10, 60000);
        const auto* summary = driver.find<QLabel>(QStringLiteral("resultsSummary"));
        QVERIFY2(summary->text().contains(QLatin1Char('%')), qPrintable(summary->text()));
        press(driver, "resultTabs", 1);
        auto* grid = driver.find<ImageGrid>(QStringLiteral("cellImages"));
        QTRY_VERIFY_WITH_TIMEOUT(grid->count() > 0, 30000); // which were brought, too

        for (const char* suffix : {"onnx", "safetensors"})
            export_here(driver, path, QLatin1String(suffix));

        QFile asked(server_.path("asked"));
        QVERIFY(asked.open(QIODevice::ReadOnly));
        const QByteArray requests = asked.readAll();
        QVERIFY(requests.contains("\"base64\""));
        QVERIFY(!requests.contains(tools_.path().toUtf8()));
    }

    void a_file_that_is_no_image_is_not_sent() {
        const QString file = QDir(tools_.path()).filePath(QStringLiteral("large.png"));
        write_file(file, QByteArray(ImageUpload::most_bytes + 1, 'x'));
        QVERIFY(read_for_upload(file).problem.contains(QStringLiteral("cannot be read here")));
        QVERIFY(read_for_upload(file + QStringLiteral("x")).problem.contains(QStringLiteral("cannot be read")));
    }

    /// While it lists distributions and tests a machine, with a wsl.exe that takes its time.
    void a_dialog_that_is_closed_asks_no_more() {
        write_file(QDir(tools_.path()).filePath(QStringLiteral("wsl.exe")), "#!/bin/sh\nexec sleep 30\n", true);
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH", tools_.path().toLocal8Bit() + ':' + before);
        const WindowDriver driver{QStringLiteral(FAKE_SERVE)};                               // which brings the theme
        QTest::failOnWarning(QRegularExpression(QStringLiteral("Destroyed while process"))); // which waits for its end
        for (int i = 0; i < 8; ++i) {
            MachineDialog dialog({MachineSpec::Kind::wsl, {}, QStringLiteral("Ubuntu"), {}}, {});
            dialog.show();
            const auto* listing = dialog.findChild<QProcess*>();
            QVERIFY(listing != nullptr);
            if (i % 2 == 0) // else it is closed while it starts
                QTRY_COMPARE(listing->state(), QProcess::Running);
            dialog.findChild<QPushButton*>(QStringLiteral("machineTest"))->click();
        }
        qputenv("PATH", before);
    }

    void wsl_lists_connects_and_says_what_is_wrong() {
        write_file(QDir(tools_.path()).filePath(QStringLiteral("wsl.exe")), stand_in, true);
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH", tools_.path().toLocal8Bit() + ':' + before);
        WindowDriver driver{QStringLiteral(FAKE_SERVE)};
        QVERIFY(driver.pick(QStringLiteral("addMachine")));
        auto* kind = driver.find<QComboBox>(QStringLiteral("machineKind"));
        kind->setFocus();
        QTest::keyClick(kind, Qt::Key_Down);
        auto* names = driver.find<QComboBox>(QStringLiteral("machineDistribution"));
        QTRY_COMPARE(names->currentText(), QStringLiteral("My Debian"));
        type(driver.find<QLineEdit>(QStringLiteral("machineProgram")), QStringLiteral(ESPALIER_TRAIN));
        QVERIFY(driver.click(QStringLiteral("machineTest")));
        auto* outcome = driver.find<QLabel>(QStringLiteral("machineOutcome"));
        QTRY_VERIFY_WITH_TIMEOUT(outcome->text().startsWith(QStringLiteral("Connected")), 30000);
        QVERIFY(driver.click(QStringLiteral("machineSave")));
        QTRY_VERIFY_WITH_TIMEOUT(driver.window->machine()->is_connected() && !driver.window->machine()->is_here(),
                                 20000);

        const Outcome missing = outcome_of({Kind::wsl, {}, QStringLiteral("My Debian"), QStringLiteral("/no/engine")});
        QVERIFY2(missing.text.contains(QStringLiteral("There is no /no/engine")), qPrintable(missing.text));
        const Outcome other = outcome_of({Kind::wsl, {}, QStringLiteral("Gentoo"), {}});
        QVERIFY2(other.text.contains(QStringLiteral("no WSL distribution named Gentoo")), qPrintable(other.text));
        qputenv("PATH", before);
    }

private:
    /// By the key and its dialog; what arrives is what the engine wrote there.
    void export_here(WindowDriver& driver, const QString& run, const QString& suffix) {
        driver.window->activateWindow(); // no window manager does it when a dialog has gone
        QVERIFY(QTest::qWaitForWindowActive(driver.window.get()));
        driver.key(Qt::Key_E, Qt::ControlModifier);
        QTRY_VERIFY(driver.find<QFileDialog>(QStringLiteral("exportNetwork")));
        auto* save = driver.find<QFileDialog>(QStringLiteral("exportNetwork"));
        const QString file = QDir(tools_.path()).filePath(QStringLiteral("net.") + suffix);
        save->selectFile(file);
        QMetaObject::invokeMethod(save, "accept");
        const auto* band = driver.find(QStringLiteral("message"));
        const bool arrived = QTest::qWaitFor([&] { return QFile::exists(file); }, 60000);
        QVERIFY2(arrived, qPrintable(band->accessibleName()));
        QTRY_VERIFY(band->accessibleName().contains(QStringLiteral("Written: ") + file));
        QFile here(file), there(run + QStringLiteral("/exports/network.") + suffix);
        QVERIFY(here.open(QIODevice::ReadOnly) && there.open(QIODevice::ReadOnly));
        QVERIFY(here.size() > 10000);
        QCOMPARE(here.readAll(), there.readAll());
    }
    void need_server() {
        if (!server_.problem.isEmpty())
            QSKIP(qPrintable(server_.problem));
    }
    /// The ssh that this test's window started, and no other.
    static void kill_ssh() {
        QProcess children;
        children.start(QStringLiteral("pgrep"),
                       {QStringLiteral("-x"), QStringLiteral("-P"), QString::number(QCoreApplication::applicationPid()),
                        QStringLiteral("ssh")});
        QVERIFY(children.waitForFinished());
        const QByteArray id = children.readAllStandardOutput().trimmed();
        QVERIFY(!id.isEmpty());
        QCOMPARE(QProcess::execute(QStringLiteral("kill"), {QStringLiteral("-9"), QString::fromLatin1(id)}), 0);
    }

    QByteArray path_;
    QTemporaryDir tools_;
    std::unique_ptr<RealRuns> runs_;
    Loopback server_;
};

WATCHED_TEST_MAIN(TestMachines)
#include "tst_machines.moc"
