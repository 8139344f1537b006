// SPDX-License-Identifier: GPL-3.0-or-later
#include "number_text.h"

#include <QRegularExpression>
#include <cmath>

namespace espalier {

namespace {

constexpr QChar arabic_point(0x066B), arabic_thousands(0x066C), minus_sign(0x2212), right_quote(0x2019);

/// Digits, signs and separators of all scripts as ASCII knows them; each kind of blank and apostrophe as one blank.
QString plain(const QString& text) {
    QString result;
    for (const QChar c : text.trimmed()) {
        if (c.isDigit())
            result += QLatin1Char(static_cast<char>('0' + c.digitValue()));
        else if (c.isSpace() || c == QLatin1Char('\'') || c == right_quote || c == arabic_thousands)
            result += QLatin1Char(' ');
        else if (c == minus_sign)
            result += QLatin1Char('-');
        else if (c.category() != QChar::Other_Format) // marks of direction
            result += c;
    }
    return result;
}

/// The digits without what separates groups of three; nothing if the groups are others.
std::optional<QString> ungrouped(const QString& text, QChar separator) {
    const QStringList groups = text.split(separator);
    for (qsizetype i = 1; i < groups.size(); ++i)
        if (groups[i].size() != 3)
            return std::nullopt;
    const bool signed_ = groups[0].startsWith(QLatin1Char('-')) || groups[0].startsWith(QLatin1Char('+'));
    const qsizetype first = groups[0].size() - (signed_ ? 1 : 0);
    if (groups.size() > 1 && (first < 1 || first > 3))
        return std::nullopt;
    return groups.join(QString());
}

/// Whether the commas stand as those of 12,345 do, and not as in 0,005.
bool is_grouped_by_comma(const QString& digits) {
    static const QRegularExpression groups(QStringLiteral("^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+$"));
    return groups.match(digits).hasMatch();
}

/// The mantissa with a dot for its decimals and nothing between its thousands.
std::optional<QString> plain_mantissa(const QString& text, const QLocale& locale) {
    const qsizetype dots = text.count(QLatin1Char('.')), commas = text.count(QLatin1Char(','));
    const bool comma_is_point = locale.decimalPoint() == QLatin1String(",");
    QChar point; // null: there are no decimals
    if (dots > 0 && commas > 0)
        point = text.lastIndexOf(QLatin1Char('.')) > text.lastIndexOf(QLatin1Char(',')) ? QLatin1Char('.')
                                                                                        : QLatin1Char(',');
    else if (commas > 0 && (comma_is_point || !is_grouped_by_comma(text)))
        point = QLatin1Char(',');
    else if (dots == 1)
        point = QLatin1Char('.');
    if (!point.isNull() && text.count(point) != 1)
        return std::nullopt;
    const QString whole = point.isNull() ? text : text.section(point, 0, 0);
    const QString decimals = point.isNull() ? QString() : text.section(point, 1);
    const QChar separator = whole.contains(QLatin1Char(','))   ? QLatin1Char(',')
                            : whole.contains(QLatin1Char('.')) ? QLatin1Char('.')
                                                               : QLatin1Char(' ');
    const auto digits = ungrouped(whole, separator);
    if (!digits)
        return std::nullopt;
    return point.isNull() ? *digits : *digits + QLatin1Char('.') + decimals;
}

} // namespace

std::optional<qlonglong> read_whole(const QString& text, const QLocale& locale) {
    QString digits = plain(text);
    for (const QString& separator : {locale.groupSeparator(), QStringLiteral(" ")})
        if (separator.size() == 1 && digits.contains(separator)) {
            const auto joined = ungrouped(digits, separator.front());
            if (!joined)
                return std::nullopt;
            digits = *joined;
        }
    static const QRegularExpression whole(QStringLiteral("^[+-]?[0-9]+$"));
    bool good = false;
    const qlonglong number = digits.toLongLong(&good);
    return good && whole.match(digits).hasMatch() ? std::optional(number) : std::nullopt;
}

std::optional<double> read_real(const QString& text, const QLocale& locale) {
    static const QRegularExpression parts(QStringLiteral("^([^eE]+)([eE][+-]?[0-9]+)?$"));
    static const QRegularExpression number(QStringLiteral("^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)$"));
    const auto match = parts.match(plain(text).replace(arabic_point, QLatin1Char('.')));
    const auto mantissa = match.hasMatch() ? plain_mantissa(match.captured(1), locale) : std::nullopt;
    if (!mantissa || !number.match(*mantissa).hasMatch())
        return std::nullopt;
    bool good = false;
    const double value = (*mantissa + match.captured(2)).toDouble(&good); // as in C, whatever the locale
    return good && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

QStringList split_numbers(const QString& text) {
    static const QRegularExpression between(QStringLiteral("\\s*[,;\\x{060C}]\\s*|\\s+"));
    return text.trimmed().split(between);
}

} // namespace espalier
