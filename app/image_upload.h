// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace espalier {

/// An image file of this PC as it can be sent in one line of the protocol (1 MiB, of which base64 takes a third).
struct ImageUpload {
    static constexpr qsizetype most_bytes = 700 * 1024;
    QByteArray bytes; ///< the file's own where they are few enough, else those of a smaller image
    QString problem;  ///< why there are none
};
/// Reads and scales: not for the window's thread.
[[nodiscard]] ImageUpload read_for_upload(const QString& file);

} // namespace espalier
