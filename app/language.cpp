// SPDX-License-Identifier: GPL-3.0-or-later
#include "language.h"

#include <QCoreApplication>
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

} // namespace

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
}

} // namespace espalier
