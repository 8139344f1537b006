// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "io/exports.h"
#include "worker/requests.h"

namespace espalier {

Json answer_export(const Json& arguments, const RequestContext&) {
    const std::filesystem::path out = required_text(arguments, "out");
    const auto format = required_text(arguments, "format");
    if (format != "safetensors" && format != "genotype")
        throw ConfigError("A network can be exported as safetensors or genotype; this came: " + format + ".");
    const auto checkpoint = load_checkpoint(required_text(arguments, "checkpoint"));
    if (format == "safetensors")
        export_safetensors(checkpoint, out);
    else
        export_genotype(checkpoint, out);
    return {{"file", out.string()}};
}

} // namespace espalier
