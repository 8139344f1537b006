// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <string>

namespace espalier::test {

/// A message as lines to stdout, from any thread.
void send_line(const Json& message);
/// Past the writer of the protocol's lines, but whole beside them.
void send_raw(const std::string& bytes);

} // namespace espalier::test
