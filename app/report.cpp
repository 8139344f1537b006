// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include "format.h"
#include "json_convert.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QSysInfo>

namespace espalier {

namespace {

constexpr std::size_t log_lines = 60;

QString quoted(const QString& text) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:,=+-]+$"));
    return plain.match(text).hasMatch()
               ? text
               : QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QStringLiteral("'\\''")) +
                     QLatin1Char('\'');
}

/// {"optimizer": {"learning_rate": 0.05}} as --set optimizer.learning_rate=0.05
void add_settings(QStringList& words, const Json& object, const QString& prefix) {
    for (const auto& [key, value] : object.items()) {
        const QString path = prefix + to_qstring(key);
        if (path == u"preset" || path == u"data" || path == u"name")
            continue;
        if (value.is_object())
            add_settings(words, value, path + QLatin1Char('.'));
        else
            words << QStringLiteral("--set")
                  << quoted(path + QLatin1Char('=') +
                            (value.is_string() ? to_qstring(value.get<std::string>()) : to_qstring(value.dump())));
    }
}

} // namespace

QString command_line(const Json& config) {
    QStringList words{QStringLiteral("espalier-train"), QStringLiteral("run")};
    if (const QString preset = text_at(config, "preset"); !preset.isEmpty())
        words << QStringLiteral("--preset") << quoted(preset);
    if (const QString data = text_at(config, "data"); !data.isEmpty())
        words << QStringLiteral("--data") << quoted(data);
    if (const QString name = text_at(config, "name"); !name.isEmpty())
        words << QStringLiteral("--name") << quoted(name);
    add_settings(words, config, {});
    return words.join(QLatin1Char(' '));
}

QString report(const RunModel& run, const QString& device) {
    QStringList lines{
        QStringLiteral("Espalier %1, Qt %2, %3")
            .arg(QCoreApplication::applicationVersion(), QLatin1String(qVersion()), QSysInfo::prettyProductName()),
        QStringLiteral("Device: %1").arg(device), QStringLiteral("Run: %1 in %2").arg(run.name(), run.path()),
        QStringLiteral("State: %1, step %2, epoch %3. %4")
            .arg(state_title(run.state()))
            .arg(run.step())
            .arg(run.epoch(), 0, 'f', 2)
            .arg(run.reason())};
    if (const auto& plan = run.plan())
        lines << QStringLiteral("Plan: %1 parameters, batch %2, epochs %3, %4 on %5, %6; passes %7")
                     .arg(format_count(plan->parameters))
                     .arg(plan->batch)
                     .arg(plan->epochs)
                     .arg(plan->precision, plan->backend, format_bytes(plan->memory_total),
                          plan->passes.join(QStringLiteral(", ")));
    if (const auto& checkpoint = run.checkpoint())
        lines << QStringLiteral("Last checkpoint: %1, step %2").arg(checkpoint->file).arg(checkpoint->step);
    lines << QStringLiteral("Fallbacks: %1")
                 .arg(run.fallbacks().isEmpty() ? QStringLiteral("none") : run.fallbacks().join(QStringLiteral("; ")));
    lines << QString();
    const auto& log = run.log();
    for (std::size_t i = log.size() > log_lines ? log.size() - log_lines : 0; i < log.size(); ++i)
        lines << QStringLiteral("%1  %2").arg(log[i].time, log[i].text);
    return lines.join(QLatin1Char('\n'));
}

QString shortened(const QString& device) {
    static const QRegularExpression noise(
        QStringLiteral("\\((R|TM|r|tm)\\)|\\bCPU\\b|\\bProcessor\\b|\\b\\d+-Core\\b|@.*$|\\bNVIDIA\\b|\\bGeForce\\b"));
    return QString(device).replace(noise, QString()).simplified();
}

} // namespace espalier
