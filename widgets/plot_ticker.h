// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace espalier {

/// What an axis measures, which decides where its ticks are round and what stands beside them.
enum class Measure { plain, percent, bytes, count, step, epoch, time };

/// Few, round ticks; the unit stands at the topmost one alone ("24 GB", "18", "12", ...).
class PlotTicker : public QCPAxisTicker {
public:
    explicit PlotTicker(Measure measure) : measure_(measure) {}
    void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision, QVector<double>& ticks,
                  QVector<double>* sub_ticks, QVector<QString>* labels) override;

protected:
    double getTickStep(const QCPRange& range) override;
    [[nodiscard]] Measure measure() const { return measure_; }
    [[nodiscard]] double unit(double largest) const;
    /// As exact as the distance to the next tick asks for.
    [[nodiscard]] QString label(double tick, double step, double unit, bool with_unit) const;

private:
    Measure measure_;
};

/// The smallest round number at or above `value` (1, 2, 3, 4, 6, 8: those that end on a tick, times a power of ten, or of 1024 for
/// bytes).
[[nodiscard]] double round_up(double value, Measure measure);

} // namespace espalier
