// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_choice.h"

#include "engine_words.h"
#include "report.h"

#include <algorithm>

namespace espalier {

namespace {
QString automatic() { return QStringLiteral("auto"); }
} // namespace

DeviceChoice::DeviceChoice(Machine* machine, Settings* settings, QObject* parent)
    : QObject(parent), machine_(machine), settings_(settings) {}

void DeviceChoice::ask() {
    machine_->request("probe", Json::object(),
                      {[this](const Json& answer) { take(answer); },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

void DeviceChoice::forget() {
    best_ = devices_ = {};
    emit changed();
}

void DeviceChoice::choose(const QString& value) {
    if (!best_.has(value) || value == devices_.takes)
        return;
    if (value == best_.takes)
        settings_->devices.erase(machine_->spec().id());
    else
        settings_->devices[machine_->spec().id()] = value;
    devices_ = best_.chosen(value == best_.takes ? automatic() : value);
    emit changed();
}

QString DeviceChoice::backend() const {
    if (!best_.choices.empty())
        return devices_.takes == best_.takes ? automatic() : devices_.takes;
    const auto chosen = settings_->devices.find(machine_->spec().id());
    return chosen == settings_->devices.end() ? automatic() : chosen->second;
}

void DeviceChoice::take(const Json& probe) {
    best_ = summarize_devices(probe);
    const auto chosen = settings_->devices.find(machine_->spec().id());
    const bool any = chosen != settings_->devices.end();
    devices_ = best_.chosen(any ? chosen->second : automatic());
    emit changed();
    if (!any || best_.has(chosen->second) || best_.choices.empty())
        return;
    // It stays chosen: a card that was pulled, or whose driver is being renewed, comes back.
    const auto known = std::ranges::find(best_.unusable, chosen->second, &DeviceSummary::Unusable::value);
    const QString name = shortened(best_.device);
    emit told(known == best_.unusable.end()
                  ? tr("The device that was chosen for new runs is not there. They take %1.").arg(name)
                  : tr("%1, chosen for new runs, cannot train now: %2 They take %3.")
                        .arg(known->name, engine_words(known->reason), name));
}

} // namespace espalier
