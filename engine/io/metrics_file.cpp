// SPDX-License-Identifier: Apache-2.0
#include "io/metrics_file.h"

#include "base/atomic_file.h"
#include "io/csv.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace espalier {

namespace {

constexpr std::string_view heading = "step,epoch,set,loss,accuracy,learning_rate,seconds\n";

/// A number of an event as a cell; non-finite ones are text there already; empty where it is absent.
std::string cell_of(const Json& json) {
    if (json.is_number_integer()) {
        return csv::cell(json.get<std::int64_t>());
    }
    if (json.is_number()) {
        return csv::cell(json.get<double>());
    }
    return json.is_string() ? csv::cell(json.get_ref<const std::string&>()) : std::string();
}

std::string cell_of(const Json& event, const char* key) {
    return event.contains(key) ? cell_of(event[key]) : std::string();
}

std::string cell_of(const Json& event, const char* key, std::size_t i) {
    return event.contains(key) && event[key].is_array() && i < event[key].size() ? cell_of(event[key][i])
                                                                                 : std::string();
}

/// The event has the epoch of its first step alone. Six decimals: how steps are batched into events must not show.
std::string epoch_of(const Json& event, std::size_t i, std::int64_t steps_per_epoch) {
    if (!event.contains("epoch") || !event["epoch"].is_number() || (i > 0 && steps_per_epoch <= 0)) {
        return {};
    }
    const double further = i == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(steps_per_epoch);
    return csv::cell(std::round((event["epoch"].get<double>() + further) * 1e6) / 1e6);
}

std::string rows_of_steps(const Json& event, std::int64_t steps_per_epoch) {
    std::string rows;
    const std::int64_t first = event.value("step", std::int64_t{0});
    const std::size_t count = event.contains("loss") && event["loss"].is_array() ? event["loss"].size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        rows += csv::row({csv::cell(first + static_cast<std::int64_t>(i)), epoch_of(event, i, steps_per_epoch),
                          "training", cell_of(event, "loss", i), cell_of(event, "accuracy", i),
                          cell_of(event, "learning_rate", i), cell_of(event, "seconds", i)});
    }
    return rows;
}

/// Step of a row; nothing for the heading.
bool step_of(std::string_view line, std::int64_t& step) {
    return std::from_chars(line.data(), line.data() + line.size(), step).ec == std::errc{};
}

} // namespace

MetricsFile::MetricsFile(const std::filesystem::path& run) : path_(run / name) { open(); }

void MetricsFile::open() {
    file_.emplace(path_, AppendedFile::HalfLine::is_removed);
    if (file_->is_empty()) {
        file_->append(heading);
    }
}

void MetricsFile::append(const std::string& rows) {
    waiting_ += rows;
    if (waiting_.size() > most_waiting) {
        waiting_.erase(0, waiting_.find('\n', waiting_.size() - most_waiting - 1) + 1);
    }
    if (!file_) { // could not be opened again when it was written anew
        open();
    }
    file_->append(waiting_);
    waiting_.clear();
}

void MetricsFile::take(const Json& event) {
    const std::string type = event.value("type", "");
    if (type == "steps") {
        append(rows_of_steps(event, steps_per_epoch_));
    } else if (type == "evaluation") {
        append(csv::row({cell_of(event, "step"), cell_of(event, "epoch"), cell_of(event, "set"), cell_of(event, "loss"),
                         cell_of(event, "accuracy"), "", ""}));
    } else if (type == "plan") {
        steps_per_epoch_ = event.value("steps_per_epoch", std::int64_t{0});
    } else if (type == "superseded") {
        drop_after(event.value("from_step", std::int64_t{0}));
    }
}

void MetricsFile::drop_after(std::int64_t step) {
    file_.reset();
    {
        std::ifstream old(path_, std::ios::binary);
        std::istringstream waiting(waiting_);
        AtomicFile kept(path_);
        std::string line;
        while (std::getline(old, line) || std::getline(waiting, line)) {
            std::int64_t at = 0;
            if (!step_of(line, at) || at <= step) {
                kept.write(line + "\n");
            }
        }
        old.close();
        kept.commit();
    }
    waiting_.clear();
    open();
}

} // namespace espalier
