// SPDX-License-Identifier: GPL-3.0-or-later
// Time from the start of the process to the first painted window:   bench_start PROGRAM [TIMES]
// It starts the program with ESPALIER_TIME_TO_WINDOW set, upon which it prints the milliseconds and ends.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "bench_start PROGRAM [TIMES]\n");
        return 2;
    }
    const int times = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
    std::vector<qint64> ms;
    for (int i = 0; i < times; ++i) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("ESPALIER_TIME_TO_WINDOW"), QStringLiteral("1"));
        process.setProcessEnvironment(environment);
        QElapsedTimer clock;
        clock.start();
        process.start(QString::fromLocal8Bit(argv[1]), {});
        if (!process.waitForReadyRead(20000)) {
            std::fprintf(stderr, "%s said nothing within 20 s\n", argv[1]);
            return 1;
        }
        ms.push_back(clock.elapsed());
        process.waitForFinished(5000);
    }
    std::sort(ms.begin(), ms.end());
    std::printf("start to painted window: median %lld ms, fastest %lld, slowest %lld (%d starts)\n",
                static_cast<long long>(ms[ms.size() / 2]), static_cast<long long>(ms.front()),
                static_cast<long long>(ms.back()), times);
    return 0;
}
