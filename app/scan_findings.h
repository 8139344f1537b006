// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "data_panel.h"
#include "worker/protocol.h"

#include <vector>

namespace espalier {

/// What the answer to `scan` says of a data set, for people: how many images of which sizes, each file that cannot be
/// read with its reason, each image that is there twice, the engine's warnings. Files are named from the data set's
/// folder on. Of very many bad files or repeated images the first, and how many more there are.
[[nodiscard]] std::vector<DataPanel::Finding> scan_findings(const Json& scan);

} // namespace espalier
