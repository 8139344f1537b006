// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"

#include "base/error.h"

#include <algorithm>
#include <mutex>

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

struct BackendRegistry::Entry::Opened {
    std::once_flag once;
    std::function<BackendDefinition()> open;
    BackendDefinition definition;
};

BackendRegistry::Entry::Entry(BackendDefinition definition)
    : Entry(definition.name, definition.description, definition.preference, [definition] { return definition; }) {}

BackendRegistry::Entry::Entry(std::string its_name, std::string its_description, int its_preference,
                              std::function<BackendDefinition()> open)
    : name(std::move(its_name)), description(std::move(its_description)), preference(its_preference),
      opened_(std::make_shared<Opened>()) {
    opened_->open = std::move(open);
}

const BackendDefinition& BackendRegistry::Entry::definition() const {
    std::call_once(opened_->once, [this] { opened_->definition = opened_->open(); });
    return opened_->definition;
}

void BackendRegistry::add(Entry entry) {
    if (std::ranges::find(entries_, entry.name, &Entry::name) != entries_.end())
        throw ConfigError("A backend named '" + entry.name + "' is registered already.");
    const auto position =
        std::ranges::find_if(entries_, [&](const auto& other) { return other.preference < entry.preference; });
    entries_.insert(position, std::move(entry));
}

const BackendDefinition& BackendRegistry::find(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    if (found != entries_.end())
        return found->definition();
    std::string names;
    for (const auto& entry : entries_)
        names += (names.empty() ? "" : ", ") + entry.name;
    throw ConfigError("There is no backend named '" + name + "'. Backends of this build: " + names + ".");
}

std::vector<BackendStatus> available_backends(const std::map<std::string, std::string>& unusable) {
    register_all_backends();
    std::vector<BackendStatus> backends;
    for (const auto& entry : BackendRegistry::instance().entries()) {
        if (const auto known = unusable.find(entry.name); known != unusable.end()) {
            backends.push_back({entry.name, entry.description, Support::no(known->second), {}, {}});
            continue;
        }
        const auto& definition = entry.definition();
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
    for (const auto& entry : BackendRegistry::instance().entries()) {
        if (name == "auto" ? entry.preference < 0 : name != entry.name)
            continue;
        const auto& definition = entry.definition();
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
