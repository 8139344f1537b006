// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint.h"

#include "base/error.h"
#include "io/safetensors.h"

#include <zlib.h>

#include <set>

namespace espalier {

namespace st = safetensors;

namespace {

constexpr std::string_view slot_prefix = "optimizer/";

std::string slot_name(const std::string& slot, const std::string& parameter) {
    return std::string(slot_prefix) + slot + "/" + parameter;
}

std::vector<st::Item> items_of(const ParameterStore& store) {
    std::vector<st::Item> items;
    for (const ParameterStore::Entry& entry : store.entries()) {
        items.push_back(st::Item::of(entry.name, entry.shape.vector(), std::span(entry.values)));
    }
    for (const ParameterStore::Entry& entry : store.entries()) {
        for (const auto& [slot, values] : entry.slots) {
            items.push_back(st::Item::of(slot_name(slot, entry.name), entry.shape.vector(), std::span(values)));
        }
    }
    return items;
}

std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

st::Metadata metadata_of(const CheckpointInfo& info, const ParameterStore& store, const std::vector<st::Item>& items) {
    Json buffers = Json::array();
    for (const ParameterStore::Entry& entry : store.entries()) {
        if (!entry.trained) {
            buffers.push_back(entry.name);
        }
    }
    std::uint32_t crc = crc_of(0, {});
    for (const st::Item& item : items) {
        crc = crc_of(crc, item.data);
    }
    return {{"format", "espalier"},
            {"format_version", std::to_string(checkpoint_format_version)},
            {"build", "espalier " ESPALIER_VERSION},
            {"network", info.network.to_json().dump()},
            {"step", std::to_string(info.step)},
            {"run_state", info.run_state.dump()},
            {"class_names", Json(info.class_names).dump(-1, ' ', false, Json::error_handler_t::replace)},
            {"normalization", Json({{"mean", info.mean}, {"deviation", info.deviation}}).dump()},
            {"precision", info.precision},
            {"buffers", buffers.dump()},
            {"data_crc32", std::to_string(crc)}};
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
    throw CheckpointError("The checkpoint " + path.string() + " cannot be used: " + reason);
}

std::string required(const st::Reader& reader, const std::filesystem::path& path, const std::string& key) {
    const auto found = reader.metadata().find(key);
    if (found == reader.metadata().end()) {
        refuse(path,
               "it does not say its " + key + ". It is a safetensors file, but not one that a run of Espalier wrote.");
    }
    return found->second;
}

/// Turns every way in which the metadata can be wrong into a CheckpointError.
CheckpointInfo info_of(const st::Reader& reader, const std::filesystem::path& path) {
    if (required(reader, path, "format") != "espalier") {
        refuse(path, "its format is \"" + reader.metadata().at("format") + "\", not espalier.");
    }
    try {
        const int version = std::stoi(required(reader, path, "format_version"));
        if (version > checkpoint_format_version) {
            refuse(path, "its format version is " + std::to_string(version) +
                             " and this program reads versions up to " + std::to_string(checkpoint_format_version) +
                             ". Install a newer Espalier.");
        }
        CheckpointInfo info;
        info.network = NetworkSpec::from_json(Json::parse(required(reader, path, "network")));
        info.step = std::stoll(required(reader, path, "step"));
        info.run_state = Json::parse(required(reader, path, "run_state"));
        info.class_names = Json::parse(required(reader, path, "class_names")).get<std::vector<std::string>>();
        const Json normalization = Json::parse(required(reader, path, "normalization"));
        info.mean = normalization.at("mean").get<std::vector<double>>();
        info.deviation = normalization.at("deviation").get<std::vector<double>>();
        info.precision = required(reader, path, "precision");
        info.build = required(reader, path, "build");
        return info;
    } catch (const Json::exception& error) {
        refuse(path, std::string("its description is damaged (") + error.what() + ").");
    } catch (const std::logic_error& error) { // of stoi and stoll
        refuse(path, std::string("its description is damaged (") + error.what() + ").");
    } catch (const ConfigError& error) {
        refuse(path, std::string("its network is unknown here. ") + error.what());
    }
}

std::set<std::string> buffers_of(const st::Reader& reader, const std::filesystem::path& path) {
    try {
        return Json::parse(required(reader, path, "buffers")).get<std::set<std::string>>();
    } catch (const Json::exception& error) {
        refuse(path, std::string("its list of buffers is damaged (") + error.what() + ").");
    }
}

ParameterStore store_of(const st::Reader& reader, const std::filesystem::path& path) {
    const std::set<std::string> buffers = buffers_of(reader, path);
    ParameterStore store;
    std::uint32_t crc = crc_of(0, {});
    for (const st::Entry& entry : reader.entries()) {
        if (entry.type != st::Type::f32 || entry.shape.size() > Shape::max_rank) {
            refuse(path, "its tensor \"" + entry.name + "\" is not float32 of at most " +
                             std::to_string(Shape::max_rank) + " dimensions.");
        }
        const Shape shape(entry.shape);
        std::vector<float> values = reader.floats(entry.name);
        crc = crc_of(crc, std::as_bytes(std::span(values)));
        if (!entry.name.starts_with(slot_prefix)) {
            store.add({entry.name, shape, !buffers.contains(entry.name), std::move(values), {}});
            continue;
        }
        const std::string rest = entry.name.substr(slot_prefix.size());
        const std::size_t slash = rest.find('/');
        const std::string parameter = slash == std::string::npos ? "" : rest.substr(slash + 1);
        // A writer puts slots after all parameters, so theirs are known here.
        if (!store.has(parameter) || store.at(parameter).shape != shape) {
            refuse(path, "its optimizer state \"" + entry.name + "\" belongs to no parameter of that shape.");
        }
        store.at(parameter).slots[rest.substr(0, slash)] = std::move(values);
    }
    if (std::to_string(crc) != required(reader, path, "data_crc32")) {
        refuse(path, "its values were changed after it was written (the checksum differs). Use another checkpoint.");
    }
    return store;
}

} // namespace

std::filesystem::path save_checkpoint(const std::filesystem::path& path, const CheckpointInfo& info,
                                      const ParameterStore& store, FileOperations& operations) {
    std::vector<st::Item> items = items_of(store);
    st::Metadata metadata = metadata_of(info, store, items);
    return st::write(path, std::move(items), metadata, operations);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
    const st::Reader reader(path);
    return {info_of(reader, path), store_of(reader, path)};
}

CheckpointInfo read_checkpoint_info(const std::filesystem::path& path) { return info_of(st::Reader(path), path); }

} // namespace espalier
