// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_differences.h"

#include "format.h"
#include "json_convert.h"
#include "run_fields.h"
#include "words.h"

#include <algorithm>
#include <map>

namespace espalier {

namespace {

using Flat = std::map<QString, Json>;

void flatten(const Json& value, const QString& path, Flat& into) {
    if (!value.is_object()) {
        into[path] = value;
        return;
    }
    for (const auto& [key, inner] : value.items())
        flatten(inner, path.isEmpty() ? to_qstring(key) : path + QLatin1Char('.') + to_qstring(key), into);
}

bool same(const Json& a, const Json& b) {
    return a.is_number() && b.is_number() ? a.get<double>() == b.get<double>() : a == b; // 1 and 1.0
}

QString plain_words(const Json& value) {
    if (value.is_null())
        return QStringLiteral("–");
    if (value.is_boolean())
        return value.get<bool>() ? tr("on") : tr("off");
    if (value.is_string())
        return to_qstring(value.get<std::string>());
    if (value.is_number_float())
        return format_number(value.get<double>(), 6);
    if (!value.is_array())
        return to_qstring(value.dump(-1, ' ', false, Json::error_handler_t::replace));
    QStringList items;
    for (const Json& item : value)
        items.append(plain_words(item));
    return items.join(QStringLiteral(", "));
}

} // namespace

QString setting_words(const QString& field, const Json& value) {
    const auto known = std::ranges::find(run_fields(), field, &FormField::path);
    if (known != run_fields().end() && value.is_string())
        for (const auto& [choice, title] : known->choices)
            if (choice == to_qstring(value.get<std::string>()))
                return title;
    return plain_words(value);
}

std::vector<ConfigDifference> config_differences(const std::vector<Json>& configs) {
    std::vector<Flat> flats(configs.size());
    std::map<QString, Json> fields; // all paths, with their defaults
    for (std::size_t i = 0; i < configs.size(); ++i) {
        flatten(configs[i], {}, flats[i]);
        for (const auto& [path, value] : flats[i])
            fields.try_emplace(path, Json());
    }
    for (auto& [path, otherwise] : fields)
        if (const auto known = field_defaults().constFind(path); known != field_defaults().constEnd())
            otherwise = to_json(*known);
    std::vector<ConfigDifference> differences;
    for (const auto& [path, otherwise] : fields) {
        if (path == u"name")
            continue;
        std::vector<Json> values;
        for (const Flat& flat : flats) {
            const auto found = flat.find(path);
            values.push_back(found == flat.end() ? otherwise : found->second);
        }
        if (std::ranges::all_of(values, [&](const Json& value) { return same(value, values.front()); }))
            continue;
        ConfigDifference difference{path, path, {}};
        for (const Json& value : values)
            difference.values.append(setting_words(path, value));
        differences.push_back(std::move(difference));
    }
    const auto place = [](const ConfigDifference& difference) {
        return std::ranges::find(run_fields(), difference.field, &FormField::path) - run_fields().begin();
    };
    std::ranges::stable_sort(differences, {}, place);
    for (ConfigDifference& difference : differences)
        if (const auto field = std::ranges::find(run_fields(), difference.field, &FormField::path);
            field != run_fields().end())
            difference.title = field->label;
    return differences;
}

Json changed_settings(const Json& base, const Json& config) {
    Flat before, now;
    flatten(base, {}, before);
    flatten(config, {}, now);
    Json changes = Json::object();
    for (const auto& [path, value] : now) {
        const auto known = before.find(path);
        const Json otherwise = known != before.end() ? known->second : to_json(field_defaults().value(path));
        if (path != u"name" && path != u"preset" && !same(value, otherwise))
            put_at_path(changes, path, value);
    }
    return changes;
}

} // namespace espalier
