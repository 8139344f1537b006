// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace espalier {

/// How far a run is that trains.
struct RunProgress {
    QString name;
    double share = 0; ///< 0 to 1
};

} // namespace espalier
