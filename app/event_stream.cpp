// SPDX-License-Identifier: GPL-3.0-or-later
#include "event_stream.h"

#include "worker/protocol.h"

#include <QByteArray>
#include <bit>
#include <cstring>

namespace espalier {

namespace {

static_assert(std::endian::native == std::endian::little,
              "packed numbers are little endian and are not converted here");

/// The numbers of a packed column; none if it is damaged.
template <typename Number>
std::vector<Number> unpacked(const Json& column) {
    std::vector<Number> values;
    const auto& text = column.get_ref<const std::string&>();
    const auto bytes =
        QByteArray::fromBase64Encoding(QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())),
                                       QByteArray::AbortOnBase64DecodingErrors);
    const auto size = static_cast<std::size_t>(bytes.decoded.size());
    if (!bytes || size % sizeof(Number) != 0)
        return values;
    values.resize(size / sizeof(Number));
    if (!values.empty())
        std::memcpy(values.data(), bytes.decoded.constData(), size);
    return values;
}

std::vector<float> take_values(Json& event, const char* key) {
    std::vector<float> values;
    const auto field = event.find(key);
    if (field == event.end())
        return values;
    if (field->is_string()) {
        values = unpacked<float>(*field);
        event.erase(key);
        return values;
    }
    if (!field->is_array())
        return values;
    values.reserve(field->size());
    for (const Json& value : *field)
        values.push_back(static_cast<float>(protocol::to_double(value)));
    event.erase(key);
    return values;
}

/// Samples of which one is shorter than the others are dropped: nobody knows what belongs together.
void take_samples(Json& event, RunEvent& into) {
    for (const auto& [key, value] : event.items())
        if (value.is_string() && key != "type")
            into.samples[key] = unpacked<double>(value);
    for (const auto& [key, values] : into.samples)
        event.erase(key);
    const auto steps = into.samples.find("step");
    if (steps == into.samples.end())
        into.samples.clear();
    else
        std::erase_if(into.samples,
                      [rows = steps->second.size()](const auto& item) { return item.second.size() != rows; });
}

} // namespace

std::vector<float> unpacked_floats(const Json& column) {
    return column.is_string() ? unpacked<float>(column) : std::vector<float>();
}

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
    if (result.type == "resources" && event.contains("packed"))
        take_samples(event, result);
    result.fields = std::move(event);
    return result;
}

} // namespace espalier
