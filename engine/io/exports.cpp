// SPDX-License-Identifier: Apache-2.0
#include "io/exports.h"

#include "base/error.h"
#include "io/run_folder.h"
#include "io/safetensors.h"
#include "nn/genotype.h"

namespace espalier {

void export_safetensors(const Checkpoint& checkpoint, const std::filesystem::path& out) {
    std::vector<safetensors::Item> items;
    for (const ParameterStore::Entry& entry : checkpoint.store.entries()) {
        items.push_back(safetensors::Item::of(entry.name, entry.shape.vector(), std::span(entry.values)));
    }
    const CheckpointInfo& info = checkpoint.info;
    const std::filesystem::path written = safetensors::write(
        out, std::move(items),
        {{"network", info.network.to_json().dump()},
         {"class_names", Json(info.class_names).dump(-1, ' ', false, Json::error_handler_t::replace)},
         {"normalization", Json({{"mean", info.mean}, {"deviation", info.deviation}}).dump()},
         {"build", info.build}});
    if (written != out) {
        throw Error("The file " + out.string() + " is held by another program; the export was written to " +
                    written.string() + ".");
    }
}

Json genotype_of(const Checkpoint& checkpoint) {
    const NetworkSpec& network = checkpoint.info.network;
    if (network.network == "supernet") {
        return derive_genotype(checkpoint.store, network.settings.at("ops").get<std::vector<std::string>>()).to_json();
    }
    if (network.network == "genotype") {
        return Genotype::from_json(network.settings).to_json();
    }
    throw ConfigError("A " + network.network +
                      " network has no genotype: only search networks and networks of a genotype have one.");
}

void export_genotype(const Checkpoint& checkpoint, const std::filesystem::path& out) {
    write_json(out, genotype_of(checkpoint));
}

} // namespace espalier
