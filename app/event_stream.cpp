// SPDX-License-Identifier: GPL-3.0-or-later
#include "event_stream.h"

#include "worker/protocol.h"

namespace espalier {

namespace {

std::vector<float> take_values(Json& event, const char* key) {
    std::vector<float> values;
    const auto field = event.find(key);
    if (field == event.end() || !field->is_array())
        return values;
    values.reserve(field->size());
    for (const Json& value : *field)
        values.push_back(static_cast<float>(protocol::to_double(value)));
    event.erase(key);
    return values;
}

} // namespace

RunEvent read_event(Json event) {
    RunEvent result;
    if (!event.is_object())
        return result;
    result.type = protocol::text_at(event, "type");
    result.time = protocol::number_at(event, "time");
    result.step = static_cast<std::int64_t>(protocol::number_at(event, "step"));
    result.epoch = protocol::number_at(event, "epoch");
    if (result.type == "steps") {
        result.loss = take_values(event, "loss");
        result.accuracy = take_values(event, "accuracy");
        result.seconds = take_values(event, "seconds");
        event.erase("learning_rate"); // nothing shows it yet, and it is as long as the others
    }
    result.fields = std::move(event);
    return result;
}

} // namespace espalier
