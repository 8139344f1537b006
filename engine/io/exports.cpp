// SPDX-License-Identifier: Apache-2.0
#include "io/exports.h"

#include "base/error.h"
#include "io/run_folder.h"
#include "io/safetensors.h"
#include "nn/genotype.h"

namespace espalier {

void check_is_no_folder(const std::filesystem::path& out) {
    std::error_code ignored;
    if (std::filesystem::is_directory(out, ignored))
        throw ConfigError("'" + out.string() + "' is a folder. Give the name of a file in it.");
}

void check_export_place(const std::filesystem::path& out) {
    check_is_no_folder(out);
    const auto file = std::filesystem::weakly_canonical(std::filesystem::absolute(out));
    for (auto folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        const RunFolder run(folder);
        if (!run.is_run() || !std::filesystem::exists(run.events()))
            continue;
        const auto within = file.lexically_relative(folder);
        if (*within.begin() != run.exports().filename())
            throw ConfigError("'" + out.string() + "' lies among the files of a run. Write it into " +
                              run.exports().string() + " or outside of the run's folder.");
    }
}

std::vector<std::filesystem::path> make_folders_above(const std::filesystem::path& file) {
    std::vector<std::filesystem::path> missing;
    std::error_code error;
    for (auto folder = file.parent_path(); !folder.empty() && !std::filesystem::exists(folder, error);
         folder = folder.parent_path()) {
        missing.insert(missing.begin(), folder);
    }
    for (const auto& folder : missing) {
        std::filesystem::create_directory(folder, error);
        if (error) {
            throw Error("The folder " + folder.string() + " cannot be made: " + error.message() + ". " +
                        remedy_for(error));
        }
    }
    return missing;
}

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

void export_network_spec(const Checkpoint& checkpoint, const std::filesystem::path& out) {
    write_json(out, checkpoint.info.network.to_json());
}

} // namespace espalier
