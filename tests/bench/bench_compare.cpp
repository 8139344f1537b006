// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the runs of a folder (up to eight, made by make_big_run) in the window, over the real `espalier-train
// serve`: the time from the request until the curves of all are painted, how long the window's thread stood still, and
// the peak memory of the window. bench_compare RUNS_DIR
#include "compare_page.h"
#include "main_window.h"
#include "plot_group.h"
#include "watchdog.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QPaintEvent>
#include <cstdio>

using namespace espalier;

namespace {

/// Counts what is painted of a plot.
class PaintWatch : public QObject {
public:
    int paints = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        paints += event->type() == QEvent::Paint ? 1 : 0;
        return false;
    }
};

double peak_mib() {
    QFile file(QStringLiteral("/proc/self/status"));
    if (file.open(QIODevice::ReadOnly))
        for (const QByteArray& line : file.readAll().split('\n'))
            if (line.startsWith("VmHWM:"))
                return line.mid(6).trimmed().split(' ').first().toDouble() / 1024;
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    Application app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_compare RUNS_DIR\n");
        return 2;
    }
    const QDir folder(QDir(QString::fromLocal8Bit(argv[1])).absolutePath());
    MainWindow::Options options;
    options.engine = QStringLiteral(ESPALIER_TRAIN);
    options.engine_arguments = QStringList{QStringLiteral("serve"), QStringLiteral("--runs"), folder.path()};
    MainWindow window(options);
    window.resize(1280, 720);
    window.show();
    const auto wait_until = [&](auto&& condition) {
        while (!condition())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, 10);
    };
    QElapsedTimer clock;
    clock.start();
    wait_until([&] { return window.runs()->runs().size() > 1 || clock.elapsed() > 20000; });
    wait_until([&] { return clock.elapsed() > 3000; }); // its other first questions are answered
    QStringList paths;
    for (const RunEntry& run : window.runs()->runs())
        paths.append(run.id);
    if (paths.size() < 2) {
        std::fprintf(stderr, "there are not two runs in %s\n", qPrintable(folder.path()));
        return 1;
    }
    const ComparedRuns& runs = window.compare_page()->runs();
    PaintWatch watch;
    for (auto* child : window.compare_page()->plots()->loss()->findChildren<QWidget*>())
        if (child->inherits("QCustomPlot"))
            child->installEventFilter(&watch);
    const Watchdog turns;
    clock.restart();
    window.show_comparison(paths);
    std::size_t last = 0;
    double all = 0;
    wait_until([&] {
        std::size_t there = 0;
        for (std::size_t i = 0; i < runs.size(); ++i)
            there += runs.curves(i) ? 1 : 0;
        if (there != last) {
            std::printf("%zu of %zu runs: %.3f s\n", there, runs.size(), static_cast<double>(clock.elapsed()) / 1e3);
            last = there;
            watch.paints = 0;
        }
        return there == runs.size() && watch.paints > 0;
    });
    all = static_cast<double>(clock.elapsed()) / 1e3;
    std::printf("request to the curves of all painted: %.3f s\n", all);
    const qint64 end = clock.elapsed() + 1000;
    wait_until([&] { return clock.elapsed() > end; });
    std::printf("the window's busiest turn took %.1f ms of the processor (limit %.0f); peak memory %.0f MiB\n",
                turns.busiest_ms(), Watchdog::busy_limit_ms, peak_mib());
    return 0;
}
