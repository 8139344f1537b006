// SPDX-License-Identifier: Apache-2.0
// "Copy as command": a short command, which a shell and the command line read back as the same configuration.
#include "base/error.h"
#include "train/run_config.h"
#include "worker/commands/command.h"
#include "worker/run_command.h"

#include <QProcess>
#include <QtTest>

using namespace espalier;

namespace {

/// What a shell makes of a line: its words.
std::vector<std::string> words_of(const std::string& line) {
    QProcess shell;
    shell.start("sh", {"-c", "printf '%s\\0' " + QString::fromStdString(line)});
    if (!shell.waitForFinished(20000))
        qFatal("there is no shell");
    std::vector<std::string> words;
    for (const auto& word : shell.readAllStandardOutput().split('\0'))
        words.push_back(word.toStdString());
    words.pop_back(); // behind the last zero
    return words;
}

/// The configuration that the command line of `run` reads from these words.
Json read_by_the_command_line(std::vector<std::string> words) {
    CLI::App app;
    commands::ConfigOptions options;
    options.add_to(app);
    std::string name;
    app.add_option("--name", name);
    std::vector<std::string> arguments(words.begin() + 2, words.end()); // espalier-train run
    std::ranges::reverse(arguments);                                    // as CLI11 wants them
    app.parse(arguments);
    Json config = options.config();
    if (!name.empty())
        config["name"] = name;
    return RunConfig::from_json(config).to_json();
}

Json laid_over(const char* name, const Json& changes) { return merged(preset(name), changes); }

} // namespace

class TestRunCommand : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void it_names_the_preset_and_what_differs() {
        const auto text = [](const Json& config) { return shell_text(run_command(config)); };
        QCOMPARE(text(preset("quick")), std::string("espalier-train run --preset quick"));
        QCOMPARE(text(RunConfig::from_json(preset("train-small")).to_json()), // as a run's config.json has it
                 std::string("espalier-train run --preset train-small"));
        QCOMPARE(text(laid_over("quick", {{"epochs", 3}, {"optimizer", {{"learning_rate", 0.05}}}})),
                 std::string("espalier-train run --preset quick --set epochs=3 --set optimizer.learning_rate=0.05"));
        QCOMPARE(text(laid_over("quick", {{"name", "Ada's run"}, {"data", "folder:/my photos"}})),
                 std::string("espalier-train run --preset quick --data 'folder:/my photos' --name 'Ada'\\''s run'"));
    }

    void a_shell_and_the_command_line_read_it_back_data() {
        QTest::addColumn<QString>("changes");
        QTest::addColumn<QString>("start");
        const auto row = [](const char* name, const char* start, const char* changes) {
            QTest::newRow(name) << QString::fromUtf8(changes) << QString::fromUtf8(start);
        };
        row("nothing", "train-medium", "{}");
        row("numbers", "quick",
            R"({"seed": 9007199254740993, "label_smoothing": 0.30000000000000004, )"
            R"("optimizer": {"weight_decay": 1e-300, "eps": 1e-8}, "validation_share": 0.25})");
        row("toggles", "quick",
            R"({"toggles": {"safe_mode": true, "precision": "bf16", "fused": false}, )"
            R"("backend": "cuda:GPU-1b2c", "tensorboard": false, "augmentation": {"flip": true}})");
        row("lists", "train-small",
            R"({"network": {"stages": [2, 2, 2, 2]}, )"
            R"("schedule": {"kind": "step", "step_epochs": [1.5, 3], "gamma": 0.2}})");
        row("another network", "quick", R"({"network": {"network": "resnet", "base_width": 8, "stages": [1, 1]}})");
        row("a network with less to say", "train-small", R"({"network": {"network": "quick"}})");
        row("a name like a number", "quick", R"({"name": "12"})");
        row("a name like an option", "quick", "{\"name\": \"-q \\\"$HOME\\\" `x` \\\\\"}");
        row("all of Unicode", "quick", "{\"name\": \"Läufe 走る 🏃\", \"data\": \"csv:/a b/c'd.csv\"}");
        row("no preset", "quick", R"({"preset": ""})");
        row("a preset that is not known here", "quick", R"({"preset": "of-next-year", "batch": 7})");
    }
    void a_shell_and_the_command_line_read_it_back() {
        QFETCH(QString, changes);
        QFETCH(QString, start);
        const auto config = RunConfig::from_json(laid_over(start.toUtf8(), Json::parse(changes.toStdString())));
        const Json whole = config.to_json();
        const auto command = shell_text(run_command(whole));
        const Json again = read_by_the_command_line(words_of(command));
        QVERIFY2(again == whole, (command + "\n" + Json::diff(whole, again).dump(2)).c_str());
    }

    void what_is_no_configuration_is_refused() {
        QVERIFY_EXCEPTION_THROWN((void)run_command({{"batch", "many"}}), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)run_command({{"colour", "red"}}), ConfigError);
    }
};

QTEST_GUILESS_MAIN(TestRunCommand)
#include "tst_run_command.moc"
