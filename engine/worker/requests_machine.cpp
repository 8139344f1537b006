// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/error.h"
#include "base/threads.h"
#include "train/resources.h"
#include "train/run_config.h"
#include "worker/requests.h"

#include <QString>
#include <QSysInfo>
#include <algorithm>
#include <fstream>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// A field of /proc/cpuinfo, of the first processor; empty where there is no such file.
std::string cpuinfo(const std::string& field) {
    std::ifstream stream("/proc/cpuinfo");
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(field))
            if (const auto colon = line.find(": "); colon != std::string::npos)
                return line.substr(colon + 2);
    return {};
}

/// The widest vector instructions of this processor, as oneDNN names them.
std::string instruction_set() {
    const auto flags = " " + cpuinfo("flags") + " ";
    for (const auto& [flag, name] : {std::pair{"amx_bf16", "AMX"},
                                     {"avx512_bf16", "AVX-512 bf16"},
                                     {"avx512f", "AVX-512"},
                                     {"avx2", "AVX2"},
                                     {"sse4_1", "SSE4.1"}})
        if (flags.find(std::string(" ") + flag + " ") != std::string::npos)
            return name;
    return {};
}

std::string processor_name() {
    auto name = cpuinfo("model name");
    if (name.empty())
        name = QSysInfo::currentCpuArchitecture().toStdString();
    const auto vectors = instruction_set();
    return vectors.empty() ? name : name + " (" + vectors + ")";
}

Json entry(const BackendStatus& backend, const std::string& name, const Support& support) {
    return {{"backend", backend.name},
            {"name", name},
            {"uuid", ""},
            {"usable", support.yes},
            {"reason", support.reason},
            {"threads", usable_threads()},
            {"memory_bytes", machine_memory().value_or(0)},
            {"precisions", support.yes ? Json(backend.precisions) : Json::array()}};
}

Json entry(const BackendStatus& backend, const DeviceDescription& device) {
    auto result = entry(backend, device.name, device.usable ? backend.available : device.usable);
    result["uuid"] = device.uuid;
    result["driver"] = device.driver;
    result["library"] = device.library;
    result["compute_capability"] = device.compute_capability;
    result["memory_bytes"] = device.memory_bytes;
    result["free_bytes"] = device.free_bytes;
    return result;
}

std::map<std::string, std::string> reasons_in(const Json& arguments) {
    std::map<std::string, std::string> reasons;
    if (const auto list = arguments.find("unusable"); list != arguments.end() && list->is_object())
        for (const auto& [name, reason] : list->items())
            reasons[name] = reason.is_string() ? reason.get<std::string>() : "";
    return reasons;
}

} // namespace

/// `unusable` names backends that are better not asked, each with the reason; `backend` the only one to be opened.
Json answer_probe(const Json& arguments, const RequestContext&) {
    if (const auto backend = optional_text(arguments, "backend"); !backend.empty()) {
        (void)make_backend(backend, {});
        return Json::object();
    }
    Json devices = Json::array();
    for (const auto& backend : available_backends(reasons_in(arguments))) {
        for (const auto& device : backend.devices)
            devices.push_back(entry(backend, device));
        if (backend.devices.empty())
            devices.push_back(
                entry(backend, backend.name == "cpu" ? processor_name() : backend.description, backend.available));
    }
    return {{"devices", std::move(devices)},
            {"host", QSysInfo::machineHostName().toStdString()},
            {"version", ESPALIER_VERSION}};
}

Json answer_presets(const Json&, const RequestContext&) {
    Json presets = Json::array();
    for (const auto& name : preset_names())
        presets.push_back(preset_card(name));
    return {{"presets", std::move(presets)}};
}

Json answer_list(const Json& arguments, const RequestContext& context) {
    const fs::path path = required_text(arguments, "path");
    std::error_code error;
    std::vector<std::pair<std::string, bool>> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        context.check();
        std::error_code ignored;
        entries.emplace_back(it->path().filename().string(), it->is_directory(ignored));
    }
    if (error)
        throw DataError("The folder " + path.string() + " cannot be read: " + error.message() + ".");
    std::sort(entries.begin(), entries.end());
    Json answer = {{"path", fs::weakly_canonical(path, error).string()}, {"entries", Json::array()}};
    for (const auto& [name, folder] : entries)
        answer["entries"].push_back({{"name", name}, {"folder", folder}});
    return answer;
}

} // namespace espalier
