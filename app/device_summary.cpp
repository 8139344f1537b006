// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_summary.h"

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

/// Cards of one name are told apart by their number.
void add_choice(DeviceSummary& summary, const Json& device) {
    const QString backend = text_at(device, "backend"), uuid = text_at(device, "uuid");
    QString name = shortened(text_at(device, "name"));
    const auto cards = std::ranges::count(summary.choices, backend, &DeviceSummary::Choice::backend);
    if (cards > 0)
        name = QStringLiteral("%1 (%2)").arg(name).arg(cards);
    summary.choices.push_back(
        {uuid.isEmpty() ? backend : backend + QLatin1Char(':') + uuid, name, backend, precisions_of(device)});
}

} // namespace

DeviceSummary DeviceSummary::chosen(const QString& value) const {
    DeviceSummary summary = *this;
    if (const auto choice = std::ranges::find(choices, value, &Choice::value); choice != choices.end()) {
        summary.device = choice->name;
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
            if (gpu && !has_gpu)
                summary.reason = text_at(device, "reason");
            continue;
        }
        add_choice(summary, device);
        if (!summary.device.isEmpty() && (has_gpu || !gpu)) // of several cards a run takes the first
            continue;
        has_gpu = gpu;
        if (gpu)
            summary.reason.clear();
        const double bytes = protocol::number_at(device, "memory_bytes");
        const double free = protocol::number_at(device, "free_bytes");
        summary.device = text_at(device, "name");
        summary.backend = text_at(device, "backend");
        summary.precisions = precisions_of(device);
        const QString name = shortened(summary.device);
        summary.line = free > 0    ? tr("%1 ready · %2 of %3 free").arg(name, format_bytes(free), format_bytes(bytes))
                       : bytes > 0 ? tr("%1 ready · %2 of memory").arg(name, format_bytes(bytes))
                                   : tr("%1 ready").arg(name);
    }
    if (summary.device.isEmpty())
        summary.line = tr("No device can train here: %1").arg(summary.reason);
    return summary;
}

} // namespace espalier
