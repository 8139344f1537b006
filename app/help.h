// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QMenu;
class QWidget;

namespace espalier {

/// The keys of a menu's entries and of the parts of the window, in a dialog.
void show_keys(const QMenu& menu, QWidget* window);
/// What this program is. `engine`: the build that answers, and where; empty: none does.
void show_about(const QString& engine, QWidget* window);
/// What it takes to train on a GPU. `reason`: why none does now; empty: one does, or nothing is known yet.
void show_gpu_help(const QString& reason, QWidget* window);

} // namespace espalier
