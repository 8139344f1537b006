// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "class_table.h"
#include "confusion_matrix.h"
#include "image_grid.h"
#include "worker/protocol.h"

namespace espalier {

// What `confusion`, `cell_images` and `predict` answer (docs/PROTOCOL.md), for the widgets. What is missing or of a
// strange kind is left out: another version of the engine may answer.

/// Precision, recall and F1 of each class, in the classes' order.
std::vector<ClassRow> read_classes(const Json& answer);
/// `names`: of the classes; cells that name others are left out.
ConfusionCounts read_counts(const Json& answer, const QStringList& names);
std::vector<ExaminedImage> read_images(const Json& answer, const QStringList& names);
/// Classes and their probabilities, as the engine orders them: the most probable first.
std::vector<std::pair<QString, double>> read_prediction(const Json& answer);

} // namespace espalier
