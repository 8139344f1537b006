// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_title.h"

#include <QRegularExpression>

namespace espalier {

RunTitle run_title(const QString& name) {
    static const QRegularExpression automatic(QStringLiteral("^([0-9]{8})-([0-9]{6})-(.+)$"));
    const auto parts = automatic.match(name);
    if (!parts.hasMatch())
        return {name, {}, {}};
    const QDate day = QDate::fromString(parts.captured(1), QStringLiteral("yyyyMMdd"));
    const QTime time = QTime::fromString(parts.captured(2), QStringLiteral("HHmmss"));
    if (!day.isValid() || !time.isValid())
        return {name, {}, {}};
    return {parts.captured(3), day, time};
}

QString RunTitle::when(const QDate& today) const {
    if (day.isNull())
        return {};
    if (day == today)
        return time.toString(QStringLiteral("HH:mm"));
    return day.toString(day.year() == today.year() ? QStringLiteral("MM-dd") : QStringLiteral("yyyy-MM-dd"));
}

QString RunTitle::begun() const {
    return day.isNull() ? QString()
                        : day.toString(QStringLiteral("yyyy-MM-dd ")) + time.toString(QStringLiteral("HH:mm"));
}

QString RunTitle::in_one_line() const {
    const QString then = when();
    return then.isEmpty() ? text : text + QLatin1Char(' ') + then;
}

} // namespace espalier
