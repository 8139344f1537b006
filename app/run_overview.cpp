// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_overview.h"

#include "event_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

namespace {

MetricSeries series_of(const std::vector<Sample>& samples) {
    MetricSeries series;
    series.append(samples);
    return series;
}

/// One series of an overview, bucket by bucket.
class Buckets {
public:
    explicit Buckets(const Json& overview)
        : series_(overview.at("series")), first_(overview.value("first", std::int64_t{1})),
          steps_(overview.at("steps").get<std::int64_t>()), width_(overview.at("width").get<std::int64_t>()),
          count_(overview.at("buckets").get<std::size_t>()) {}

    [[nodiscard]] bool sound() const {
        return series_.is_object() && first_ > 0 && steps_ >= first_ && width_ > 0 && count_ > 0 && count_ <= most &&
               (steps_ - first_) / width_ == static_cast<std::int64_t>(count_ - 1);
    }
    /// Empty if there is no such series or it is of another length.
    [[nodiscard]] std::vector<float> values(const char* name, const char* what) const {
        const auto found = series_.find(name);
        if (found == series_.end() || !found->is_object() || !found->contains(what))
            return {};
        auto values = unpacked_floats(found->at(what));
        if (values.size() != count_)
            values.clear();
        return values;
    }
    [[nodiscard]] std::int64_t first_step(std::size_t bucket) const {
        return first_ + static_cast<std::int64_t>(bucket) * width_;
    }
    [[nodiscard]] std::int64_t middle_step(std::size_t bucket) const {
        return std::min(first_step(bucket) + width_ / 2, steps_);
    }
    [[nodiscard]] std::int64_t last_step(std::size_t bucket) const {
        return std::min(first_step(bucket) + width_ - 1, steps_);
    }

    /// Both ends of each bucket, one behind the other.
    [[nodiscard]] MetricSeries range(const char* name) const {
        const auto low = values(name, "low"), high = values(name, "high");
        std::vector<Sample> ends;
        for (std::size_t i = 0; i < std::min(low.size(), high.size()); ++i)
            if (std::isfinite(low[i]) && std::isfinite(high[i])) {
                if (low[i] != high[i] && middle_step(i) > first_step(i))
                    ends.push_back({static_cast<double>(first_step(i)), low[i]});
                ends.push_back({static_cast<double>(middle_step(i)), high[i]});
            }
        return series_of(ends);
    }
    /// An older engine does not tell: none.
    [[nodiscard]] MetricSeries not_finite(const char* name) const {
        const auto counts = values(name, "not_finite");
        std::vector<Sample> samples;
        for (std::size_t i = 0; i < counts.size(); ++i)
            if (counts[i] > 0)
                samples.push_back({static_cast<double>(middle_step(i)), std::numeric_limits<double>::quiet_NaN()});
        return series_of(samples);
    }
    [[nodiscard]] MetricSeries mean(const char* name) const { return single(values(name, "mean")); }
    [[nodiscard]] MetricSeries smooth(const char* name) const { return single(values(name, "smooth")); }
    [[nodiscard]] MetricSeries single(const std::vector<float>& values) const {
        std::vector<Sample> samples;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(values[i]))
                samples.push_back({static_cast<double>(middle_step(i)), values[i]});
        return series_of(samples);
    }

private:
    static constexpr std::size_t most = 1 << 16;

    const Json& series_;
    std::int64_t first_, steps_, width_;
    std::size_t count_;
};

std::array<MetricSeries, memory_parts> memory_of(const Buckets& buckets) {
    std::array<MetricSeries, memory_parts> memory;
    std::vector<float> sum;
    const std::array<const char*, memory_parts> parts{"resources.memory.weights", "resources.memory.optimizer",
                                                      "resources.memory.activations", "resources.memory.workspace",
                                                      "resources.memory.data"};
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto bytes = buckets.values(parts[part], "high");
        sum.resize(std::max(sum.size(), bytes.size()));
        for (std::size_t i = 0; i < bytes.size(); ++i)
            sum[i] += bytes[i];
        memory[part] = buckets.single(sum);
    }
    return memory;
}

} // namespace

BucketWords bucket_words(std::int64_t width) {
    if (width <= 1)
        return {};
    const auto of_steps = [width](const char* what) { return QStringLiteral("%1 of %2 steps").arg(what).arg(width); };
    return {of_steps("mean"), of_steps("least and greatest"), of_steps("greatest")};
}

RunOverview refined(const RunOverview& whole, const RunOverview& stretch) {
    RunOverview result = whole;
    const auto put = [&](MetricSeries& into, const MetricSeries& fine) {
        std::vector<Sample> samples;
        samples.reserve(into.size() + fine.size());
        const auto copy = [&](const MetricSeries& from, const auto& wanted) {
            for (std::size_t i = 0; i < from.size(); ++i)
                if (const auto step = from.step_at(i); wanted(step))
                    samples.push_back({static_cast<double>(step), from.value_at(i)});
        };
        copy(into, [&](std::int64_t step) { return step < stretch.first; });
        copy(fine, [](std::int64_t) { return true; });
        copy(into, [&](std::int64_t step) { return step > stretch.steps; });
        into = series_of(samples);
    };
    put(result.loss_mean, stretch.loss_smooth.empty() ? stretch.loss_mean : stretch.loss_smooth);
    put(result.accuracy_mean, stretch.accuracy_smooth.empty() ? stretch.accuracy_mean : stretch.accuracy_smooth);
    for (const auto member :
         {&RunOverview::loss, &RunOverview::accuracy, &RunOverview::validation_loss, &RunOverview::validation_accuracy,
          &RunOverview::process, &RunOverview::gflops, &RunOverview::utilisation, &RunOverview::loss_not_finite,
          &RunOverview::accuracy_not_finite})
        put(result.*member, stretch.*member);
    for (std::size_t part = 0; part < memory_parts; ++part)
        put(result.memory[part], stretch.memory[part]);
    return result;
}

std::optional<RunOverview> read_overview(const Json& overview) {
    try {
        const Buckets buckets(overview);
        if (!buckets.sound())
            return std::nullopt;
        RunOverview result;
        result.first = overview.value("first", std::int64_t{1});
        result.steps = overview.at("steps").get<std::int64_t>();
        result.width = overview.at("width").get<std::int64_t>();
        const double per_epoch = protocol::number_at(overview, "steps_per_epoch");
        result.last_step = std::llround(per_epoch * protocol::number_at(overview, "epochs"));
        result.loss = buckets.range("loss");
        result.loss_mean = buckets.mean("loss");
        result.loss_smooth = buckets.smooth("loss");
        result.accuracy_smooth = buckets.smooth("accuracy");
        result.loss_not_finite = buckets.not_finite("loss");
        result.accuracy_not_finite = buckets.not_finite("accuracy");
        result.accuracy = buckets.range("accuracy");
        result.accuracy_mean = buckets.mean("accuracy");
        result.validation_loss = buckets.mean("validation.loss");
        result.validation_accuracy = buckets.mean("validation.accuracy");
        result.memory = memory_of(buckets);
        result.process = buckets.mean("resources.memory.process");
        result.gflops = buckets.range("resources.gflops");
        result.utilisation = buckets.mean("resources.utilisation");
        if (const auto best = protocol::best_at(overview)) {
            result.best_accuracy = best->accuracy;
            result.best_epoch = best->epoch;
        }
        double seconds = 0;
        const auto pace = buckets.values("seconds", "mean");
        for (std::size_t i = 0; i < pace.size(); ++i) {
            const auto last = buckets.last_step(i);
            seconds += std::isfinite(pace[i]) ? pace[i] * static_cast<double>(last - buckets.first_step(i) + 1) : 0;
            const auto at = static_cast<double>(last);
            result.clock.add(at, per_epoch > 0 ? at / per_epoch : 0, seconds);
        }
        return result;
    } catch (const Json::exception&) { // a field is missing or of another type
        return std::nullopt;
    }
}

} // namespace espalier
