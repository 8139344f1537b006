// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

namespace espalier::test {

/// As `confusion` answers for a set of ten classes, each mistaken for the next one, the later ones more often.
[[nodiscard]] Json confusion(const Json& arguments);
/// The images behind it, as `cell_images` answers.
[[nodiscard]] Json cell_images(const Json& arguments);
/// As `predict` answers, whatever the image is.
[[nodiscard]] Json prediction();

} // namespace espalier::test
