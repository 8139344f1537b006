// SPDX-License-Identifier: GPL-3.0-or-later
#include "language.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontInfo>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>
#include <array>
#include <memory>

namespace espalier {

namespace {

constexpr std::array<const char*, 3> names = {"system", "en", "zh_CN"};

void install(const QString& file, const QString& folder) {
    auto translator = std::make_unique<QTranslator>(QCoreApplication::instance());
    // Qt's own may not be installed; its dialogs then stay English.
    if (translator->load(file, folder) && QCoreApplication::installTranslator(translator.get()))
        (void)translator.release(); // the application's child
}

/// Where the desktop's font has no Chinese signs, each text would be put together from two fonts: lines of two heights,
/// and signs in the shape that another country gives them.
void take_chinese_font() {
    QFont font = QApplication::font();
    const QString family = QFontInfo(font).family();
    if (QFontDatabase::writingSystems(family).contains(QFontDatabase::SimplifiedChinese))
        return;
    if (const QString chinese = chinese_family_of(QFontDatabase::families(QFontDatabase::SimplifiedChinese));
        !chinese.isEmpty()) {
        font.setFamilies({chinese, family});
        QApplication::setFont(font);
    }
}

} // namespace

QString chinese_family_of(const QStringList& families) {
    for (const char* made_for_it :
         {"Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Microsoft YaHei UI",
          "Microsoft YaHei", "PingFang SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei"})
        if (families.contains(QLatin1String(made_for_it)))
            return QLatin1String(made_for_it);
    return {};
}

QString name_of(Language language) { return QLatin1String(names[static_cast<std::size_t>(language)]); }

Language language_named(const QString& name) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == QLatin1String(names[i]))
            return static_cast<Language>(i);
    return Language::system;
}

Language spoken_of(const QStringList& wanted) {
    for (const QString& name : wanted) {
        const QLocale locale(name);
        if (locale.language() == QLocale::English)
            return Language::english;
        if (locale.language() == QLocale::Chinese && locale.script() == QLocale::SimplifiedHanScript)
            return Language::chinese;
    }
    return Language::english;
}

void install_language(Language language) {
    for (QTranslator* before : QCoreApplication::instance()->findChildren<QTranslator*>()) {
        QCoreApplication::removeTranslator(before);
        delete before;
    }
    if (language == Language::system)
        language = spoken_of(QLocale::system().uiLanguages());
    if (language == Language::english)
        return;
    install(QStringLiteral("qtbase_") + name_of(language), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    install(QStringLiteral("espalier_") + name_of(language), QStringLiteral(":/translations"));
    if (language == Language::chinese)
        take_chinese_font();
}

} // namespace espalier
