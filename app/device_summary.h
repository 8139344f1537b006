// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QString>
#include <QStringList>

namespace espalier {

/// What a machine's answer to `probe` says, for people.
struct DeviceSummary {
    QString device;         ///< that trains: the GPU if there is a usable one; empty if nothing can train
    QString line;           ///< "RTX 4060 ready · 7.2 of 8 GB free", or why nothing can train
    QString reason;         ///< why it is not the GPU; empty if it is, or if there is none
    QString backend;        ///< "cuda", "cpu"
    QStringList precisions; ///< that it computes in
};
[[nodiscard]] DeviceSummary summarize_devices(const Json& probe);

} // namespace espalier
