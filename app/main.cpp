// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"
#include "watchdog.h"
#include "worker/protocol.h"

#include <QCommandLineParser>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

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

/// Whether a window can be shown. Without a display Qt aborts, before it has read --help.
bool has_display([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifdef Q_OS_LINUX
    const auto is_set = [](const char* name) { return !qEnvironmentVariableIsEmpty(name); };
    const auto names_platform = [](const char* argument) { return std::string_view(argument) == "-platform"; };
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM") ||
           std::any_of(argv, argv + argc, names_platform);
#else
    return true;
#endif
}

} // namespace

int main(int argc, char** argv) {
    const bool display = has_display(argc, argv);
    if (!display)
        qputenv("QT_QPA_PLATFORM", "offscreen");
    espalier::Application app(argc, argv);
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
    parser.process(app);

    const QStringList paths = parser.positionalArguments();
    if (paths.size() > 1) {
        std::fprintf(stderr, "espalier opens one path at a time, and was given %d: %s\n",
                     static_cast<int>(paths.size()), qPrintable(paths.join(QLatin1Char(' '))));
        return static_cast<int>(ExitCode::bad_configuration);
    }
    if (!display) {
        std::fputs("espalier needs a display, and neither DISPLAY nor WAYLAND_DISPLAY names one. In a terminal "
                   "espalier-train does all that the window does: espalier-train --help\n",
                   stderr);
        return static_cast<int>(ExitCode::failed);
    }
    MainWindow::Options options;
    options.settings_file = Settings::default_file();
    options.engine = parser.isSet(engine) ? parser.value(engine) : find_engine();
    options.connect = !parser.isSet(replay);
    options.open = paths.value(0);
    try {
        const auto watchdog = parser.isSet(watch) ? report_standstills() : nullptr;
        MainWindow window(options);
        if (parser.isSet(replay))
            window.play(std::make_unique<Replay>(parser.value(replay), parser.value(speed).toDouble()),
                        parser.value(replay));
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
        qCritical("%s", error.what());
        return static_cast<int>(error.code());
    }
}
