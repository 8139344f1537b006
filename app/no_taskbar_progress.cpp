// SPDX-License-Identifier: GPL-3.0-or-later
// In place of taskbar_progress.cpp on systems whose desktops have no D-Bus.
#include "taskbar_progress.h"

#include <utility>

namespace espalier {

TaskbarProgress::TaskbarProgress(QString connection, QObject* parent)
    : QObject(parent), connection_(std::move(connection)) {}

TaskbarProgress::~TaskbarProgress() = default;

void TaskbarProgress::set(std::optional<double>) {}

} // namespace espalier
