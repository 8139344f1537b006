// SPDX-License-Identifier: Apache-2.0
#include "worker/run_comparison.h"

#include "io/metrics_file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace espalier {
namespace {

bool is_list_of_texts(const Json& json) {
    return json.is_array() && std::ranges::all_of(json, [](const Json& one) { return one.is_string(); });
}

/// The texts of `list` that `other` lacks.
Json only_in(const Json& list, const Json& other) {
    Json only = Json::array();
    for (const auto& one : list)
        if (std::ranges::find(other, one) == other.end())
            only.push_back(one);
    return only;
}

void collect(const Json& a, const Json& b, const std::string& path, Json& found) {
    if (a == b)
        return;
    if (a.is_object() && b.is_object()) {
        const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
        for (const auto& [key, value] : a.items())
            if (b.contains(key))
                collect(value, b[key], below(key), found);
            else
                found.push_back({{"key", below(key)}, {"a", value}});
        for (const auto& [key, value] : b.items())
            if (!a.contains(key))
                found.push_back({{"key", below(key)}, {"b", value}});
    } else if (is_list_of_texts(a) && is_list_of_texts(b)) {
        found.push_back({{"key", path}, {"a", only_in(a, b)}, {"b", only_in(b, a)}});
    } else {
        found.push_back({{"key", path}, {"a", a}, {"b", b}});
    }
}

/// Without what says how long something took: no two runs have it in common.
Json without_times(Json passport) {
    passport.erase("first_step_seconds");
    if (passport.contains("tuning") && passport["tuning"].is_object())
        for (const char* key : {"seconds", "tuned_seconds", "known", "timed", "open"})
            passport["tuning"].erase(key);
    return passport;
}

/// Neither changes a bit of the result.
bool matters(const Json& difference) {
    const auto& key = difference.at("key").get_ref<const std::string&>();
    return key != "name" && key != "preset" && key != "tensorboard" && !key.starts_with("checkpoint");
}

Json bit_exactness(const Json& config, const Json& passport, const Json& a, const Json& b) {
    const auto no = [](std::string reason) { return Json{{"expected", false}, {"reason", std::move(reason)}}; };
    if (a.empty() || b.empty())
        return no("One of the runs has no passport.");
    for (const auto& [list, what] : {std::pair{&config, "configurations"}, {&passport, "passports"}})
        if (const auto found = std::ranges::find_if(*list, matters); found != list->end())
            return no(std::string("The ") + what + " differ in " + found->at("key").get<std::string>() + ".");
    if (!a.value("bit_exact", false))
        return no("The device gives other bits from run to run; they are the same when " +
                  a.value("bit_exact_when", std::string("the same kernels run in the same order")) + ".");
    return {{"expected", true}, {"reason", "Configurations and passports agree."}};
}

/// A line of metrics.csv without the seconds at its end; nothing at the end of the file.
bool next_row(std::ifstream& file, std::string& row) {
    if (!std::getline(file, row))
        return false;
    row.resize(std::min(row.size(), row.rfind(',')));
    return true;
}

Json compare_metrics(const RunFolder& a, const RunFolder& b) {
    std::ifstream first(a.path() / MetricsFile::name, std::ios::binary);
    std::ifstream second(b.path() / MetricsFile::name, std::ios::binary);
    std::string row, other;
    std::int64_t rows = -1; // the heading is none
    for (;; ++rows) {
        const bool more = next_row(first, row), more_there = next_row(second, other);
        if (!more && !more_there)
            return {{"rows", std::max<std::int64_t>(rows, 0)}, {"first_difference", nullptr}};
        if (more != more_there || row != other) {
            const auto& at = more ? row : other;
            return {{"rows", std::max<std::int64_t>(rows, 0)},
                    {"first_difference", std::atoll(at.substr(0, at.find(',')).c_str())}};
        }
    }
}

} // namespace

Json differences(const Json& a, const Json& b) {
    Json found = Json::array();
    collect(a, b, "", found);
    return found;
}

Json compare_runs(const RunFolder& a, const RunFolder& b) {
    for (const auto& run : {a, b})
        run.check_is_run();
    const auto passport_a = without_times(read_object(a.passport())),
               passport_b = without_times(read_object(b.passport()));
    auto config = differences(read_json(a.config()), read_json(b.config()));
    auto passport = differences(passport_a, passport_b);
    auto exactness = bit_exactness(config, passport, passport_a, passport_b);
    return {{"a", a.path().string()},
            {"b", b.path().string()},
            {"config", std::move(config)},
            {"passport", std::move(passport)},
            {"bit_exact", std::move(exactness)},
            {"metrics", compare_metrics(a, b)}};
}

} // namespace espalier
