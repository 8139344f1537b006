// SPDX-License-Identifier: GPL-3.0-or-later
#include "json_convert.h"

#include "worker/protocol.h"

#include <QStringList>

namespace espalier {

QString text_at(const Json& object, const char* key, const QString& otherwise) {
    const auto field = object.find(key);
    return field != object.end() && field->is_string() ? to_qstring(field->get_ref<const std::string&>()) : otherwise;
}

QVariant to_variant(const Json& json) {
    switch (json.type()) {
    case Json::value_t::boolean:
        return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
        return QVariant::fromValue(json.get<qint64>());
    case Json::value_t::number_float:
        return json.get<double>();
    case Json::value_t::string:
        return to_qstring(json.get_ref<const std::string&>());
    case Json::value_t::array: {
        QVariantList list;
        for (const Json& item : json)
            list.append(to_variant(item));
        return list;
    }
    default:
        return {};
    }
}

Json to_json(const QVariant& value) {
    switch (value.typeId()) {
    case QMetaType::Bool:
        return value.toBool();
    case QMetaType::Int:
    case QMetaType::LongLong:
        return value.toLongLong();
    case QMetaType::Double:
        return protocol::number(value.toDouble());
    case QMetaType::QVariantList: {
        Json list = Json::array();
        for (const QVariant& item : value.toList())
            list.push_back(to_json(item));
        return list;
    }
    default:
        return value.toString().toStdString();
    }
}

Json at_path(const Json& object, const QString& path) {
    const Json* at = &object;
    for (const QString& key : path.split(QLatin1Char('.'))) {
        if (!at->is_object())
            return {};
        const auto field = at->find(key.toStdString());
        if (field == at->end())
            return {};
        at = &*field;
    }
    return *at;
}

void put_at_path(Json& object, const QString& path, const Json& value) {
    Json* at = &object;
    for (const QString& key : path.split(QLatin1Char('.'))) {
        if (!at->is_object())
            *at = Json::object();
        at = &(*at)[key.toStdString()];
    }
    *at = value;
}

void remove_at_path(Json& object, const QString& path) {
    Json* at = &object;
    const QStringList keys = path.split(QLatin1Char('.'));
    for (const QString& key : keys.first(keys.size() - 1)) {
        const auto field = at->is_object() ? at->find(key.toStdString()) : at->end();
        if (!at->is_object() || field == at->end())
            return;
        at = &*field;
    }
    if (at->is_object())
        at->erase(keys.back().toStdString());
}

} // namespace espalier
