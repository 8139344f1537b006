// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "train/preset_files.h"
#include "train/run_config.h"

namespace espalier {
namespace {

const std::vector<Json>& cards() {
    static const std::vector<Json> parsed = [] {
        std::vector<Json> list;
        for (auto text : preset_files())
            list.push_back(Json::parse(text));
        return list;
    }();
    return parsed;
}

} // namespace

std::vector<std::string> preset_names() {
    std::vector<std::string> names;
    for (const auto& card : cards())
        names.push_back(card.at("name").get<std::string>());
    return names;
}

const Json& preset_card(const std::string& name) {
    std::string list;
    for (const auto& card : cards()) {
        if (card.at("name") == name)
            return card;
        list += (list.empty() ? "" : ", ") + card.at("name").get<std::string>();
    }
    throw ConfigError("There is no preset '" + name + "'. There are: " + list + ".");
}

Json preset(const std::string& name) {
    const Json& card = preset_card(name);
    if (!card.at("available").get<bool>())
        throw ConfigError("The preset '" + name + "' cannot be used yet: " + card.at("reason").get<std::string>());
    Json config = card.at("config");
    config["preset"] = name;
    return config;
}

} // namespace espalier
