// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plot_ticker.h"

namespace espalier {

/// Ticks of a logarithmic axis, few enough that their numbers keep clear of each other: powers of ten (in each unit of
/// bytes), between them 3, or 2 and 5, or more where the axis is short.
class LogarithmicTicker : public PlotTicker {
public:
    using PlotTicker::PlotTicker;
    void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision, QVector<double>& ticks,
                  QVector<double>* sub_ticks, QVector<QString>* labels) override;

private:
    [[nodiscard]] QVector<double> places(const QCPRange& range) const;
};

} // namespace espalier
