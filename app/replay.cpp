// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay.h"

#include "worker/protocol.h"

#include <QFile>

namespace espalier {

Replay::Replay(const QString& run_dir, double speed) : speed_(speed) {
    QFile file(run_dir + QStringLiteral("/events.jsonl"));
    if (!file.open(QIODevice::ReadOnly))
        throw DataError("There is no events.jsonl to replay in " + run_dir.toStdString() +
                        ". Give the folder of a run.");
    protocol::LineReader reader([this](Json message) { events_.push_back(read_event(std::move(message))); });
    const QByteArray bytes = file.readAll();
    reader.feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    reader.finish();
    if (events_.empty())
        throw DataError("The events.jsonl in " + run_dir.toStdString() + " holds no event.");
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
