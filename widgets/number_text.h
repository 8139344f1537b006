// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLocale>
#include <QString>
#include <QStringList>
#include <optional>

namespace espalier {

/// Numbers as people type them, in any locale: digits of any script, thousands in groups of three (by the locale's
/// separator, blanks or apostrophes). What could be meant in two ways is nothing; it is never another number.

/// 1200, "1,200" in English, "1.200" in German, "1 200" anywhere.
[[nodiscard]] std::optional<qlonglong> read_whole(const QString& text, const QLocale& locale);
/// 0.05 and 1e-3 as configurations write them, and "0,05" with a comma. A comma between groups of three ("1,000") is
/// the locale's: a thousand in English, one in German. A dot alone is the decimal point everywhere.
[[nodiscard]] std::optional<double> read_real(const QString& text, const QLocale& locale);
/// The numbers of a list, commas, semicolons or blanks between them.
[[nodiscard]] QStringList split_numbers(const QString& text);

} // namespace espalier
