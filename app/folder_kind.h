// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QString>

namespace espalier {

/// Whether a folder is that of a run, by the machine's answer to `list`.
[[nodiscard]] bool is_run_folder(const Json& list);
/// The data set that a folder holds, as a run's `data` names it: by the names of its files cifar10:, cifar100: or idx:,
/// a folder with one table csv:, any other folder:.
[[nodiscard]] QString data_in_folder(const QString& path, const Json& list);

} // namespace espalier
