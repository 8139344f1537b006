// SPDX-License-Identifier: GPL-3.0-or-later
// Time to take in and draw the four plots of a run with 1,000,000 steps, as the window does it, at 1280x720 and pen
// width 1.5; and how long the window's thread stands still while 20 lines a second of 5,000 values each arrive.
#include "main_window.h"
#include "plot_group.h"
#include "run_page.h"
#include "watchdog.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

using namespace espalier;

namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Milliseconds of one redraw of all plots, and of the slowest one.
std::pair<double, double> redraw(PlotGroup& plots, int times) {
    std::vector<double> ms;
    for (int i = 0; i < times; ++i) {
        QElapsedTimer clock;
        clock.start();
        for (LivePlot* plot : {plots.loss(), plots.accuracy(), plots.memory(), plots.gflops()})
            plot->refresh(true);
        ms.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    return {median(ms), *std::max_element(ms.begin(), ms.end())};
}

void fill(RunModel& run, std::int64_t steps) {
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 0.1F);
    std::vector<float> loss, accuracy, rate, seconds(static_cast<std::size_t>(steps), 0.03F);
    for (std::int64_t i = 0; i < steps; ++i) {
        const float fall = std::exp(-4.0F * static_cast<float>(i) / static_cast<float>(steps));
        loss.push_back(0.4F + 2 * fall + noise(random));
        accuracy.push_back(0.9F - 0.8F * fall + 0.3F * noise(random));
        rate.push_back(9000 + 500 * noise(random));
    }
    RunEvent event;
    event.type = "steps";
    event.step = 1;
    event.loss = loss;
    event.accuracy = accuracy;
    event.seconds = seconds;
    run.apply(event);
    run.gflops.append(1, rate.data(), rate.size());
    for (std::size_t part = 0; part < run.memory.size(); ++part) {
        std::vector<float> bytes(static_cast<std::size_t>(steps), 1e9F * static_cast<float>(part + 1));
        run.memory[part].append(1, bytes.data(), bytes.size());
    }
}

} // namespace

int main(int argc, char** argv) {
    Application app(argc, argv);
    MainWindow::Options options;
    options.engine = QStringLiteral(FAKE_SERVE);
    options.engine_arguments = QStringList{QStringLiteral("--flood")};
    MainWindow window(options);
    window.resize(1280, 720);
    window.show();
    std::printf("platform %s, Qt %s, pixel ratio %.2f\n", qPrintable(QGuiApplication::platformName()), qVersion(),
                window.devicePixelRatioF());
    {
        RunModel run(QStringLiteral("bench"));
        QElapsedTimer clock;
        clock.start();
        fill(run, 1000000);
        std::printf("1,000,000 steps into all series (9 million values): %.0f ms\n",
                    static_cast<double>(clock.nsecsElapsed()) / 1e6);
        window.run_page()->show_run(&run);
        window.show_page(window.run_page());
        QApplication::processEvents();
        PlotGroup& plots = *window.run_page()->plots();
        plots.set_progress(1e6, 1e6);
        const auto [middle, worst] = redraw(plots, 60);
        std::printf("4 plots of 1,000,000 steps (%d x %d pixels each), whole run: %.1f ms (slowest %.1f)\n",
                    plots.loss()->plot_area().width(), plots.loss()->plot_area().height(), middle, worst);
        for (const double share : {0.1, 0.001}) {
            Q_EMIT plots.loss()->range_requested(5e5, 5e5 + 1e6 * share);
            const auto [zoomed, slowest] = redraw(plots, 60);
            std::printf("4 plots, %g of it in view: %.1f ms (slowest %.1f)\n", share, zoomed, slowest);
        }
        window.run_page()->show_run(nullptr);
    }
    // the flood: a timer of 1 ms that sees how late it is
    window.runs()->start(Json{{"preset", "quick"}}, {});
    std::vector<double> gaps;
    QElapsedTimer since, whole;
    QTimer watchdog;
    watchdog.setTimerType(Qt::PreciseTimer);
    QObject::connect(&watchdog, &QTimer::timeout, &app, [&] {
        gaps.push_back(static_cast<double>(since.nsecsElapsed()) / 1e6);
        since.restart();
    });
    whole.start();
    since.start();
    watchdog.start(1);
    const Watchdog turns;
    while (whole.elapsed() < 8000)
        QApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
    std::sort(gaps.begin(), gaps.end());
    const RunModel* run = window.run_page()->run();
    std::printf("flood: %lld steps in %.1f s; the window's thread stood still for %.1f ms at worst, %.1f ms in 99 of "
                "100 cases\n",
                run ? static_cast<long long>(run->step()) : 0LL, static_cast<double>(whole.elapsed()) / 1000,
                gaps.back(), gaps[gaps.size() * 99 / 100]);
    std::printf("       its busiest turn took %.1f ms of the processor (limit %.0f)\n", turns.busiest_ms(),
                Watchdog::busy_limit_ms);
    return 0;
}
