// SPDX-License-Identifier: GPL-3.0-or-later
#include "settings.h"

#include "words.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>
#include <array>

namespace espalier {

namespace {

constexpr std::array<const char*, 3> theme_names = {"system", "light", "dark"};

/// A sentence: where the damaged file is kept, beside itself. Empty space before it, for it follows another one.
QString kept_aside(const QString& path) {
    const QString aside = path + QStringLiteral(".damaged");
    QFile::remove(aside);
    return QLatin1Char(' ') + (QFile::copy(path, aside) ? tr("The damaged file is kept as %1.").arg(aside)
                                                        : tr("The damaged file could not be kept as %1.").arg(aside));
}

} // namespace

QString Settings::default_file() {
    return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + QStringLiteral("/settings.json");
}

Settings Settings::load(const QString& path, QString* problem) {
    Settings settings;
    QFile file(path);
    if (!file.exists())
        return settings;
    QJsonParseError error;
    QJsonObject object;
    if (file.open(QIODevice::ReadOnly))
        object = QJsonDocument::fromJson(file.readAll(), &error).object();
    if (!object.contains(QStringLiteral("version"))) {
        file.close();
        const QString kept = kept_aside(path);
        QFile::remove(path);
        if (problem)
            *problem = espalier::tr("The settings could not be read and start anew.") + kept;
        return settings;
    }
    const QString theme = object[QStringLiteral("theme")].toString();
    for (std::size_t i = 0; i < theme_names.size(); ++i)
        if (theme == QLatin1String(theme_names[i]))
            settings.theme = static_cast<Theme::Mode>(i);
    settings.language = language_named(object[QStringLiteral("language")].toString());
    if (const auto place = QByteArray::fromBase64Encoding(object[QStringLiteral("geometry")].toString().toLatin1(),
                                                          QByteArray::AbortOnBase64DecodingErrors))
        settings.geometry = *place;
    else if (problem)
        *problem = settings.forget_place(path);
    settings.last_run = object[QStringLiteral("last_run")].toString();
    settings.safe_mode = object[QStringLiteral("safe_mode")].toBool();
    settings.machine = object[QStringLiteral("machine")].toString();
    for (const QJsonValue& item : object[QStringLiteral("machines")].toArray())
        if (const MachineSpec machine = machine_from_json(item.toObject());
            !machine.is_here() && problem_of(machine).isEmpty())
            settings.machines.push_back(machine);
    const QJsonObject devices = object[QStringLiteral("devices")].toObject();
    for (auto it = devices.begin(); it != devices.end(); ++it)
        if (const QString device = it.value().toString(); !device.isEmpty())
            settings.devices[it.key()] = device;
    return settings;
}

Language Settings::language_in(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Language::system;
    return language_named(QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("language")].toString());
}

bool Settings::is_place(const QByteArray& geometry) {
    constexpr int least_size = 46; // of the first version, whose fields later ones keep
    return geometry.size() >= least_size && geometry.startsWith(QByteArray::fromHex("01d9d0cb"));
}

QString Settings::forget_place(const QString& path) {
    geometry.clear();
    return espalier::tr("The window's place could not be read from the settings and starts anew.") + kept_aside(path);
}

QString Settings::save(const QString& path) const {
    QDir().mkpath(QFileInfo(path).path());
    QSaveFile file(path);
    QJsonArray list;
    for (const MachineSpec& spec : machines)
        list.append(to_json(spec));
    QJsonObject chosen;
    for (const auto& [id, device] : devices)
        chosen[id] = device;
    const QJsonObject object{{QStringLiteral("machines"), list},
                             {QStringLiteral("machine"), machine},
                             {QStringLiteral("devices"), chosen},
                             {QStringLiteral("version"), version},
                             {QStringLiteral("theme"), QLatin1String(theme_names[static_cast<std::size_t>(theme)])},
                             {QStringLiteral("language"), name_of(language)},
                             {QStringLiteral("geometry"), QString::fromLatin1(geometry.toBase64())},
                             {QStringLiteral("last_run"), last_run},
                             {QStringLiteral("safe_mode"), safe_mode}};
    if (!file.open(QIODevice::WriteOnly) || file.write(QJsonDocument(object).toJson()) < 0 || !file.commit())
        return espalier::tr("The settings could not be written to %1: %2").arg(path, file.errorString());
    return {};
}

} // namespace espalier
