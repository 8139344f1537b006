// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a long run (made by make_big_run) in the window, over the real `espalier-train serve`: the time from the
// request until all plots are painted, until every step is there, how long the window's thread stood still, and the
// peak memory of both processes. bench_attach RUN_DIR
#include "live_plot.h"
#include "main_window.h"
#include "plot_group.h"
#include "run_page.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QPaintEvent>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>

using namespace espalier;

namespace {

/// Sees when each of the plots has been painted.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(const PlotGroup& plots) {
        for (LivePlot* plot : {plots.loss(), plots.accuracy(), plots.memory(), plots.gflops()})
            for (auto* child : plot->findChildren<QWidget*>())
                if (child->inherits("QCustomPlot"))
                    child->installEventFilter(this);
    }
    void restart() { painted_.clear(); }
    [[nodiscard]] bool all_painted() const { return painted_.size() == 4; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            painted_.insert(watched);
        return false;
    }

private:
    std::set<QObject*> painted_;
};

/// Processor time of this thread: what a busy machine does not distort.
double thread_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double peak_mib(qint64 pid) {
    QFile file(QStringLiteral("/proc/%1/status").arg(pid));
    if (file.open(QIODevice::ReadOnly))
        for (const QByteArray& line : file.readAll().split('\n'))
            if (line.startsWith("VmHWM:"))
                return line.mid(6).trimmed().split(' ').first().toDouble() / 1024;
    return 0;
}

/// Of a process, in ticks of the system's clock.
double processor_time(qint64 pid) {
    QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const auto fields = file.readAll().split(')').last().split(' ');
    return fields.value(12).toDouble() + fields.value(13).toDouble(); // utime, stime
}

qint64 child_of(qint64 pid) {
    for (const QString& task :
         QDir(QStringLiteral("/proc/%1/task").arg(pid)).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        if (QFile file(QStringLiteral("/proc/%1/task/%2/children").arg(pid).arg(task)); file.open(QIODevice::ReadOnly))
            if (const qint64 child = file.readAll().trimmed().split(' ').first().toLongLong())
                return child;
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_attach RUN_DIR\n");
        return 2;
    }
    const QString path = QFileInfo(QString::fromLocal8Bit(argv[1])).absoluteFilePath();
    MainWindow::Options options;
    options.engine = QStringLiteral(ESPALIER_TRAIN);
    options.engine_arguments = QStringList{QStringLiteral("serve"), QStringLiteral("--runs"), QFileInfo(path).path()};
    MainWindow window(options);
    window.resize(1280, 720);
    window.show();
    const auto wait_until = [&](auto&& condition) {
        while (!condition())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, 10);
    };
    QElapsedTimer clock;
    clock.start();
    // greeted, and its questions about presets answered: serve has nothing to do any more
    double work = -1;
    for (qint64 at = 1000; processor_time(child_of(QApplication::applicationPid())) != work; at += 1000) {
        work = processor_time(child_of(QApplication::applicationPid()));
        wait_until([&] { return clock.elapsed() > at; });
    }

    double gap = 0, busy = 0, reached = 0, computed = thread_ms();
    QElapsedTimer since;
    QTimer watchdog;
    watchdog.setTimerType(Qt::PreciseTimer);
    QObject::connect(&watchdog, &QTimer::timeout, &app, [&] {
        gap = std::max(gap, static_cast<double>(since.nsecsElapsed()) / 1e6);
        busy = std::max(busy, thread_ms() - computed);
        computed = thread_ms();
        since.restart();
    });
    PaintWatch watch(*window.run_page()->plots());
    bool overview = false, loaded = false;
    QObject::connect(window.runs(), &RunStore::overview_came, &app, [&] {
        overview = true;
        reached = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        watch.restart();
    });
    QObject::connect(window.runs(), &RunStore::loaded, &app, [&] { loaded = true; });
    const auto seconds = [&] { return static_cast<double>(clock.nsecsElapsed()) / 1e9; };

    clock.restart();
    since.start();
    watchdog.start(1);
    window.show_run(path);
    wait_until([&] { return overview || loaded; });
    if (overview) {
        wait_until([&] { return watch.all_painted(); });
        std::printf("request to all plots painted: %.3f s (the overview came at %.0f ms)\n", seconds(), reached);
    }
    wait_until([&] { return loaded; });
    watch.restart();
    wait_until([&] { return watch.all_painted(); });
    const RunModel& run = *window.run_page()->run();
    std::printf("request to every step painted: %.3f s (%zu steps, %zu lines of log)\n", seconds(), run.loss.raw.size(),
                run.log().size());
    const double end = seconds() + 1; // the log is still being written
    wait_until([&] { return seconds() > end; });
    std::printf("the window's thread stood still for %.1f ms at worst, and computed for %.1f ms at worst\n", gap, busy);
    std::printf("processor time: window's thread %.2f s, all its threads %.2f s\n", thread_ms() / 1e3,
                static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    std::printf("peak memory: window %.0f MiB, serve %.0f MiB\n", peak_mib(QApplication::applicationPid()),
                peak_mib(child_of(QApplication::applicationPid())));
    return 0;
}
