// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace espalier {

/// What the window speaks. Its sources are English; resources/translations has the rest.
enum class Language { system, english, chinese };

/// As the settings have it: "system", "en", "zh_CN". What is not known is `system`.
[[nodiscard]] QString name_of(Language language);
[[nodiscard]] Language language_named(const QString& name);

/// The first of a user's languages ("zh-Hans-CN", "en-GB": the most wanted first) that the window speaks; else English.
[[nodiscard]] Language spoken_of(const QStringList& wanted);

/// The one of these families that a Chinese window is set in; none if none of them is known to be made for that.
[[nodiscard]] QString chinese_family_of(const QStringList& families);

/// Translates Espalier's texts and Qt's own from here on, in place of what was installed before, and takes a font that
/// has the language's signs. Widgets keep the words they were made with: this comes before the first of them.
void install_language(Language language);

} // namespace espalier
