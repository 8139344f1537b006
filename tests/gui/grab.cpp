// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a picture of every state of the window, in both themes (QT_SCALE_FACTOR=2 for twice the pixels):
//   espalier_grab DIR [--run RUN_DIR [--until SHARE]] [--engine PROGRAM] [--language zh_CN] [--size 960x600]
// Without --run the curves are those of a sample; without --engine a stand-in for `espalier-train serve` answers.
//   espalier_grab DIR --engine PROGRAM --live SECONDS [--preset NAME] [--set FIELD=VALUE ...]
// starts a run by the form, lets it train for so long, and takes pictures while it trains (0: to its end, and pictures
// of
//   its results).
#include "base/error.h"
#include "confusion_matrix.h"
#include "engine_words.h"
#include "fit_bar.h"
#include "image_grid.h"
#include "main_window.h"
#include "plot_group.h"
#include "results_view.h"
#include "run_form.h"
#include "run_page.h"
#include "sample_run.h"
#include "worker/protocol.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Asleep but for events: a run that is watched here needs all cores.
void wait(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

bool wait_for(const std::function<bool()>& condition, int ms = 8000) {
    QElapsedTimer clock;
    clock.start();
    while (!condition() && clock.elapsed() < ms)
        wait(20);
    return condition();
}

void save(QWidget& window, const QString& path) {
    wait(250);
    if (!window.grab().save(path))
        std::fprintf(stderr, "cannot write %s\n", qPrintable(path));
}

/// A folder with the events of a sample run that ended (or not) in a given way.
QString sample_folder(const QTemporaryDir& root, const QString& name,
                      const std::function<void(SampleRun&, std::vector<Json>&)>& ending, bool gpu = false) {
    SampleRun sample;
    if (gpu)
        sample.use_gpu();
    std::vector<Json> events = sample.past(480);
    ending(sample, events);
    QDir(root.path()).mkpath(name);
    QFile file(root.filePath(name + QStringLiteral("/events.jsonl")));
    if (file.open(QIODevice::WriteOnly))
        for (const Json& event : events)
            for (const std::string& line : protocol::to_lines(event))
                file.write(line.data(), static_cast<qint64>(line.size()));
    return root.filePath(name);
}

QList<QByteArray> lines_of(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().split('\n') : QList<QByteArray>();
}

double time_of(const QByteArray& line) {
    const auto event = protocol::parse_line(line.toStdString());
    return event ? protocol::number_at(*event, "time") : 0;
}

void write_lines(const QString& path, const QList<QByteArray>& lines) {
    QFile file(path);
    if (file.open(QIODevice::WriteOnly))
        file.write(lines.join('\n') + '\n');
}

/// The first part of a real run's events, and the times of its layers until then, so that it is seen while it trains.
QString cut_folder(const QTemporaryDir& root, const QString& run, double share) {
    QList<QByteArray> events = lines_of(run + QStringLiteral("/events.jsonl")),
                      layers = lines_of(run + QStringLiteral("/layers.jsonl"));
    events.resize(static_cast<qsizetype>(static_cast<double>(events.size()) * share));
    if (events.isEmpty())
        return run;
    const double end = time_of(events.back());
    layers.removeIf([&](const QByteArray& line) { return line.isEmpty() || time_of(line) > end; });
    const QString folder = root.filePath(QDir(run).dirName());
    QDir().mkpath(folder);
    write_lines(folder + QStringLiteral("/events.jsonl"), events);
    write_lines(folder + QStringLiteral("/layers.jsonl"), layers);
    return folder;
}

/// Pictures of `window` in both themes, after `prepare` in each.
class Camera {
public:
    Camera(MainWindow& window, const QDir& out) : window_(window), out_(out) {
        const double ratio = window.devicePixelRatio();
        suffix_ = ratio == 1 ? QString() : QStringLiteral("@%1x").arg(ratio);
    }
    /// Of the window, or of a child of it that is a window of its own.
    void each(const QString& name, const std::function<void(MainWindow&)>& prepare, const char* child = nullptr) const {
        for (const auto& [mode, word] : {std::pair{Theme::Mode::light, "light"}, {Theme::Mode::dark, "dark"}}) {
            Theme::instance().set_mode(mode);
            if (!child) // no window manager gives it back what a dialog has taken
                window_.activateWindow();
            prepare(window_);
            wait(400);
            QWidget* widget = child ? window_.findChild<QWidget*>(QLatin1String(child)) : &window_;
            save(*widget, out_.filePath(QStringLiteral("%1-%2%3.png").arg(name, QLatin1String(word), suffix_)));
        }
    }

private:
    MainWindow& window_;
    QDir out_;
    QString suffix_;
};

/// The chooser, and its dialog with an outcome that takes two lines.
void take_machines(MainWindow& window, const Camera& camera) {
    const auto open_menu = [](MainWindow& w) { w.findChild<QPushButton*>(QStringLiteral("machine"))->click(); };
    auto* menu = window.findChild<QMenu*>(QStringLiteral("machineMenu"));
    camera.each(QStringLiteral("machines"), open_menu, "machineMenu");
    menu->findChild<QAction*>(QStringLiteral("addMachine"))->trigger();
    menu->close();
    const auto test = [](MainWindow& w) {
        w.findChild<QLineEdit*>(QStringLiteral("machineHost"))->setText(QStringLiteral("ada@127.0.0.1:9"));
        w.findChild<QPushButton*>(QStringLiteral("machineTest"))->click();
        wait_for([&] { return w.findChild<QPushButton*>(QStringLiteral("machineTest"))->isEnabled(); });
    };
    camera.each(QStringLiteral("add-machine"), test, "machineDialog");
    window.findChild<QPushButton*>(QStringLiteral("machineCancel"))->click();
    window.use_machine({MachineSpec::Kind::ssh, QStringLiteral("lab"), QStringLiteral("ada@127.0.0.1:9"), {}});
    wait(1000);
    camera.each(QStringLiteral("no-connection"), [](MainWindow&) {});
    window.use_machine({});
    wait_for([&] { return window.machine()->is_connected(); });
}

/// What a finished run's network confuses: the classes, the images of the fullest wrong cell, and a prediction.
int take_results(MainWindow& window, const Camera& camera) {
    window.run_page()->show_tab(RunPage::results_tab);
    auto* matrix = window.findChild<ConfusionMatrix*>();
    if (!wait_for([&] { return matrix->isVisible() && !matrix->counts().classes.isEmpty(); }, 60000))
        return 1;
    wait_for([&] { return window.findChild<ImageGrid*>()->count() > 0; }, 20000);
    camera.each(QStringLiteral("results"), [](MainWindow&) {});
    const auto& counts = matrix->counts();
    QPoint fullest;
    for (int truth = 0; truth < counts.classes.size(); ++truth)
        for (int predicted = 0; predicted < counts.classes.size(); ++predicted)
            if (truth != predicted && counts.at(truth, predicted) >=
                                          counts.at(fullest.y(), fullest.x()) * (fullest.x() == fullest.y() ? 0 : 1))
                fullest = QPoint(predicted, truth);
    matrix->set_current(fullest.y(), fullest.x());
    emit matrix->cell_chosen(fullest.y(), fullest.x());
    wait(1000);
    camera.each(QStringLiteral("results-images"), [](MainWindow&) {});
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("photo.png"));
    // The first image of the cell, as a file.
    auto* grid = window.findChild<ImageGrid*>();
    const QRect cell = grid->visualRect(grid->model()->index(0, 0)).adjusted(2, 2, -2, -2);
    const QPoint corner(cell.x() + (cell.width() - ImageGrid::image_side) / 2, cell.y() + 4);
    grid->viewport()->grab({corner, QSize(ImageGrid::image_side, ImageGrid::image_side)}).save(file);
    window.run_page()->results()->predict(file);
    wait(2500);
    camera.each(QStringLiteral("results-prediction"), [](MainWindow&) {});
    return 0;
}

/// Three runs in the queue, and tags and notes on those of before.
void fill_rail(MainWindow& window) {
    for (int i = 0; i < 3; ++i) {
        window.choose_preset(QStringLiteral("quick"));
        wait(600);
        window.findChild<QPushButton*>(QStringLiteral("addToQueue"))->click();
        wait(600);
    }
    const auto& runs = window.runs()->runs();
    const QString last = runs.back().id, before_last = runs[runs.size() - 2].id;
    window.runs()->annotate(before_last, {QStringLiteral("baseline")}, {});
    window.runs()->annotate(last,
                            {QStringLiteral("photos"), QStringLiteral("width 32"), QStringLiteral("too bright"),
                             QStringLiteral("a"), QStringLiteral("b")},
                            QStringLiteral("The pictures of the second camera are too bright:\nask Ines for the raw "
                                           "files before this is trained again."));
    wait(600);
}

/// A run on the real engine, from the form to its end. Returns the program's exit code.
int take_live(MainWindow& window, const Camera& camera, const QString& preset, const QStringList& settings,
              double seconds) {
    window.choose_preset(preset);
    auto* form = window.findChild<RunForm*>();
    if (!form)
        return 1;
    for (const QString& setting : settings)
        form->set_value(setting.section(QLatin1Char('='), 0, 0), setting.section(QLatin1Char('='), 1));
    wait(300); // of typing, before the fit is asked for
    wait_for([&] { return !window.findChild<FitBar*>()->accessibleDescription().isEmpty(); }, 8000);
    camera.each(QStringLiteral("configuring"), [](MainWindow&) {});
    window.findChild<QPushButton*>(QStringLiteral("start"))->click();
    const auto run = [&] { return window.run_page()->run(); };
    if (!wait_for([&] { return run() && run()->step() > 0; }, 40000)) {
        const auto* problem = window.findChild<QPushButton*>(QStringLiteral("start"));
        std::fprintf(stderr, "the run does not train: %s\n",
                     qPrintable(run()     ? run()->reason()
                                : problem ? problem->toolTip()
                                          : QString()));
        return 1;
    }
    window.runs()->rename(run()->path(), preset + QStringLiteral("-1")); // its own has the date in it
    if (seconds <= 0) {
        if (!wait_for([&] { return !is_active(run()->state()); }, 300000))
            return 1;
        camera.each(QStringLiteral("finished"), [](MainWindow& w) { w.run_page()->show_tab(0); });
        return take_results(window, camera);
    }
    wait(static_cast<int>(seconds * 1000));
    for (const auto& [tab, name] : {std::pair{0, "live"}, {2, "layers"}, {1, "setup"}})
        camera.each(QStringLiteral("run-") + QLatin1String(name),
                    [tab = tab](MainWindow& w) { w.run_page()->show_tab(tab); });
    window.findChild<QPushButton*>(QStringLiteral("stop"))->click();
    return wait_for([&] { return !is_active(run()->state()); }, 20000) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addPositionalArgument(QStringLiteral("DIR"), QStringLiteral("where the pictures go"));
    const QCommandLineOption run_option(QStringLiteral("run"), QStringLiteral("a run's folder for the running window"),
                                        QStringLiteral("RUN_DIR"));
    const QCommandLineOption engine_option(QStringLiteral("engine"), QStringLiteral("the espalier-train to ask"),
                                           QStringLiteral("PROGRAM"));
    const QCommandLineOption until_option(QStringLiteral("until"), QStringLiteral("the share of the run that is shown"),
                                          QStringLiteral("SHARE"), QStringLiteral("1"));
    const QCommandLineOption live_option(QStringLiteral("live"), QStringLiteral("train for so long"),
                                         QStringLiteral("SECONDS"));
    const QCommandLineOption preset_option(QStringLiteral("preset"), QStringLiteral("what is trained"),
                                           QStringLiteral("NAME"), QStringLiteral("quick"));
    const QCommandLineOption set_option(QStringLiteral("set"), QStringLiteral("a field of the form"),
                                        QStringLiteral("FIELD=VALUE"));
    const QCommandLineOption language_option(QStringLiteral("language"), QStringLiteral("what the window speaks"),
                                             QStringLiteral("NAME"), QStringLiteral("en"));
    const QCommandLineOption size_option(QStringLiteral("size"), QStringLiteral("of the window"),
                                         QStringLiteral("WIDTHxHEIGHT"), QStringLiteral("1280x720"));
    parser.addOptions({run_option, engine_option, until_option, live_option, preset_option, set_option, language_option,
                       size_option});
    parser.addHelpOption();
    parser.process(app);
    if (parser.positionalArguments().isEmpty())
        parser.showHelp(2);
    install_language(language_named(parser.value(language_option)));
    const QDir out(parser.positionalArguments().first());
    out.mkpath(QStringLiteral("."));

    const QTemporaryDir samples;
    const auto nothing = [](SampleRun&, std::vector<Json>&) {};
    const QString running = parser.isSet(run_option)
                                ? cut_folder(samples, parser.value(run_option), parser.value(until_option).toDouble())
                                : sample_folder(samples, QStringLiteral("quick-3"), nothing);
    const QString paused =
        sample_folder(samples, QStringLiteral("paused-1"), [](SampleRun& run, std::vector<Json>& events) {
            events.push_back(run.checkpoint());
            events.push_back(run.phase("paused"));
        });
    const QString failed =
        sample_folder(samples, QStringLiteral("failed-2"), [](SampleRun& run, std::vector<Json>& events) {
            events.push_back(run.event(
                "warning", {{"text", "12 steps had a loss that was not a number and were skipped."}, {"code", 1}}));
            events.push_back(run.event("fallback", {{"rung", "kernel"},
                                                    {"from", "winograd"},
                                                    {"to", "direct"},
                                                    {"reason", "its result differed from the reference"},
                                                    {"layer", "block1"}}));
            events.push_back(run.phase(
                "failed",
                "The loss was not a number for 20 steps in a row. Lower the learning rate, or resume in safe mode."));
        });
    const auto on_gpu = [&](const QString& name, bool falls_back) {
        return sample_folder(
            samples, name,
            [falls_back](SampleRun& run, std::vector<Json>& events) {
                if (falls_back)
                    events.push_back(
                        run.fallback("recompute", "off", "on",
                                     "This step needs 81.4 GiB (weights 1.2 GiB, optimizer 1.2 GiB, activations "
                                     "and workspace 79.0 GiB), but the limit is 74.0 GiB. Most is in use at "
                                     "conv2d of layer 'block2', with 80.9 GiB.",
                                     {{"toggles", {{"recompute", false}}}}));
            },
            true);
    };
    const QString gpu = on_gpu(QStringLiteral("flowers-12"), false);
    const QString fallback = on_gpu(QStringLiteral("flowers-13"), true);
    const QString finished =
        sample_folder(samples, QStringLiteral("quick-2"), [](SampleRun& run, std::vector<Json>& events) {
            for (Json& event : run.past(run.last_step()))
                events.push_back(std::move(event));
            events.push_back(run.phase("finished"));
        });

    try {
        MainWindow::Options options;
        options.engine_arguments = QStringList{QStringLiteral("serve")};
        if (!parser.isSet(engine_option))
            options.engine_arguments << QStringLiteral("--more-runs") << QStringLiteral("2");
        options.engine = parser.isSet(engine_option)
                             ? parser.value(engine_option)
                             : QCoreApplication::applicationDirPath() + QStringLiteral("/fake_serve");
        options.settings_file = samples.filePath(QStringLiteral("settings.json"));
        Settings settings;
        settings.machines = {{MachineSpec::Kind::ssh, QStringLiteral("lab"), QStringLiteral("ada@lab:2222"), {}},
                             {MachineSpec::Kind::wsl, {}, QStringLiteral("Ubuntu-24.04"), {}}};
        (void)settings.save(options.settings_file);
        MainWindow window(options);
        const QStringList sides = parser.value(size_option).split(QLatin1Char('x'));
        window.resize(sides.first().toInt(), sides.last().toInt());
        window.show();
        if (!wait_for([&] { return window.findChild<QWidget*>(QStringLiteral("preset-train-small")) != nullptr; }))
            std::fprintf(stderr, "no presets came from %s\n", qPrintable(options.engine));
        const auto planned = [&] { // its card says how much of the memory it takes
            return std::ranges::all_of(std::array{"preset-train-small", "preset-train-medium", "preset-train-large"},
                                       [&](const char* name) {
                                           const auto* card = window.findChild<QWidget*>(QLatin1String(name));
                                           return card && card->accessibleDescription().contains(u" GB");
                                       });
        };
        if (!wait_for(planned, 60000))
            std::fprintf(stderr, "the presets have no plans\n");
        const Camera camera(window, out);
        if (parser.isSet(live_option))
            return take_live(window, camera, parser.value(preset_option), parser.values(set_option),
                             parser.value(live_option).toDouble());
        camera.each(QStringLiteral("gallery"), [](MainWindow& w) { w.show_gallery(); });
        camera.each(QStringLiteral("configuring"), [](MainWindow& w) {
            w.choose_preset(QStringLiteral("quick"));
            wait(1200);
        });
        camera.each(QStringLiteral("refused"), [](MainWindow& w) {
            w.choose_preset(QStringLiteral("quick"));
            w.findChild<RunForm*>()->set_value(QStringLiteral("data"), QStringLiteral("idx:/photos/of/nobody"));
            wait(1200);
        });
        take_machines(window, camera);
        if (!parser.isSet(engine_option)) {
            fill_rail(window);
            const QString run = window.runs()->runs().back().id, waiting = window.runs()->runs().front().id;
            camera.each(QStringLiteral("queue"), [](MainWindow& w) { w.choose_preset(QStringLiteral("quick")); });
            camera.each(QStringLiteral("queued"), [&](MainWindow& w) { w.show_run(waiting); });
            camera.each(QStringLiteral("notes"), [&](MainWindow& w) {
                w.show_run(run);
                w.run_page()->show_tab(1);
            });
        }
        const auto replayed = [&](const QString& folder, int tab = 0, const char* preset = "quick") {
            return [folder, tab, preset](MainWindow& w) {
                const QString name = QDir(folder).dirName(); // the same whenever and wherever it is made
                w.play(std::make_unique<Replay>(folder, 0), QStringLiteral("/home/ada/espalier/runs/") + name);
                w.run_page()->run()->set_name(name, QLatin1String(preset));
                w.run_page()->show_tab(tab);
                wait(300);
            };
        };
        camera.each(QStringLiteral("running"), replayed(running));
        camera.each(QStringLiteral("setup"), replayed(running, 1));
        camera.each(QStringLiteral("layers"), replayed(running, 2));
        camera.each(QStringLiteral("network"), replayed(running, 3));
        camera.each(QStringLiteral("log"), replayed(running, 5));
        camera.each(QStringLiteral("gpu"), replayed(gpu, 0, "train-large"));
        camera.each(QStringLiteral("fallback"), replayed(fallback, 0, "train-large"));
        camera.each(QStringLiteral("fallback-setup"), replayed(fallback, 1, "train-large"));
        camera.each(QStringLiteral("paused"), replayed(paused));
        camera.each(QStringLiteral("failed"), replayed(failed));
        camera.each(QStringLiteral("finished"), replayed(finished));
        camera.each(QStringLiteral("compare"), [](MainWindow& w) {
            QStringList paths;
            for (const RunEntry& run : w.runs()->runs())
                paths.append(run.id);
            if (paths.size() > 1)
                w.show_comparison(paths);
            wait(1500);
        });
        if (!parser.isSet(engine_option)) // last: it is offered to undo it for a while
            camera.each(QStringLiteral("deleted"), [&](MainWindow& w) {
                w.show_gallery();
                w.runs()->remove(w.runs()->runs().back().id);
                w.findChild<QLineEdit*>(QStringLiteral("searchRuns"))->setText(QStringLiteral("no such run"));
            });
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
