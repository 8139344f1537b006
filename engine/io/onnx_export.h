// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint.h"

#include <string>

namespace espalier {

/// Why this program cannot write ONNX files, as a sentence; empty if it can.
[[nodiscard]] std::string why_no_onnx();

/// A checkpoint's network as the bytes of an ONNX file (opset 13), for inference:
///   input  "image" u8 [batch, C, H, W], pixels of 0 to 255 at the network's size (RGB, or grey); batch is symbolic
///   output "probabilities" f32 [batch, classes]
/// The normalisation with the training set's mean and deviation is the graph's beginning, a softmax its end. Batch
/// norms use the running statistics; a search network's candidates are weighted with the softmax of its alphas as it
/// stands. Class names (a JSON list), normalisation, the NetworkSpec and the program's version are among the metadata.
/// Throws ConfigError if the program was built without ONNX, or for an op that has no counterpart there.
[[nodiscard]] std::string onnx_model(const Checkpoint& checkpoint);

/// Asks ONNX's own checker, with the inference of all shapes and types. Throws Error with its words if it refuses.
void check_onnx(const std::string& model);

} // namespace espalier
