// SPDX-License-Identifier: Apache-2.0
#include "worker/column_builder.h"

#include "worker/protocol.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace espalier {
namespace {

/// Steps are joined to about so many: a table is one line of the protocol and one point of the window's clock.
constexpr std::size_t most_joined = 2048;
/// A longer line of steps stays a line: as a table it could outgrow a line of the protocol.
constexpr std::size_t most_rows = 16384;

/// The number that a value of the protocol means; nothing for other values.
std::optional<double> number_of(const Json& value) {
    if (value.is_number())
        return value.get<double>();
    if (!value.is_string())
        return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text != "NaN" && text != "Infinity" && text != "-Infinity")
        return std::nullopt;
    return protocol::to_double(value);
}

/// Numbers of an event by name, those of an object within it as "memory.weights"; false if there is something else.
bool flatten(const Json& event, const std::string& prefix, std::vector<std::pair<std::string, double>>& into) {
    for (const auto& [key, value] : event.items()) {
        if (prefix.empty() && key == "type")
            continue;
        if (prefix.empty() && value.is_object()) {
            if (!flatten(value, key + '.', into))
                return false;
        } else if (const auto number = number_of(value)) {
            into.emplace_back(prefix + key, *number);
        } else {
            return false;
        }
    }
    return true;
}

} // namespace

template <typename Number>
void ColumnBuilder::Columns<Number>::put_into(ColumnTable& table) const {
    table.rows = rows;
    table.columns.clear();
    for (std::size_t i = 0; i < names.size(); ++i)
        table.columns.push_back(
            {names[i], {reinterpret_cast<const char*>(values[i].data()), values[i].size() * sizeof(Number)}});
}

void ColumnBuilder::add(std::string_view line) {
    if (const auto event = protocol::parse_line(line))
        add(*event, line);
}

void ColumnBuilder::add(const Json& event, std::string_view line) {
    if (protocol::is_event(event, "heartbeat") || (protocol::is_event(event, "steps") && add_steps(event)) ||
        (protocol::is_event(event, "resources") && add_resources(event)))
        return;
    flush_steps();
    flush_resources();
    append_entry(payload_, line);
}

bool ColumnBuilder::add_steps(const Json& event) {
    std::vector<std::string> names;
    std::size_t count = 0;
    for (const auto& [key, value] : event.items()) {
        if (key == "type" || key == "time" || key == "step" || key == "epoch")
            continue;
        if (!value.is_array() || value.empty() || value.size() > most_rows || (count && value.size() != count) ||
            !std::ranges::all_of(value, [](const Json& item) { return number_of(item).has_value(); }))
            return false;
        count = value.size();
        names.push_back(key);
    }
    if (names.empty())
        return false;
    const auto step = static_cast<std::int64_t>(protocol::number_at(event, "step"));
    if (steps_.rows > 0 && (steps_.names != names || steps_.rows + count > most_joined ||
                            about_steps_.step + static_cast<std::int64_t>(steps_.rows) != step))
        flush_steps();
    if (steps_.rows == 0) {
        about_steps_.step = step;
        about_steps_.epoch = protocol::number_at(event, "epoch");
        steps_.values.resize(names.size());
        steps_.names = std::move(names);
    }
    for (std::size_t i = 0; i < steps_.names.size(); ++i)
        for (const auto& value : event.at(steps_.names[i]))
            steps_.values[i].push_back(static_cast<float>(protocol::to_double(value)));
    about_steps_.time = protocol::number_at(event, "time");
    steps_.rows += count;
    return true;
}

bool ColumnBuilder::add_resources(const Json& event) {
    std::vector<std::pair<std::string, double>> numbers;
    if (!flatten(event, {}, numbers) || !event.contains("step"))
        return false;
    const bool same = std::ranges::equal(numbers, resources_.names, {}, &std::pair<std::string, double>::first);
    if (resources_.rows > 0 && (!same || resources_.rows == most_joined))
        flush_resources();
    if (resources_.rows == 0) {
        resources_.values.resize(numbers.size());
        for (const auto& [name, number] : numbers)
            resources_.names.push_back(name);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
        resources_.values[i].push_back(numbers[i].second);
    ++resources_.rows;
    return true;
}

void ColumnBuilder::flush_steps() {
    if (steps_.rows == 0)
        return;
    about_steps_.kind = ColumnTable::Kind::steps;
    steps_.put_into(about_steps_);
    append_entry(payload_, about_steps_);
    steps_.clear();
}

void ColumnBuilder::flush_resources() {
    if (resources_.rows == 0)
        return;
    ColumnTable table;
    table.kind = ColumnTable::Kind::resources;
    resources_.put_into(table);
    append_entry(payload_, table);
    resources_.clear();
}

std::string ColumnBuilder::take() {
    flush_steps();
    flush_resources();
    return std::exchange(payload_, {});
}

} // namespace espalier
