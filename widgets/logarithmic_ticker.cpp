// SPDX-License-Identifier: GPL-3.0-or-later
#include "logarithmic_ticker.h"

#include <cmath>
#include <vector>

namespace espalier {

namespace {

/// The powers of ten from `low` to `high`; of bytes 1, 10 and 100 of each unit, as they are said.
std::vector<double> powers(double low, double high, bool bytes) {
    std::vector<double> found;
    if (!bytes) {
        for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power)
            found.push_back(std::pow(10, power));
        return found;
    }
    for (double unit = 1; unit <= high && found.size() < 30; unit *= 1024)
        for (const double power : {1.0, 10.0, 100.0})
            if (unit * power * 10 > low && unit * power <= high)
                found.push_back(unit * power);
    return found;
}

} // namespace

QVector<double> LogarithmicTicker::places(const QCPRange& range) const {
    const auto found = powers(range.lower, range.upper, measure() == Measure::bytes);
    const auto within = [&](const std::vector<double>& digits, std::size_t stride) {
        QVector<double> ticks;
        for (std::size_t i = 0; i < found.size(); i += stride)
            for (const double digit : digits)
                if (const double tick = digit * found[i];
                    tick >= range.lower * (1 - 1e-9) && tick <= range.upper * (1 + 1e-9))
                    ticks.append(tick);
        return ticks;
    };
    const qsizetype most_ticks = 2 * (tickCount() - 1); // at uneven distances
    for (const std::vector<double>& digits : {std::vector{1.0, 2.0, 3.0, 5.0}, {1.0, 2.0, 5.0}, {1.0, 3.0}})
        if (auto ticks = within(digits, 1); ticks.size() <= most_ticks)
            return ticks;
    std::size_t stride = 1;
    while (within({1}, stride).size() > most_ticks)
        ++stride;
    return within({1}, stride);
}

void LogarithmicTicker::generate(const QCPRange& range, const QLocale& locale, QChar format, int precision,
                                 QVector<double>& ticks, QVector<double>* sub_ticks, QVector<QString>* labels) {
    ticks = range.lower > 0 ? places(range) : QVector<double>();
    if (ticks.size() < 2) // hardly any of a decade
        return PlotTicker::generate(range, locale, format, precision, ticks, sub_ticks, labels);
    if (sub_ticks)
        sub_ticks->clear();
    if (!labels)
        return;
    labels->clear();
    for (const double tick : ticks)
        labels->append(label(tick, tick, unit(tick), true));
}

} // namespace espalier
