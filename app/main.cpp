// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"
#include "worker/protocol.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>
#include <cstdio>

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QApplication::setApplicationName(QStringLiteral("espalier"));
    QApplication::setApplicationDisplayName(QStringLiteral("Espalier"));
    QApplication::setApplicationVersion(QStringLiteral(ESPALIER_VERSION));
    QApplication::setDesktopFileName(QStringLiteral(ESPALIER_APP_ID));

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
    parser.addOptions({replay, speed, engine});
    parser.process(app);

    using namespace espalier;
    MainWindow::Options options;
    options.settings_file = Settings::default_file();
    options.engine = parser.isSet(engine) ? parser.value(engine) : find_engine();
    options.connect = !parser.isSet(replay);
    try {
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
