// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay.h"

#include "worker/protocol.h"

#include <QFile>
#include <algorithm>

namespace espalier {

namespace {

std::vector<RunEvent> read_events(QFile& file) {
    std::vector<RunEvent> events;
    protocol::LineReader reader([&](Json message) { events.push_back(read_event(std::move(message))); });
    const QByteArray bytes = file.readAll();
    reader.feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    reader.finish();
    return events;
}

} // namespace

Replay::Replay(const QString& run_dir, double speed) : speed_(speed) {
    QFile file(run_dir + QStringLiteral("/events.jsonl")), layers(run_dir + QStringLiteral("/layers.jsonl"));
    if (!file.open(QIODevice::ReadOnly))
        throw ConfigError("There is no events.jsonl to replay in " + run_dir.toStdString() +
                        ". Give the folder of a run.");
    events_ = read_events(file);
    if (events_.empty())
        throw DataError("The events.jsonl in " + run_dir.toStdString() + " holds no event.");
    if (!layers.open(QIODevice::ReadOnly)) // no step was timed by layers
        return;
    const auto told = static_cast<std::ptrdiff_t>(events_.size());
    for (RunEvent& event : read_events(layers))
        events_.push_back(std::move(event));
    std::ranges::inplace_merge(events_, events_.begin() + told, {}, &RunEvent::time);
}

std::vector<RunEvent> Replay::take() {
    if (!clock_.isValid())
        clock_.start();
    const double now = events_.front().time + static_cast<double>(clock_.elapsed()) / 1000 * speed_;
    std::vector<RunEvent> due;
    while (next_ < events_.size() && (speed_ <= 0 || events_[next_].time <= now))
        due.push_back(std::move(events_[next_++]));
    return due;
}

} // namespace espalier
