// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "event_stream.h"

#include <QElapsedTimer>
#include <QString>
#include <vector>

namespace espalier {

/// Plays the events of a run's folder (events.jsonl, and the times of its layers in layers.jsonl) as if it ran now, for
/// those who work on the window: no engine is needed.
class Replay {
public:
    /// `speed` times as fast as it was; 0: all at once. Throws Error if there is nothing to read.
    Replay(const QString& run_dir, double speed);

    /// The events whose time has come since the last call.
    [[nodiscard]] std::vector<RunEvent> take();
    [[nodiscard]] bool at_end() const { return next_ == events_.size(); }

private:
    std::vector<RunEvent> events_;
    std::size_t next_ = 0;
    double speed_;
    QElapsedTimer clock_;
};

} // namespace espalier
