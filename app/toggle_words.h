// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QString>
#include <vector>

namespace espalier {

struct DeviceSummary;

/// One of the engine's toggles, for people. One table for the form of a new run and for the setup of one that runs.
struct Toggle {
    QString name; ///< in a configuration: toggles.NAME
    QString title;
    QString sentence; ///< when one needs it, and what it costs
};
[[nodiscard]] const std::vector<Toggle>& toggles();
/// The title of a toggle, or of another rung of the engine's ladder; `name` itself if it is unknown.
[[nodiscard]] QString toggle_title(const QString& name);
/// Why that toggle changes nothing on the device; empty if it does. `precision` always does.
[[nodiscard]] QString toggle_refusal(const QString& name, const DeviceSummary& device);
/// Why the device cannot compute in that precision; empty if it can.
[[nodiscard]] QString precision_refusal(const QString& precision, const DeviceSummary& device);

/// What holds a GPU's clocks down, in words; empty if nothing does. `bits` as in docs/PROTOCOL.md.
[[nodiscard]] QString throttle_words(unsigned bits);

} // namespace espalier
