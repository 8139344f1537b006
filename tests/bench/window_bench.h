// SPDX-License-Identifier: GPL-3.0-or-later
// What the benchmarks of the window share: the whole window over the real `espalier-train serve`, what is painted of
// its plots, and what its processes use.
#pragma once

#include "main_window.h"
#include "plot_group.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QPaintEvent>
#include <set>

namespace espalier::bench {

/// Sees when each of the plots has been painted.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(const PlotGroup& plots) {
        for (LivePlot* plot : plots.plots())
            for (auto* child : plot->findChildren<QWidget*>())
                if (child->inherits("QCustomPlot"))
                    child->installEventFilter(this);
        plots_ = plots.plots().size();
    }
    void restart() { painted_.clear(); }
    [[nodiscard]] bool all_painted() const { return painted_.size() == plots_; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            painted_.insert(watched);
        return false;
    }

private:
    std::set<QObject*> painted_;
    std::size_t plots_ = 0;
};

/// A field of a process's status that is a memory size: "VmRSS" (now), "VmHWM" (its peak).
inline double memory_mib(const char* field, qint64 pid = QCoreApplication::applicationPid()) {
    QFile file(QStringLiteral("/proc/%1/status").arg(pid));
    if (file.open(QIODevice::ReadOnly))
        for (const QByteArray& line : file.readAll().split('\n'))
            if (line.startsWith(QByteArray(field) + ':'))
                return line.mid(line.indexOf(':') + 1).trimmed().split(' ').first().toDouble() / 1024;
    return 0;
}

inline QList<qint64> children_of(qint64 pid) {
    QList<qint64> children;
    for (const QString& task :
         QDir(QStringLiteral("/proc/%1/task").arg(pid)).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        if (QFile file(QStringLiteral("/proc/%1/task/%2/children").arg(pid).arg(task)); file.open(QIODevice::ReadOnly))
            for (const QByteArray& child : file.readAll().simplified().split(' '))
                if (const qint64 id = child.toLongLong())
                    children.append(id);
    return children;
}

/// Of a process and all below it, in ticks of the system's clock.
inline double processor_time(qint64 pid) {
    double ticks = 0;
    if (QFile file(QStringLiteral("/proc/%1/stat").arg(pid)); file.open(QIODevice::ReadOnly)) {
        const auto fields = file.readAll().split(')').last().split(' ');
        ticks = fields.value(12).toDouble() + fields.value(13).toDouble(); // utime, stime
    }
    for (const qint64 child : children_of(pid))
        ticks += processor_time(child);
    return ticks;
}

/// The window over the runs of a folder, at 1280x720, greeted and idle.
class BenchWindow {
public:
    explicit BenchWindow(const QString& runs) : window_(options(runs)) {
        window_.resize(1280, 720);
        window_.show();
        clock_.start();
        // its questions about devices, presets and runs are answered once nobody below it works any more
        double work = -1;
        for (qint64 at = 1000; serve() == 0 || processor_time(serve()) != work; at += 1000) {
            work = serve() == 0 ? -1 : processor_time(serve());
            wait_until([&] { return clock_.elapsed() > at; });
        }
    }

    [[nodiscard]] MainWindow& window() { return window_; }
    MainWindow* operator->() { return &window_; }
    [[nodiscard]] QStringList runs() const { ///< the paths of all that are in the list
        QStringList paths;
        for (const RunEntry& run : window_.runs()->runs())
            paths.append(run.id);
        return paths;
    }
    [[nodiscard]] static qint64 serve() { return children_of(QCoreApplication::applicationPid()).value(0); }

    template <typename Condition>
    static void wait_until(Condition&& condition) {
        while (!condition())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents); // the window's tick wakes it, if nothing else
    }
    static void wait_seconds(double seconds) {
        QElapsedTimer clock;
        clock.start();
        wait_until([&] { return static_cast<double>(clock.elapsed()) > seconds * 1e3; });
    }

private:
    static MainWindow::Options options(const QString& runs) {
        MainWindow::Options options;
        options.engine = QStringLiteral(ESPALIER_TRAIN);
        options.engine_arguments = QStringList{QStringLiteral("serve"), QStringLiteral("--runs"), runs};
        return options;
    }

    MainWindow window_;
    QElapsedTimer clock_;
};

} // namespace espalier::bench
