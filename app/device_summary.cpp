// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_summary.h"

#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "report.h"
#include "words.h"

#include <algorithm>

namespace espalier {

namespace {

QStringList precisions_of(const Json& device) {
    QStringList precisions;
    if (const auto list = device.find("precisions"); list != device.end() && list->is_array())
        for (const Json& precision : *list)
            if (precision.is_string())
                precisions.append(to_qstring(precision.get<std::string>()));
    return precisions;
}

QString value_of(const Json& device) {
    const QString backend = text_at(device, "backend"), uuid = text_at(device, "uuid");
    return uuid.isEmpty() ? backend : backend + QLatin1Char(':') + uuid;
}

QString line_of(const QString& name, const Json& device) {
    const double bytes = protocol::number_at(device, "memory_bytes");
    const double free = protocol::number_at(device, "free_bytes");
    return free > 0    ? tr("%1 ready · %2 of %3 free").arg(name, format_bytes(free), format_bytes(bytes))
           : bytes > 0 ? tr("%1 ready · %2 of memory").arg(name, format_bytes(bytes))
                       : tr("%1 ready").arg(name);
}

QString title_of(const QString& name, const Json& device) {
    const double bytes = protocol::number_at(device, "memory_bytes");
    const double free = protocol::number_at(device, "free_bytes");
    return free > 0    ? tr("%1 · %2 of %3 free").arg(name, format_bytes(free), format_bytes(bytes))
           : bytes > 0 ? tr("%1 · %2 of memory").arg(name, format_bytes(bytes))
                       : name;
}

/// Cards of one name are told apart by their number.
void add_choice(DeviceSummary& summary, const Json& device) {
    const QString backend = text_at(device, "backend");
    QString name = shortened(text_at(device, "name"));
    const auto cards = std::ranges::count(summary.choices, backend, &DeviceSummary::Choice::backend);
    if (cards > 0)
        name = QStringLiteral("%1 (%2)").arg(name).arg(cards);
    summary.choices.push_back(
        {value_of(device), name, title_of(name, device), line_of(name, device), backend, precisions_of(device)});
}

} // namespace

bool DeviceSummary::has(const QString& value) const {
    return std::ranges::find(choices, value, &Choice::value) != choices.end();
}

DeviceSummary DeviceSummary::chosen(const QString& value) const {
    DeviceSummary summary = *this;
    if (const auto choice = std::ranges::find(choices, value, &Choice::value); choice != choices.end()) {
        summary.takes = value;
        summary.device = choice->name;
        summary.line = choice->line;
        summary.reason.clear(); // somebody wants it so
        summary.backend = choice->backend;
        summary.precisions = choice->precisions;
    }
    return summary;
}

DeviceSummary summarize_devices(const Json& probe) {
    DeviceSummary summary;
    bool has_gpu = false;
    const auto devices = probe.find("devices");
    if (devices == probe.end() || !devices->is_array())
        return summary;
    for (const Json& device : *devices) {
        if (!device.is_object() || text_at(device, "backend") == u"reference")
            continue;
        const bool gpu = text_at(device, "backend") == u"cuda";
        if (!protocol::flag_at(device, "usable")) {
            const QString name = shortened(text_at(device, "name")), reason = text_at(device, "reason");
            summary.unusable.push_back({value_of(device), name, reason});
            if (gpu && !has_gpu)
                summary.reason = reason;
            continue;
        }
        add_choice(summary, device);
        if (!summary.device.isEmpty() && (has_gpu || !gpu)) // of several cards a run takes the first
            continue;
        has_gpu = gpu;
        if (gpu)
            summary.reason.clear();
        summary.device = text_at(device, "name");
        summary.line = line_of(shortened(summary.device), device);
        summary.takes = value_of(device);
        summary.backend = text_at(device, "backend");
        summary.precisions = precisions_of(device);
    }
    if (summary.device.isEmpty())
        summary.line = tr("No device can train here: %1").arg(engine_words(summary.reason));
    return summary;
}

QString device_words(const QString& device, const QString& backend) {
    if (!device.isEmpty() && device != backend)
        return QStringLiteral("%1 (%2)").arg(device, backend);
    return backend == u"cpu" ? tr("processor") : backend;
}

} // namespace espalier
