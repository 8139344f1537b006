// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint_words.h"

#include "format.h"
#include "words.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr double day = 24 * 60 * 60; // seconds
} // namespace

QString checkpoint_words(const RunModel& run, double now) {
    if (!run.checkpoint())
        return tr("No checkpoint has been written yet.");
    const RunModel::Checkpoint& last = *run.checkpoint();
    const QString epoch = format_count(std::max(1.0, std::ceil(last.epoch - 1e-9)));
    const QString step = format_count(static_cast<double>(last.step));
    const double age = std::max(0.0, now - last.time); // clocks of two machines may differ
    if (age < day)
        return tr("The last checkpoint is of epoch %1 (step %2), %3 ago.").arg(epoch, step, format_about(age));
    const auto written = QDateTime::fromSecsSinceEpoch(static_cast<qint64>(last.time));
    return tr("The last checkpoint is of epoch %1 (step %2), written on %3.")
        .arg(epoch, step, written.toString(QStringLiteral("yyyy-MM-dd HH:mm"))); // which every language reads
}

} // namespace espalier
