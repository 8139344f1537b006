// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_ticker.h"

#include "format.h"

#include <array>
#include <cmath>

namespace espalier {

namespace {

/// 1024^k or 1000^k, the largest at or below `value`, and its suffix.
struct Unit {
    double size = 1;
    QString suffix;
};

Unit unit_of(double value, Measure measure) {
    constexpr std::array<const char*, 5> bytes = {" B", " KB", " MB", " GB", " TB"};
    constexpr std::array<const char*, 5> counts = {"", " k", " M", " G", " T"};
    const double base = measure == Measure::bytes ? 1024 : 1000;
    const double most = measure == Measure::bytes ? 900 : 1000; // "1000 MB" would not fit beside the axis, "1 GB" does
    Unit unit;
    std::size_t index = 0;
    while (std::abs(value) >= unit.size * most && index + 1 < counts.size()) {
        unit.size *= base;
        ++index;
    }
    unit.suffix = QLatin1String(measure == Measure::bytes ? bytes[index] : counts[index]);
    return unit;
}

double nice(double value) {
    if (!(value > 0))
        return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0})
        if (value <= step * power * (1 + 1e-9))
            return step * power;
    return 10 * power;
}

/// "1.5E+05" as "1.5e5": the room beside an axis is small.
QString with_short_power(const QString& number) {
    const qsizetype power = number.indexOf(QLatin1Char('E'), 0, Qt::CaseInsensitive);
    return power < 0 ? number : number.first(power) + QStringLiteral("e%1").arg(number.sliced(power + 1).toInt());
}

} // namespace

double round_up(double value, Measure measure) {
    if (measure != Measure::bytes)
        return nice(value);
    const double unit = unit_of(value, measure).size;
    return nice(value / unit) * unit;
}

double PlotTicker::unit(double largest) const {
    return measure_ == Measure::bytes ? unit_of(largest, measure_).size : 1;
}

double PlotTicker::getTickStep(const QCPRange& range) {
    const double scale = unit(std::max(std::abs(range.lower), std::abs(range.upper)));
    const double wanted = range.size() / scale / std::max(tickCount(), 1);
    if (measure_ == Measure::time) { // round in seconds, minutes, hours
        for (const double step :
             {1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600., 7200., 14400., 21600., 43200.})
            if (wanted <= step)
                return step;
        return std::ceil(wanted / 86400) * 86400;
    }
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double step : {1.0, 2.0, 2.5, 3.0, 5.0, 10.0}) {
        const double found = step * power;
        const bool whole = (measure_ != Measure::step && measure_ != Measure::epoch) || found == std::floor(found);
        if (wanted <= found * (1 + 1e-9) && whole)
            return found * scale;
    }
    return std::max(10 * power, 1.0) * scale;
}

QString PlotTicker::label(double tick, double step, double unit, bool with_unit) const {
    switch (measure_) {
    case Measure::percent:
        return format_number(tick * 100, 4) + (with_unit ? QStringLiteral(" %") : QString());
    case Measure::bytes:
        return format_number(tick / unit, 4) + (with_unit ? unit_of(unit, measure_).suffix : QString());
    case Measure::count:
    case Measure::step: {
        const Unit own = unit_of(tick, measure_);
        return format_number(tick / own.size, 4) + own.suffix;
    }
    case Measure::time: {
        const auto seconds = static_cast<qint64>(std::llround(tick));
        if (step >= 3600)
            return QStringLiteral("%1 h").arg(seconds / 3600);
        if (step >= 60 && seconds >= 3600)
            return QStringLiteral("%1:%2 h").arg(seconds / 3600).arg(seconds / 60 % 60, 2, 10, QLatin1Char('0'));
        return QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
    }
    case Measure::plain: {
        const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
        if (tick == 0)
            return QStringLiteral("0");
        if (std::abs(tick) < 1e-3 || std::abs(tick) >= 1e5)
            return with_short_power(format_number(tick, 2));
        const bool half = std::abs(step * std::pow(10, decimals) - std::round(step * std::pow(10, decimals))) > 1e-6;
        return screen_locale().toString(tick, 'f', decimals + (half ? 1 : 0));
    }
    case Measure::epoch:
        break;
    }
    return format_number(tick, 6);
}

void PlotTicker::generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks,
                          QVector<double>* sub_ticks, QVector<QString>* labels) {
    if (sub_ticks)
        sub_ticks->clear();
    const double step = getTickStep(range);
    ticks.clear();
    for (double tick = std::ceil(range.lower / step - 1e-6) * step;
         tick <= range.upper + step * 1e-6 && ticks.size() < 100; tick += step)
        ticks.append(std::abs(tick) < step * 1e-6 ? 0 : tick);
    if (!labels)
        return;
    labels->clear();
    const double scale = unit(std::max(std::abs(range.lower), std::abs(range.upper))); // the step is round in it
    for (qsizetype i = 0; i < ticks.size(); ++i)
        labels->append(label(ticks[i], step, scale, i + 1 == ticks.size()));
}

} // namespace espalier
