// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

namespace espalier {

/// tr() of functions that belong to no class: lupdate files their texts under the namespace. In a class that is no
/// QObject it is espalier::tr(), or lupdate would file them under the class.
inline QString tr(const char* text, const char* meaning = nullptr) {
    return QCoreApplication::translate("espalier", text, meaning);
}

} // namespace espalier
