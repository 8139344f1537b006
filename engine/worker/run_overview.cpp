// SPDX-License-Identifier: Apache-2.0
#include "worker/run_overview.h"

#include "base/error.h"
#include "worker/protocol.h"
#include "worker/smoothed_steps.h"

#include <QByteArray>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace espalier {
namespace {

std::string base64(std::string_view bytes) {
    return QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())).toBase64().toStdString();
}

std::string packed(const std::vector<float>& values) {
    return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

constexpr std::int64_t most_buckets = 1024;

/// Least, greatest and mean of the finite values in each bucket, and how many are none.
class Reduced {
public:
    explicit Reduced(std::size_t buckets)
        : low_(buckets, std::numeric_limits<float>::infinity()),
          high_(buckets, -std::numeric_limits<float>::infinity()), sum_(buckets), count_(buckets),
          not_finite_(buckets) {}

    void add(std::size_t bucket, double value) {
        add(bucket, 1, [value](std::size_t) { return value; });
    }
    /// `count` values of one bucket: summed in registers, since there are millions.
    template <class ValueOf>
    void add(std::size_t bucket, std::size_t count, ValueOf&& value_of) {
        float low = low_[bucket], high = high_[bucket];
        double sum = sum_[bucket];
        std::uint32_t finite = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = value_of(i);
            if (!std::isfinite(value))
                continue;
            low = std::min(low, static_cast<float>(value));
            high = std::max(high, static_cast<float>(value));
            sum += static_cast<double>(value);
            ++finite;
        }
        low_[bucket] = low, high_[bucket] = high, sum_[bucket] = sum;
        count_[bucket] += finite;
        not_finite_[bucket] += static_cast<std::uint32_t>(count) - finite;
    }
    [[nodiscard]] Json to_json() const {
        std::vector<float> low = low_, high = high_, mean(low_.size());
        for (std::size_t i = 0; i < mean.size(); ++i) {
            mean[i] = static_cast<float>(sum_[i] / static_cast<double>(count_[i])); // nothing finite: NaN
            if (count_[i] == 0)
                low[i] = high[i] = mean[i] = std::numeric_limits<float>::quiet_NaN();
        }
        Json series{{"low", packed(low)}, {"high", packed(high)}, {"mean", packed(mean)}};
        if (std::ranges::any_of(not_finite_, [](std::uint32_t count) { return count > 0; }))
            series["not_finite"] = packed({not_finite_.begin(), not_finite_.end()});
        return series;
    }

private:
    std::vector<float> low_, high_;
    std::vector<double> sum_;
    std::vector<std::uint32_t> count_, not_finite_;
};

/// Takes the entries of a run from the last to the first: so it is known at once which steps are in force, and how many
/// there are.
class Overview {
public:
    /// Of the whole run, or of a stretch of it.
    enum class Scope { whole, stretch };
    Overview(const std::vector<std::string>& wanted, const StepRange& range, Scope scope, double smoothing = 0)
        : wanted_(wanted), stretch_(scope == Scope::stretch), first_(range.first), last_(range.last),
          width_((last_ - first_ + most_buckets) / most_buckets) {
        if (smoothing <= 0)
            return;
        for (const char* name : {"loss", "accuracy"})
            if (std::ranges::find(wanted_, name) != wanted_.end())
                smooth_.try_emplace(name, smoothing, first_, last_);
    }

    void take(const ColumnEntry& entry) {
        if (const auto* table = std::get_if<ColumnTable>(&entry))
            table->kind == ColumnTable::Kind::steps ? take_steps(*table) : take_resources(*table);
        else
            take_line(std::get<std::string_view>(entry));
    }

    [[nodiscard]] Json to_json() const {
        Json series = Json::object();
        for (const auto& [name, reduced] : series_)
            series[name] = reduced.to_json();
        for (const auto& [name, smooth] : smooth_)
            if (series.contains(name))
                series[name]["smooth"] = packed(smooth.reduced(bucket(last_) + 1, width_));
        Json overview{{"first", first_},
                      {"steps", last_},
                      {"width", width_},
                      {"buckets", bucket(last_) + 1},
                      {"series", std::move(series)}};
        if (!stretch_) {
            overview["steps_per_epoch"] = steps_per_epoch_;
            overview["epochs"] = epochs_;
            overview.update(best_);
        }
        return overview;
    }

private:
    [[nodiscard]] std::size_t bucket(std::int64_t step) const {
        return static_cast<std::size_t>((std::clamp(step, first_, last_) - first_) / width_);
    }
    /// Of a whole run what stands before its first or behind its last step belongs to that.
    [[nodiscard]] bool is_outside(std::int64_t step) const { return stretch_ && (step < first_ || step > last_); }
    Reduced& series(const std::string& name) { return series_.try_emplace(name, bucket(last_) + 1).first->second; }

    void take_steps(const ColumnTable& table) {
        const auto rows = std::min<std::int64_t>(static_cast<std::int64_t>(table.rows),
                                                 std::min(in_force_, next_step_ - 1) - table.step + 1);
        if (rows <= 0 || table.step < 1)
            return;
        next_step_ = table.step;
        const auto end_row = std::min(rows, last_ - table.step + 1);
        for (const auto& column : table.columns) {
            if (std::ranges::find(wanted_, column.name) == wanted_.end())
                continue;
            if (const auto smooth = smooth_.find(column.name); smooth != smooth_.end())
                smooth->second.put(table.step, end_row, column.bytes);
            if (end_row <= first_ - table.step) // before the stretch: of use for what is smoothed alone
                continue;
            auto& reduced = series(std::string(column.name));
            for (auto row = std::max<std::int64_t>(0, first_ - table.step); row < end_row;) {
                const auto at = bucket(table.step + row);
                const auto end = std::min(end_row, first_ + static_cast<std::int64_t>(at + 1) * width_ - table.step);
                reduced.add(at, static_cast<std::size_t>(end - row), [&, row](std::size_t i) {
                    return ColumnTable::at<float>(column, static_cast<std::size_t>(row) + i);
                });
                row = end;
            }
        }
    }

    void take_resources(const ColumnTable& table) {
        const auto* steps = table.find("step");
        if (!steps)
            return;
        for (auto row = table.rows; row-- > 0;) {
            const auto step = static_cast<std::int64_t>(ColumnTable::at<double>(*steps, row));
            if (step > in_force_ || step >= next_sample_)
                continue;
            next_sample_ = step;
            if (is_outside(step))
                continue;
            for (const auto& column : table.columns)
                if (column.name != "step" && column.name != "time")
                    series("resources." + std::string(column.name))
                        .add(bucket(step), ColumnTable::at<double>(column, row));
        }
    }

    void take_line(std::string_view line) {
        const bool plan = steps_per_epoch_ <= 0 && line.find("\"plan\"") != std::string_view::npos;
        if (!plan && !tells_of_steps(line))
            return;
        const auto event = protocol::parse_line(line);
        if (!event)
            return;
        const auto step = static_cast<std::int64_t>(protocol::number_at(*event, "step"));
        if (protocol::is_event(*event, "superseded")) {
            in_force_ = std::min(in_force_, static_cast<std::int64_t>(protocol::number_at(*event, "from_step")));
        } else if (protocol::is_event(*event, "plan") && steps_per_epoch_ <= 0) {
            steps_per_epoch_ = protocol::number_at(*event, "steps_per_epoch");
            epochs_ = protocol::number_at(*event, "epochs");
        } else if (protocol::is_event(*event, "evaluation") && protocol::text_at(*event, "set") != "test" &&
                   step <= in_force_ && step < next_evaluation_) {
            next_evaluation_ = step;
            if (const auto best = protocol::best_at(*event); best && best_.empty()) // the newest knows the best of all
                best_ = {{"best_accuracy", best->accuracy}, {"best_epoch", best->epoch}};
            if (is_outside(step))
                return;
            for (const char* key : {"loss", "accuracy"})
                series(std::string("validation.") + key)
                    .add(bucket(step), protocol::number_at(*event, key, std::nan("")));
        }
    }

    static constexpr auto no_step = std::numeric_limits<std::int64_t>::max();

    const std::vector<std::string>& wanted_;
    std::map<std::string, Reduced> series_;
    std::map<std::string, SmoothedSteps, std::less<>> smooth_;
    bool stretch_;
    std::int64_t first_, last_, width_;
    std::int64_t in_force_ = no_step; ///< later steps were taken back
    std::int64_t next_step_ = no_step, next_sample_ = no_step, next_evaluation_ = no_step;
    double steps_per_epoch_ = 0, epochs_ = 0;
    Json best_ = Json::object();
};

} // namespace

std::string packed_event(const ColumnTable& table, const std::vector<std::string>& wanted) {
    const bool steps = table.kind == ColumnTable::Kind::steps;
    Json about{{"type", steps ? "steps" : "resources"}, {"packed", table.rows}};
    if (steps) {
        about["time"] = table.time;
        about["step"] = table.step;
        about["epoch"] = table.epoch;
    } else if (const auto* time = table.find("time"); time && table.rows > 0) {
        about["time"] = ColumnTable::at<double>(*time, table.rows - 1);
    }
    // Put together as text: the long columns are written once.
    auto text = about.dump();
    text.pop_back();
    for (const auto& column : table.columns) {
        if (steps ? std::ranges::find(wanted, column.name) == wanted.end() : column.name == "time")
            continue;
        text += ',' + Json(column.name).dump(-1, ' ', false, Json::error_handler_t::replace) + ":\"";
        text += base64(column.bytes);
        text += '"';
    }
    return text + '}';
}

Json overview_of(RunPast& past, const std::vector<std::string>& wanted, const std::stop_token& stop,
                 const std::optional<StepRange>& range, double smoothing) {
    const auto needed = [&] { return StepRange{SmoothedSteps::begin(smoothing, range->first), range->last}; };
    auto entries = range ? PastFromEnd(past, needed(), stop) : PastFromEnd(past, stop);
    const auto newest = entries.newest();
    if (newest == 0)
        return nullptr;
    if (range && range->first > newest)
        throw ConfigError("The request's `first` must be a step of the run, whose newest one is " +
                          std::to_string(newest) + "; this came: " + std::to_string(range->first) + ".");
    Overview overview(wanted, range ? StepRange{range->first, std::min(range->last, newest)} : StepRange{1, newest},
                      range ? Overview::Scope::stretch : Overview::Scope::whole, range ? smoothing : 0);
    entries.visit([&](const ColumnEntry& entry) { overview.take(entry); });
    return overview.to_json();
}

} // namespace espalier
