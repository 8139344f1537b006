// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

/// Checks values against docs/protocol.schema.json: the part of JSON Schema that it uses (type, required, properties,
/// items, enum, minimum, maximum, $ref to "#/$defs/...").
class SchemaCheck {
public:
    explicit SchemaCheck(const char* file) {
        std::ifstream stream(file);
        if (!stream)
            throw std::runtime_error(std::string("cannot read ") + file);
        root_ = espalier::Json::parse(stream);
    }

    /// Empty if `value` fits the definition, else where and why not.
    std::string fault(const espalier::Json& value, const std::string& definition) const {
        if (!root_.at("$defs").contains(definition))
            return "no definition " + definition;
        return check(value, root_.at("$defs").at(definition), definition);
    }

    /// The fault of an event by its type; events of unknown type are allowed, as the protocol says.
    std::string event_fault(const espalier::Json& event) const {
        if (auto basic = fault(event, "event"); !basic.empty())
            return basic;
        const auto definition = "event." + event.at("type").get<std::string>();
        if (event.value("continued", false))
            return {};
        return root_.at("$defs").contains(definition) ? fault(event, definition) : std::string();
    }

    const espalier::Json& definitions() const { return root_.at("$defs"); }

private:
    static bool is_type(const espalier::Json& value, const std::string& type) {
        if (type == "object")
            return value.is_object();
        if (type == "array")
            return value.is_array();
        if (type == "string")
            return value.is_string();
        if (type == "boolean")
            return value.is_boolean();
        if (type == "integer")
            return value.is_number_integer();
        if (type == "number")
            return value.is_number();
        if (type == "null")
            return value.is_null();
        throw std::runtime_error("the schema names an unknown type " + type);
    }

    std::string check(const espalier::Json& value, const espalier::Json& schema, const std::string& place) const {
        if (schema.contains("$ref")) {
            const auto reference = schema.at("$ref").get<std::string>();
            return check(value, root_.at(espalier::Json::json_pointer(reference.substr(1))), place);
        }
        if (schema.contains("type")) {
            const auto& type = schema.at("type");
            const bool fits = type.is_array() ? std::any_of(type.begin(), type.end(),
                                                            [&](const auto& one) { return is_type(value, one); })
                                              : is_type(value, type);
            if (!fits)
                return place + " should be " + type.dump() + " and is " + value.dump().substr(0, 80);
        }
        if (schema.contains("enum") &&
            std::find(schema.at("enum").begin(), schema.at("enum").end(), value) == schema.at("enum").end())
            return place + " is " + value.dump() + ", not one of " + schema.at("enum").dump();
        if (value.is_number()) {
            if (schema.contains("minimum") && value.get<double>() < schema.at("minimum").get<double>())
                return place + " is too small: " + value.dump();
            if (schema.contains("maximum") && value.get<double>() > schema.at("maximum").get<double>())
                return place + " is too large: " + value.dump();
        }
        if (schema.contains("required"))
            for (const auto& key : schema.at("required"))
                if (!value.contains(key.get<std::string>()))
                    return place + " lacks " + key.get<std::string>();
        if (schema.contains("properties") && value.is_object())
            for (const auto& [key, inner] : schema.at("properties").items())
                if (value.contains(key))
                    if (auto fault = check(value.at(key), inner, place + "." + key); !fault.empty())
                        return fault;
        if (schema.contains("items") && value.is_array())
            for (const auto& element : value)
                if (auto fault = check(element, schema.at("items"), place + "[]"); !fault.empty())
                    return fault;
        return {};
    }

    espalier::Json root_;
};
