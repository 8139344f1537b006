// SPDX-License-Identifier: GPL-3.0-or-later
#include "format.h"

#include "words.h"

#include <array>
#include <cmath>

namespace espalier {

QLocale screen_locale() {
    const QLocale locale;
    return locale.language() == QLocale::C ? QLocale(QLocale::English) : locale;
}

namespace {

/// Three significant digits, no trailing zeros behind the point.
QString three_digits(double value) {
    const double size = std::abs(value);
    const int decimals = size >= 100 ? 0 : size >= 10 ? 0 : 1;
    QString text = screen_locale().toString(value, 'f', decimals);
    if (decimals == 1 && text.endsWith(QLatin1Char('0')))
        text.chop(2);
    return text;
}

QString not_finite(double value) {
    return std::isnan(value) ? QStringLiteral("NaN") : value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
}

} // namespace

QString format_count(double value) {
    if (!std::isfinite(value))
        return not_finite(value);
    return screen_locale().toString(value, 'f', std::abs(value) < 10 && value != std::round(value) ? 1 : 0);
}

QString format_short(double value) {
    constexpr std::array<const char*, 5> suffixes = {"", " k", " M", " G", " T"};
    std::size_t index = 0;
    while (std::abs(value) >= 999.5 && index + 1 < suffixes.size()) {
        value /= 1000;
        ++index;
    }
    return three_digits(value) + QLatin1String(suffixes[index]);
}

QString format_bytes(double bytes) {
    constexpr std::array<const char*, 5> units = {" B", " KB", " MB", " GB", " TB"};
    std::size_t index = 0;
    while (std::abs(bytes) >= 1000 && index + 1 < units.size()) {
        bytes /= 1024;
        ++index;
    }
    return screen_locale().toString(bytes, 'f', index >= 3 && bytes < 100 ? 1 : 0) + QLatin1String(units[index]);
}

QString format_percent(double share) {
    if (!std::isfinite(share))
        return not_finite(share);
    // Curves keep shares in single precision, events in double: 0.8765 has to read the same from both.
    const auto tenths = std::round(static_cast<float>(share) * 1000.0F);
    return screen_locale().toString(static_cast<double>(tenths) / 10, 'f', 1) + QStringLiteral(" %");
}

QString format_loss(double value) {
    if (!std::isfinite(value))
        return not_finite(value);
    if (value != 0 && (std::abs(value) < 1e-3 || std::abs(value) >= 1e4))
        return screen_locale().toString(value, 'e', 2);
    return screen_locale().toString(value, 'f', std::abs(value) < 100 ? 3 : 1);
}

QString format_clock(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return QStringLiteral("–");
    const auto whole = static_cast<qint64>(std::llround(seconds));
    return QStringLiteral("%1:%2:%3")
        .arg(whole / 3600)
        .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
        .arg(whole % 60, 2, 10, QLatin1Char('0'));
}

QString format_about(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return QStringLiteral("–");
    if (seconds < 59.5)
        return tr("%1 s").arg(std::max<qint64>(1, std::llround(seconds)));
    const auto minutes = std::llround(seconds / 60);
    if (minutes < 60)
        return tr("%1 min").arg(minutes);
    if (minutes < 48 * 60)
        return tr("%1 h %2").arg(minutes / 60).arg(minutes % 60, 2, 10, QLatin1Char('0'));
    return tr("%1 days").arg(std::llround(seconds / 86400));
}

QString format_number(double value, int digits) {
    return std::isfinite(value) ? screen_locale().toString(value, 'g', digits) : not_finite(value);
}

} // namespace espalier
