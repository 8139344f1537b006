// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_form.h"

namespace espalier {

/// The values of a run's configuration that the form shows, in its order. One table: a new field is a line here.
[[nodiscard]] const std::vector<FormField>& run_fields();
/// What a configuration that leaves a field out means by that.
[[nodiscard]] const QMap<QString, QVariant>& field_defaults();

} // namespace espalier
