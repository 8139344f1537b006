// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace espalier {

/// An ONNX file as a graph of the engine.
struct OnnxNetwork {
    Graph graph; ///< one input "image" f32 [batch, C, H, W], pixels of 0 to 255; its output is kept
    TensorId image = no_tensor, output = no_tensor;
    std::map<std::string, std::vector<float>> values; ///< of the graph's parameters, by name
    std::map<std::string, std::string> metadata;
};

/// Reads the bytes of an ONNX file of the kind that onnx_model() writes, for a batch of that size. The reader shares no
/// table with the writer: that both agree says that the file means what was trained. Throws ConfigError if the program
/// was built without ONNX, Error for a damaged file or one with an op, attribute or type that the reader does not know.
[[nodiscard]] OnnxNetwork read_onnx(const std::string& model, std::int64_t batch);

} // namespace espalier
