// SPDX-License-Identifier: GPL-3.0-or-later
#include "preset_list.h"

#include "engine_words.h"
#include "format.h"
#include "json_convert.h"

#include <utility>

namespace espalier {

PresetList::PresetList(Machine* machine, QObject* parent) : QObject(parent), machine_(machine) {}

void PresetList::load() {
    machine_->request("presets", Json::object(),
                      {[this](const Json& answer) { take(answer); },
                       [this](const QString& text, int) { emit failed(text); },
                       {},
                       {}});
}

const PresetList::Preset* PresetList::find(const QString& name) const {
    const auto found = presets_.find(name);
    return found == presets_.end() ? nullptr : &found->second;
}

void PresetList::take(const Json& answer) {
    std::vector<PresetEntry> entries;
    presets_.clear();
    checked_.clear();
    if (const auto list = answer.find("presets"); list != answer.end() && list->is_array())
        for (const Json& item : *list) {
            if (!item.is_object())
                continue;
            PresetEntry entry{text_at(item, "name"),
                              engine_words(text_at(item, "title")),
                              text_at(item, "row"),
                              text_at(item, "size"),
                              engine_words(text_at(item, "summary")),
                              protocol::flag_at(item, "available", true),
                              engine_words(text_at(item, "reason"))};
            presets_[entry.name] = {entry.title, item.contains("config") ? item["config"] : Json::object()};
            if (entry.available && entry.size != u"demo") // the demo's card has no room for it
                checked_.push_back(entry.name);
            entries.push_back(std::move(entry));
        }
    emit listed(entries);
    check_all();
}

void PresetList::set_backend(const QString& backend) {
    if (std::exchange(backend_, backend) != backend)
        check_all();
}

void PresetList::forget_facts() {
    for (const std::int64_t check : std::exchange(checks_, {}))
        machine_->cancel(check);
    for (const QString& name : checked_)
        emit checked(name, {}, {}, Role::secondary);
}

void PresetList::check_all() {
    forget_facts();
    if (!machine_->is_connected() || !machine_->can("plan"))
        return;
    for (const QString& name : checked_)
        check(name);
}

void PresetList::check(const QString& name) {
    const auto take_plan = [this, name](const Json& plan) {
        const double seconds = protocol::number_at(plan, "estimated_seconds");
        const QString parameters = tr("%1 parameters").arg(format_short(protocol::number_at(plan, "parameters")));
        const double limit = protocol::number_at(plan, "limit");
        const bool fits = protocol::flag_at(plan, "fits", true);
        emit checked(name, seconds > 0 ? tr("%1 · about %2").arg(parameters, format_about(seconds)) : parameters,
                     !fits       ? tr("fits at batch %1").arg(format_count(protocol::number_at(plan, "largest_batch")))
                     : limit > 0 ? tr("fits %1").arg(format_bytes(limit))
                                 : tr("fits"),
                     fits ? Role::good : Role::attention);
    };
    Json config{{"preset", name.toStdString()}};
    if (backend_ != u"auto")
        config["backend"] = backend_.toStdString();
    checks_.push_back(
        machine_->request("plan", Json{{"config", std::move(config)}, {"brief", true}},
                          {take_plan,
                           [this, name](const QString& text, int) { emit checked(name, text, {}, Role::attention); },
                           {},
                           {}}));
}

} // namespace espalier
