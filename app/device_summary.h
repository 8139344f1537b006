// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QString>
#include <QStringList>
#include <vector>

namespace espalier {

/// What a machine's answer to `probe` says, for people.
struct DeviceSummary {
    QString device;         ///< that trains: the GPU if there is a usable one; empty if nothing can train
    QString line;           ///< "RTX 4060 ready · 7.2 of 8 GB free", or why nothing can train
    QString reason;         ///< why it is not the GPU; empty if it is, or if there is none
    QString backend;        ///< "cuda", "cpu"
    QStringList precisions; ///< that it computes in

    /// One that a run can be put on.
    struct Choice {
        QString value; ///< of a configuration's `backend`: "cpu", "cuda:GPU-1b2c..."
        QString name;
        QString title; ///< with its memory, where that is known: "RTX 4060 · 7.2 GB of 8 GB free"
        QString line;  ///< as the summary's
        QString backend;
        QStringList precisions;
    };
    std::vector<Choice> choices;
    QString takes; ///< the value of the choice that trains
    /// One that no run can be put on, and why.
    struct Unusable {
        QString value, name, reason;
    };
    std::vector<Unusable> unusable;

    [[nodiscard]] bool has(const QString& value) const; ///< whether it is one of the choices
    /// The same for another choice of `backend`; "auto", and one that is not known, is what this says.
    [[nodiscard]] DeviceSummary chosen(const QString& value) const;
};
[[nodiscard]] DeviceSummary summarize_devices(const Json& probe);

/// What a run's plan trains on: "H100 (cuda)". Of a processor it may know the backend alone.
[[nodiscard]] QString device_words(const QString& device, const QString& backend);

} // namespace espalier
