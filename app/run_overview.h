// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "metric_series.h"
#include "step_clock.h"
#include "worker/protocol.h"

#include <QString>
#include <array>
#include <optional>

namespace espalier {

/// Kinds of memory that are told apart: weights, optimizer, activations, workspace, and a data set on the device.
inline constexpr std::size_t memory_parts = 5;

/// The past of a long run in about a thousand buckets (docs/PROTOCOL.md): drawn while all of it is on its way.
struct RunOverview {
    std::int64_t first = 1, steps = 0;                     ///< where it begins, and ends
    std::int64_t width = 1;                                ///< steps of a bucket
    std::int64_t last_step = 0;                            ///< at which the run ends; 0: not known
    MetricSeries loss, loss_mean, accuracy, accuracy_mean; ///< least and greatest of each bucket; the mean
    MetricSeries loss_smooth, accuracy_smooth;         ///< of a stretch, if it was asked for: the mean of each bucket
    MetricSeries loss_not_finite, accuracy_not_finite; ///< NaN in the middle of each bucket with such a value
    MetricSeries validation_loss, validation_accuracy;
    std::array<MetricSeries, memory_parts> memory; ///< sums, as in RunModel
    MetricSeries process;
    MetricSeries gflops, utilisation;
    StepClock clock;
    std::optional<double> best_accuracy; ///< of the validation part
    std::int64_t best_epoch = 0;
};

/// What values of an overview are, for the head of a table: in English, as all heads. Empty where a bucket is a single
/// step.
struct BucketWords {
    QString mean, range, greatest;
};
[[nodiscard]] BucketWords bucket_words(std::int64_t width);

/// The whole run, with what a stretch says of it in the place of its own buckets there: smoothed means, if it has some.
[[nodiscard]] RunOverview refined(const RunOverview& whole, const RunOverview& stretch);

/// Nothing if `overview` has not the form of one.
[[nodiscard]] std::optional<RunOverview> read_overview(const Json& overview);

} // namespace espalier
