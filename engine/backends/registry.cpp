// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {
namespace {

/// Throws ConfigError where a device is named and there are none to tell apart.
void check_device(const BackendDefinition& definition, const std::string& device) {
    if (!device.empty() && !definition.devices)
        throw ConfigError("The " + definition.name + " backend has one device alone; \"" + device +
                          "\" was asked for. Leave the device out.");
}

} // namespace

BackendRegistry& BackendRegistry::instance() {
    static BackendRegistry registry;
    return registry;
}

void BackendRegistry::add(BackendDefinition definition) {
    if (std::ranges::find(definitions_, definition.name, &BackendDefinition::name) != definitions_.end())
        throw ConfigError("A backend named '" + definition.name + "' is registered already.");
    const auto position =
        std::ranges::find_if(definitions_, [&](const auto& other) { return other.preference < definition.preference; });
    definitions_.insert(position, std::move(definition));
}

const BackendDefinition& BackendRegistry::find(const std::string& name) const {
    const auto found = std::ranges::find(definitions_, name, &BackendDefinition::name);
    if (found != definitions_.end())
        return *found;
    std::string names;
    for (const auto& definition : definitions_)
        names += (names.empty() ? "" : ", ") + definition.name;
    throw ConfigError("There is no backend named '" + name + "'. Backends of this build: " + names + ".");
}

std::vector<BackendStatus> available_backends(const std::map<std::string, std::string>& unusable) {
    register_all_backends();
    std::vector<BackendStatus> backends;
    for (const auto& definition : BackendRegistry::instance().definitions()) {
        if (const auto known = unusable.find(definition.name); known != unusable.end()) {
            backends.push_back({definition.name, definition.description, Support::no(known->second), {}, {}});
            continue;
        }
        backends.push_back(
            {definition.name, definition.description, definition.available ? definition.available({}) : Support{},
             definition.devices ? definition.devices() : std::vector<DeviceDescription>(), definition.precisions});
    }
    return backends;
}

BackendChoice parse_backend(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos)
        return {text, {}};
    if (colon + 1 == text.size() || text.starts_with("auto:"))
        throw ConfigError("\"" + text +
                          "\" names no device of a backend. A device is written as cuda:0, or cuda: and "
                          "its UUID.");
    return {text.substr(0, colon), text.substr(colon + 1)};
}

std::unique_ptr<Backend> make_backend(const std::string& text, const BackendOptions& given) {
    register_all_backends();
    const auto [name, device] = parse_backend(text);
    auto options = given;
    options.device = device;
    const auto& definition = BackendRegistry::instance().find(name);
    if (definition.available)
        if (const auto available = definition.available(options); !available)
            throw ConfigError("The " + name + " backend is not available here: " + available.reason +
                              " `espalier-train probe` lists the devices that can be used.");
    check_device(definition, device);
    return definition.make(options);
}

Support supports_all(const Backend& backend, const Graph& graph) {
    for (const auto& op : graph.ops())
        if (auto support = backend.supports(graph, op); !support)
            return Support::no(op.kind + " of layer '" + op.layer + "': " + support.reason);
    return {};
}

std::unique_ptr<Backend> choose_backend(const std::string& text, const Graph& graph, const BackendOptions& given) {
    register_all_backends();
    const auto [name, device] = parse_backend(text);
    auto options = given;
    options.device = device;
    std::string reasons;
    for (const auto& definition : BackendRegistry::instance().definitions()) {
        if (name == "auto" ? definition.preference < 0 : name != definition.name)
            continue;
        auto support = definition.available ? definition.available(options) : Support{};
        if (support) {
            check_device(definition, device);
            auto backend = definition.make(options);
            support = supports_all(*backend, graph);
            if (support)
                return backend;
        }
        reasons += " " + definition.name + ": " + support.reason;
    }
    if (reasons.empty())
        static_cast<void>(BackendRegistry::instance().find(name)); // throws, listing the names
    throw ConfigError("No backend can run this network." + reasons);
}

} // namespace espalier
