// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a long run (made by make_big_run) in the window: the time from the request until all plots are painted, until
// every step is there, how long the window's thread stood still, and the peak memory of both processes.
// bench_attach RUN_DIR
#include "run_page.h"
#include "window_bench.h"

#include <QFileInfo>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace espalier;
using namespace espalier::bench;

namespace {

/// Processor time of this thread: what a busy machine does not distort.
double thread_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_attach RUN_DIR\n");
        return 2;
    }
    const QString path = QFileInfo(QString::fromLocal8Bit(argv[1])).absoluteFilePath();
    BenchWindow window(QFileInfo(path).path());

    double gap = 0, busy = 0, reached = 0, computed = thread_ms();
    QElapsedTimer clock, since;
    QTimer watchdog;
    watchdog.setTimerType(Qt::PreciseTimer);
    QObject::connect(&watchdog, &QTimer::timeout, &app, [&] {
        gap = std::max(gap, static_cast<double>(since.nsecsElapsed()) / 1e6);
        busy = std::max(busy, thread_ms() - computed);
        computed = thread_ms();
        since.restart();
    });
    PaintWatch watch(*window->run_page()->plots());
    bool overview = false, loaded = false;
    QObject::connect(window->runs(), &RunStore::overview_came, &app, [&] {
        overview = true;
        reached = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        watch.restart();
    });
    QObject::connect(window->runs(), &RunStore::loaded, &app, [&] { loaded = true; });
    const auto seconds = [&] { return static_cast<double>(clock.nsecsElapsed()) / 1e9; };

    clock.start();
    since.start();
    watchdog.start(1);
    window->show_run(path);
    window.wait_until([&] { return overview || loaded; });
    if (overview) {
        window.wait_until([&] { return watch.all_painted(); });
        std::printf("request to all plots painted: %.3f s (the overview came at %.0f ms)\n", seconds(), reached);
    }
    window.wait_until([&] { return loaded; });
    watch.restart();
    window.wait_until([&] { return watch.all_painted(); });
    const RunModel& run = *window->run_page()->run();
    std::printf("request to every step painted: %.3f s (%zu steps, %zu lines of log)\n", seconds(), run.loss.raw.size(),
                run.log().size());
    window.wait_seconds(1); // the log is still being written
    std::printf("the window's thread stood still for %.1f ms at worst, and computed for %.1f ms at worst\n", gap, busy);
    std::printf("processor time: window's thread %.2f s, all its threads %.2f s\n", thread_ms() / 1e3,
                static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    std::printf("peak memory: window %.0f MiB, serve %.0f MiB\n", memory_mib("VmHWM"),
                memory_mib("VmHWM", BenchWindow::serve()));
    return 0;
}
