// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "data_panel.h"
#include "worker/protocol.h"

#include <vector>

namespace espalier {

/// What the answer to `scan` says of a data set, for people: how many images of which sizes, each file that cannot be
/// read with its reason, each image that is there twice, the engine's warnings. Files are named from the data set's
/// folder on. Of very many bad files or repeated images the first, and how many more there are. `most_bad`: the share
/// of bad image files with which a run begins (max_bad_share); that there are more is said, too.
[[nodiscard]] std::vector<DataPanel::Finding> scan_findings(const Json& scan, double most_bad);

/// Why no run begins with image files of which so many are bad, as training will find when it has decoded them; empty
/// if nothing stands against it, and of other kinds of data sets, which are checked when they are opened.
[[nodiscard]] QString scan_refusal(const Json& scan, double most_bad);

} // namespace espalier
