// SPDX-License-Identifier: Apache-2.0
// In the place of onnx_export.cpp and onnx_import.cpp where the library was not there when the program was built.
#include "base/error.h"
#include "io/onnx_export.h"
#include "io/onnx_import.h"

namespace espalier {

std::string why_no_onnx() {
    return "This espalier-train was built without the ONNX library. Build it where libonnx-dev and protobuf-compiler "
           "are "
           "installed, or export as safetensors.";
}

std::string onnx_model(const Checkpoint&) { throw ConfigError(why_no_onnx()); }

void check_onnx(const std::string&) { throw ConfigError(why_no_onnx()); }

OnnxNetwork read_onnx(const std::string&, std::int64_t) { throw ConfigError(why_no_onnx()); }

} // namespace espalier
