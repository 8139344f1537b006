// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/metrics_file.h"
#include "train/events.h"
#include "train/tensorboard_log.h"

#include <filesystem>
#include <optional>

namespace espalier {

/// Hands events on, and keeps metrics.csv and TensorBoard's files from them. A disk that refuses the metrics is told
/// once; training is worth more.
class Recorder : public EventSink {
public:
    Recorder(const std::filesystem::path& run, EventSink& next) : next_(next), metrics_(run) {}

    void send(Json event) override;
    /// From now on event files for TensorBoard are written too, in that folder.
    void begin_tensorboard(const std::filesystem::path& folder);
    /// The run goes on from this step: rows of later ones are gone. (The supervisor marks them in the events.)
    void take_back_after(std::int64_t step);
    /// Writes what waits. TensorBoard's files take nothing any more.
    void close() { tensorboard_.reset(); }

private:
    void keep(const Json& event);

    EventSink& next_;
    MetricsFile metrics_;
    std::optional<TensorBoardLog> tensorboard_;
    bool refused_ = false;
};

} // namespace espalier
