// SPDX-License-Identifier: GPL-3.0-or-later
#include "color.h"

#include "theme.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr double least_contrast = 4.5; ///< of text (WCAG 2.1, AA)
constexpr double ground_step = 0.02;

/// Relative luminance (WCAG 2.1).
double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

} // namespace

QColor mixed(const QColor& over, const QColor& under, double share) {
    const auto channel = [share](double a, double b) { return static_cast<float>(a * share + b * (1 - share)); };
    return QColor::fromRgbF(channel(over.redF(), under.redF()), channel(over.greenF(), under.greenF()),
                            channel(over.blueF(), under.blueF()));
}

double contrast(const QColor& one, const QColor& other) {
    const double a = luminance(one), b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

Legible legible(const QColor& ground) {
    const Theme& theme = Theme::instance();
    const QColor text = theme.color(Role::text), other = theme.color(Role::on_accent);
    const QColor ink = contrast(text, ground) >= contrast(other, ground) ? text : other;
    const QColor away = luminance(ink) > luminance(ground) ? Qt::black : Qt::white;
    QColor result = ground;
    for (double share = ground_step; contrast(ink, result) < least_contrast && share < 1; share += ground_step)
        result = mixed(away, ground, share);
    return {result, ink};
}

} // namespace espalier
