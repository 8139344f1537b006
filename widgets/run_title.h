// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDate>
#include <QString>
#include <QTime>

namespace espalier {

/// What a run is called where there is little room. A name that nobody chose is that of its folder and begins with the
/// time ("20261129-185756-train-small"): what it trains stands first then, and when it began is said apart.
struct RunTitle {
    QString text; ///< "train-small"; a chosen name as it is
    QDate day;    ///< on which it began, by the clock of its machine; null where the name was chosen
    QTime time;

    /// "18:57" if that is today, else "11-29", or "2025-11-29" of another year; empty where the name was chosen.
    [[nodiscard]] QString when(const QDate& today = QDate::currentDate()) const;
    /// "2026-11-29 18:57", which every language reads; empty where the name was chosen.
    [[nodiscard]] QString begun() const;
    /// "train-small 18:57"
    [[nodiscard]] QString in_one_line() const;
};

[[nodiscard]] RunTitle run_title(const QString& name);

} // namespace espalier
