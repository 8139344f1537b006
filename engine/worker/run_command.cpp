// SPDX-License-Identifier: Apache-2.0
#include "worker/run_command.h"

#include "base/error.h"
#include "train/run_config.h"

#include <algorithm>
#include <string_view>

namespace espalier {
namespace {

constexpr const char* first_preset = "quick";

bool is_usable(const std::string& name) {
    const auto names = preset_names();
    return std::ranges::find(names, name) != names.end() && preset_card(name).at("available") == true;
}

/// As set_by_path reads it back: texts stand without quotes, unless they would be read as something else.
std::string assignment(const std::string& path, const Json& value) {
    if (!value.is_string())
        return path + "=" + value.dump();
    const auto& text = value.get_ref<const std::string&>();
    return path + "=" + (Json::accept(text) ? value.dump() : text);
}

/// What set_by_path has to be told to make `from` into `to`. An object that lacks something is set as a whole.
void add_differences(const Json& from, const Json& to, const std::string& path, std::vector<std::string>& into) {
    if (from == to)
        return;
    const bool both = from.is_object() && to.is_object();
    const auto is_there = [&](const auto& item) { return to.contains(item.key()); };
    const auto items = from.items();
    if (!both || !std::all_of(items.begin(), items.end(), is_there)) {
        into.push_back(assignment(path, to));
        return;
    }
    for (const auto& [key, value] : to.items())
        add_differences(from.contains(key) ? from.at(key) : Json(), value, path.empty() ? key : path + "." + key, into);
}

} // namespace

std::vector<std::string> run_command(const Json& config) {
    const Json whole = RunConfig::from_json(config).to_json();
    const auto& name = whole.at("preset").get_ref<const std::string&>();
    const std::string start = is_usable(name) ? name : first_preset;
    Json from = RunConfig::from_json(preset(start)).to_json();
    std::vector<std::string> words{"espalier-train", "run", "--preset", start};
    for (const char* key : {"data", "name"}) { // which have options of their own
        const auto& text = whole.at(key).get_ref<const std::string&>();
        if (from.at(key) == text || text.empty())
            continue;
        if (text.front() == '-') // no option of its own
            words.push_back(std::string("--") + key + "=" + text);
        else
            words.insert(words.end(), {std::string("--") + key, text});
        from[key] = text;
    }
    std::vector<std::string> settings;
    add_differences(from, whole, "", settings);
    for (auto& setting : settings)
        words.insert(words.end(), {"--set", std::move(setting)});
    return words;
}

std::string shell_text(const std::vector<std::string>& words) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,=+@%-";
    std::string text;
    for (const auto& word : words) {
        text += text.empty() ? "" : " ";
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            text += word;
            continue;
        }
        text += '\'';
        for (const char c : word)
            text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        text += '\'';
    }
    return text;
}

} // namespace espalier
