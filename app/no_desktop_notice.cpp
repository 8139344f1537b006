// SPDX-License-Identifier: GPL-3.0-or-later
// In place of desktop_notice.cpp on systems whose desktops have no D-Bus.
#include "desktop_notice.h"

#include <utility>

namespace espalier {

DesktopNotice::DesktopNotice(QString connection, QObject* parent)
    : QObject(parent), connection_(std::move(connection)) {}

void DesktopNotice::show(const QString&, const QString&, bool, std::function<void()> otherwise) { otherwise(); }

void DesktopNotice::invoked(uint, const QString&) {}

} // namespace espalier
