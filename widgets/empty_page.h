// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>

class QLabel;
class QPushButton;
class QWidget;

namespace espalier {

/// Lays out a page that has nothing to show yet: in its middle what is missing, in words, and below them the buttons
/// that help.
void lay_out_empty(QWidget& page, QLabel& words, std::initializer_list<QPushButton*> buttons);

} // namespace espalier
