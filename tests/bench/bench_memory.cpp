// SPDX-License-Identifier: GPL-3.0-or-later
// Opens the runs of a folder (made by make_big_run) one after another in the window, and prints the window's resident
// memory before, after each, and its peak. bench_memory RUNS_DIR
#include "run_page.h"
#include "window_bench.h"

#include <cstdio>

using namespace espalier;
using namespace espalier::bench;

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_memory RUNS_DIR\n");
        return 2;
    }
    const QDir folder(QDir(QString::fromLocal8Bit(argv[1])).absolutePath());
    BenchWindow window(folder.path());
    const QStringList paths = window.runs();
    if (paths.empty()) {
        std::fprintf(stderr, "there is no run in %s\n", qPrintable(folder.path()));
        return 1;
    }
    std::printf("no run open: %.0f MiB\n", memory_mib("VmRSS"));
    PaintWatch watch(*window->run_page()->plots());
    std::size_t steps = 0;
    for (int i = 0; i < paths.size(); ++i) {
        window->show_run(paths[i]);
        window.wait_until([&] { return !window->runs()->is_loading(paths[i]); });
        watch.restart();
        window.wait_until([&] { return watch.all_painted(); });
        window.wait_seconds(2); // smoothing and the log go on in slices
        steps += window->run_page()->run()->loss.raw.size();
        std::printf("%d open, %zu steps: %.0f MiB\n", i + 1, steps, memory_mib("VmRSS"));
        std::fflush(stdout);
    }
    std::printf("peak: %.0f MiB\n", memory_mib("VmHWM"));
    return 0;
}
