// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QStringList>
#include <vector>

namespace espalier {

/// A setting in which configurations differ.
struct ConfigDifference {
    QString field;      ///< its dotted path: as `--set` takes it
    QString title;      ///< in the words of the form; the path where the form has none
    QStringList values; ///< one a configuration, for people; "–" where it has none
};

/// What a person reads of a setting's value: "SGD with momentum", "0.1", "on"; "–" where there is none.
[[nodiscard]] QString setting_words(const QString& field, const Json& value);

/// The settings in which not all of these agree, in the form's order, then by their paths. What is left out means its
/// default. Names of runs are no difference.
[[nodiscard]] std::vector<ConfigDifference> config_differences(const std::vector<Json>& configs);

/// What `config` has otherwise than `base`, in the same shape; without its name and its preset's.
[[nodiscard]] Json changed_settings(const Json& base, const Json& config);

} // namespace espalier
