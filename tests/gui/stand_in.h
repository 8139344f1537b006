// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace espalier::test {

/// The stand-in for the engine, for tests that are built with its place (FAKE_SERVE).
inline const QString engine = QStringLiteral(FAKE_SERVE);

} // namespace espalier::test
