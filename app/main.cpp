// SPDX-License-Identifier: GPL-3.0-or-later
#include "display.h"
#include "main_window.h"
#include "watchdog.h"
#include "worker/protocol.h"

#include <QCommandLineParser>
#include <QTimer>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace {

/// For those who work on the window: what held it up, as it happens, and the worst at the end.
std::unique_ptr<espalier::Watchdog> report_standstills() {
    using espalier::Watchdog;
    auto watchdog = std::make_unique<Watchdog>();
    QObject::connect(watchdog.get(), &Watchdog::stood_still, [](const Watchdog::Turn& turn) {
        std::fprintf(stderr, "watchdog: %s\n", qPrintable(Watchdog::text(turn)));
    });
    QObject::connect(qApp, &QApplication::aboutToQuit, watchdog.get(), [dog = watchdog.get()] {
        std::fprintf(stderr, "watchdog: busiest turn %.1f ms, %zu above %.0f ms\n", dog->busiest_ms(),
                     dog->long_turns().size(), Watchdog::busy_limit_ms);
    });
    return watchdog;
}

/// What is wrong with the command line is said in a sentence.
int refuse(const QString& why) {
    std::fprintf(stderr, "espalier: %s\n", qPrintable(why));
    return static_cast<int>(espalier::ExitCode::bad_configuration);
}

} // namespace

int main(int argc, char** argv) {
    const bool display = espalier::names_display(argc, argv);
    if (!display || espalier::asks_for_words(argc, argv))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    std::optional<espalier::DisplayRefusal> refusal(std::in_place);
    espalier::Application app(argc, argv);
    refusal.reset();
    QApplication::setApplicationName(QStringLiteral("espalier"));
    QApplication::setApplicationDisplayName(QStringLiteral("Espalier"));
    QApplication::setApplicationVersion(QStringLiteral(ESPALIER_VERSION));
    QApplication::setDesktopFileName(QStringLiteral(ESPALIER_APP_ID));

    using namespace espalier;
    install_language(Settings::language_in(Settings::default_file()));

    QCommandLineParser parser;
    parser.setApplicationDescription(QApplication::translate("main", "A studio for training image networks."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption replay(
        QStringLiteral("replay"),
        QApplication::translate("main", "Play the events of a run's folder through the window, without an engine."),
        QStringLiteral("RUN_DIR"));
    const QCommandLineOption speed(QStringLiteral("speed"),
                                   QApplication::translate("main", "So many times as fast as it was; 0: all at once."),
                                   QStringLiteral("N"), QStringLiteral("1"));
    const QCommandLineOption engine(QStringLiteral("engine"),
                                    QApplication::translate("main", "The espalier-train to use."),
                                    QStringLiteral("PROGRAM"));
    QCommandLineOption watch(QStringLiteral("watchdog")); // for maintainers: not in the help
    watch.setFlags(QCommandLineOption::HiddenFromHelp);
    parser.addOptions({replay, speed, engine, watch});
    parser.addPositionalArgument(
        QStringLiteral("PATH"),
        QApplication::translate("main", "A run folder or checkpoint to show, or a folder of images to train with."),
        QStringLiteral("[PATH]"));
    if (!parser.parse(QApplication::arguments()))
        return refuse(QStringLiteral("%1 espalier --help names the options.").arg(parser.errorText()));
    parser.process(app); // --help and --version

    const QStringList paths = parser.positionalArguments();
    if (paths.size() > 1)
        return refuse(QStringLiteral("one path at a time can be opened; these %1 came: %2")
                          .arg(paths.size())
                          .arg(paths.join(QLatin1Char(' '))));
    bool is_number = false;
    const double times = parser.value(speed).toDouble(&is_number);
    if (!is_number || !std::isfinite(times) || times < 0)
        return refuse(QStringLiteral("--speed takes a number such as 2 or 0.5, or 0 for all at once; this came: %1")
                          .arg(parser.value(speed)));
    if (parser.isSet(speed) && !parser.isSet(replay))
        return refuse(QStringLiteral("--speed goes with --replay RUN_DIR."));
    if (!display)
        return refuse(no_display_text(QStringLiteral("neither DISPLAY nor WAYLAND_DISPLAY names one")));
    MainWindow::Options options;
    options.settings_file = Settings::default_file();
    options.engine = parser.isSet(engine) ? parser.value(engine) : find_engine();
    options.connect = !parser.isSet(replay);
    options.open = paths.value(0);
    try {
        auto played = parser.isSet(replay) ? std::make_unique<Replay>(parser.value(replay), times) : nullptr;
        const auto watchdog = parser.isSet(watch) ? report_standstills() : nullptr;
        MainWindow window(options);
        if (played)
            window.play(std::move(played), parser.value(replay));
        window.show();
        if (qEnvironmentVariableIsSet(
                "ESPALIER_TIME_TO_WINDOW")) // tests/bench/bench_start: once the first picture is on the screen
            QTimer::singleShot(0, &window, [&window] {
                window.repaint();
                std::puts("visible");
                std::fflush(stdout);
                window.close();
            });
        return QApplication::exec();
    } catch (const Error& error) {
        std::fprintf(stderr, "espalier: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
