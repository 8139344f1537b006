// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"
#include "texts.h"

namespace espalier::test {

/// Why the data set cannot be opened; empty if it can.
inline std::string refusal_of(const std::string& spec) {
    return message_of<Error>([&] { (void)open_dataset(spec); });
}

} // namespace espalier::test
