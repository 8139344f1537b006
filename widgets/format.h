// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLocale>
#include <QString>

namespace espalier {

/// The locale of numbers on the screen: the user's, or English where there is none, so that thousands are always
/// grouped.
[[nodiscard]] QLocale screen_locale();

[[nodiscard]] QString format_count(double value);   ///< 9,120
[[nodiscard]] QString format_short(double value);   ///< 78 k, 2.8 M, 11 M: three digits at most
[[nodiscard]] QString format_bytes(double bytes);   ///< 7.4 GB, 812 MB (powers of 1024)
[[nodiscard]] QString format_percent(double share); ///< 88.3 %
[[nodiscard]] QString format_loss(double value);    ///< 0.412; "NaN" and "∞" as they are
[[nodiscard]] QString format_clock(double seconds); ///< 0:12:40
[[nodiscard]] QString format_about(double seconds); ///< 40 s, 3 min, 1 h 10
[[nodiscard]] QString
format_number(double value, int digits); ///< as short as it goes without losing what `digits` significant ones say

} // namespace espalier
