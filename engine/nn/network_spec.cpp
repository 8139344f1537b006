// SPDX-License-Identifier: Apache-2.0
#include "nn/network_spec.h"

#include "base/error.h"
#include "base/json_fields.h"

#include <algorithm>
#include <array>

namespace espalier {

namespace {

constexpr std::array<const char*, 5> own_keys{"network", "channels", "height", "width", "classes"};

} // namespace

Json NetworkSpec::to_json() const {
    Json json = {
        {"network", network}, {"channels", channels}, {"height", height}, {"width", width}, {"classes", classes}};
    json.update(settings);
    return json;
}

NetworkSpec NetworkSpec::from_json(const Json& json) {
    register_all_networks();
    // The spec's own keys are read here, all others by the network itself.
    JsonFields whole(json, "network");
    Json own = Json::object();
    Json settings = Json::object();
    for (const auto& [key, value] : json.items()) {
        (std::ranges::find(own_keys, key) != own_keys.end() ? own : settings)[key] = value;
    }
    NetworkSpec spec;
    JsonFields fields(own, "network");
    fields.read("network", spec.network);
    fields.read("channels", spec.channels, 1, 1024);
    fields.read("height", spec.height, 1, 8192);
    fields.read("width", spec.width, 1, 8192);
    fields.read("classes", spec.classes, 1, 1'000'000);
    spec.settings = NetworkRegistry::instance().find(spec.network).complete(settings);
    return spec;
}

NetworkRegistry& NetworkRegistry::instance() {
    static NetworkRegistry registry;
    return registry;
}

void NetworkRegistry::add(NetworkDefinition definition) {
    if (std::ranges::find(definitions_, definition.name, &NetworkDefinition::name) != definitions_.end()) {
        throw ConfigError("The network name \"" + definition.name + "\" is taken.");
    }
    definitions_.push_back(std::move(definition));
}

const NetworkDefinition& NetworkRegistry::find(const std::string& name) const {
    const auto found = std::ranges::find(definitions_, name, &NetworkDefinition::name);
    if (found == definitions_.end()) {
        std::string known;
        for (const NetworkDefinition& definition : definitions_) {
            known += (known.empty() ? "" : ", ") + definition.name;
        }
        throw ConfigError("There is no network \"" + name + "\". Known are: " + known + ".");
    }
    return *found;
}

std::vector<std::string> NetworkRegistry::names() const {
    std::vector<std::string> names;
    for (const NetworkDefinition& definition : definitions_) {
        names.push_back(definition.name);
    }
    return names;
}

ForwardGraph build_forward(const NetworkSpec& spec, std::int64_t batch, NormMode mode, const LossSettings& loss) {
    register_all_networks();
    ForwardGraph forward;
    GraphBuilder builder(forward.graph);
    forward.images = builder.input("images", {batch, spec.channels, spec.height, spec.width});
    forward.labels = builder.input("labels", {batch}, DType::i32);
    forward.logits = NetworkRegistry::instance().find(spec.network).build(builder, spec, forward.images, mode);
    std::vector<TensorId> scored{forward.logits, forward.labels};
    if (loss.class_weights) {
        scored.push_back(builder.buffer(class_weights_name, {spec.classes}, {Initializer::Kind::constant, 1.0}));
    }
    forward.loss = builder.apply("cross_entropy", scored, {{"label_smoothing", loss.label_smoothing}}).front();
    forward.correct = builder.apply_one("correct_count", {forward.logits, forward.labels});
    for (const TensorId kept : {forward.logits, forward.loss, forward.correct}) {
        forward.graph.keep(kept);
    }
    return forward;
}

} // namespace espalier
