// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QString>
#include <QVariant>

namespace espalier {

[[nodiscard]] inline QString to_qstring(const std::string& text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}
[[nodiscard]] QString text_at(const Json& object, const char* key, const QString& otherwise = {});
[[nodiscard]] QVariant to_variant(const Json& json);
[[nodiscard]] Json to_json(const QVariant& value);
/// The value at a dotted path, null if there is none.
[[nodiscard]] Json at_path(const Json& object, const QString& path);
/// Puts a value at a dotted path, making objects on the way.
void put_at_path(Json& object, const QString& path, const Json& value);
/// Takes it away, if it is there; the objects on the way stay.
void remove_at_path(Json& object, const QString& path);

} // namespace espalier
