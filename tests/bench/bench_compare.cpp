// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the runs of a folder (up to eight, made by make_big_run) in the window: the time from the request until the
// curves of all are painted, and smoothed, the same for the steps of a stretch that is zoomed into, how long the
// window's thread stood still, and the peak memory of the window. bench_compare RUNS_DIR
#include "compare_page.h"
#include "plot_group.h"
#include "watchdog.h"
#include "window_bench.h"

#include <cstdio>

using namespace espalier;
using namespace espalier::bench;

int main(int argc, char** argv) {
    Application app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_compare RUNS_DIR\n");
        return 2;
    }
    const QDir folder(QDir(QString::fromLocal8Bit(argv[1])).absolutePath());
    BenchWindow window(folder.path());
    const QStringList paths = window.runs();
    if (paths.size() < 2) {
        std::fprintf(stderr, "there are not two runs in %s\n", qPrintable(folder.path()));
        return 1;
    }
    const ComparedRuns& runs = window->compare_page()->runs();
    PaintWatch watch(*window->compare_page()->plots());
    const Watchdog turns;
    QElapsedTimer clock;
    clock.start();
    const auto seconds = [&] { return static_cast<double>(clock.nsecsElapsed()) / 1e9; };
    window->show_comparison(paths);
    std::size_t last = 0;
    window.wait_until([&] {
        std::size_t there = 0;
        for (std::size_t i = 0; i < runs.size(); ++i)
            there += runs.curves(i) ? 1 : 0;
        if (there != last) {
            std::printf("%zu of %zu runs: %.3f s\n", there, runs.size(), seconds());
            last = there;
            watch.restart();
        }
        return there == runs.size() && watch.all_painted();
    });
    std::printf("request to the curves of all painted: %.3f s\n", seconds());
    window.wait_until([&] {
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (runs.curves(i)->smoothing <= 0)
                return false;
        return true;
    });
    watch.restart();
    window.wait_until([&] { return watch.all_painted(); });
    std::printf("request to all of them painted smoothed: %.3f s\n", seconds());
    PlotGroup* plots = window->compare_page()->plots();
    const double middle = plots->range().second / 2;
    for (const double width : {2e6, 1e5, 1e3}) {
        clock.restart();
        emit plots->loss()->range_requested(middle - width / 2, middle + width / 2);
        window.wait_until([&] {
            for (std::size_t i = 0; i < runs.size(); ++i)
                if (static_cast<double>(runs.curves(i)->width) > width / 1000)
                    return false;
            return true;
        });
        watch.restart();
        window.wait_until([&] { return watch.all_painted(); });
        std::printf("zoom to %.0f steps of all painted: %.3f s\n", width, seconds());
    }
    window.wait_seconds(1);
    std::printf("the window's busiest turn took %.1f ms of the processor (limit %.0f); peak memory %.0f MiB\n",
                turns.busiest_ms(), Watchdog::busy_limit_ms, memory_mib("VmHWM"));
    return 0;
}
