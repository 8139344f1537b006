// SPDX-License-Identifier: Apache-2.0
#include "train/run_config.h"

#include "backends/registry.h"
#include "base/error.h"
#include "base/json_fields.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr double largest = 1e6;
constexpr std::int64_t most_epochs = 100'000;

OptimizerConfig read_optimizer(const Json& json) {
    OptimizerConfig config;
    JsonFields fields(json, "optimizer");
    fields.read_choice("kind", config.kind, {"sgd", "adam", "adamw"});
    fields.read("learning_rate", config.learning_rate, 0, largest);
    fields.read("momentum", config.momentum, 0, 0.99999);
    fields.read("weight_decay", config.weight_decay, 0, 1);
    fields.read("nesterov", config.nesterov);
    fields.read("clip_norm", config.clip_norm, 0, largest);
    fields.read("beta1", config.beta1, 0, 0.99999);
    fields.read("beta2", config.beta2, 0, 0.99999999);
    fields.read("eps", config.eps, 1e-16, 1);
    fields.finish();
    if (config.nesterov && config.momentum == 0)
        throw ConfigError("'optimizer.nesterov' needs a momentum, but 'optimizer.momentum' is 0.");
    return config;
}

ScheduleConfig read_schedule(const Json& json) {
    ScheduleConfig config;
    JsonFields fields(json, "schedule");
    fields.read_choice("kind", config.kind, {"constant", "step", "cosine"});
    fields.read("warmup_epochs", config.warmup_epochs, 0, most_epochs);
    fields.read("minimum", config.minimum, 0, largest);
    fields.read("step_epochs", config.step_epochs, 0, most_epochs);
    fields.read("gamma", config.gamma, 0, 1);
    fields.finish();
    if (!std::ranges::is_sorted(config.step_epochs))
        throw ConfigError("'schedule.step_epochs' must ascend, but " + json.at("step_epochs").dump() + " was given.");
    return config;
}

AugmentationConfig read_augmentation(const Json& json) {
    AugmentationConfig config;
    JsonFields fields(json, "augmentation");
    fields.read("crop", config.crop, 0, 64);
    fields.read("flip", config.flip);
    fields.finish();
    return config;
}

CheckpointConfig read_checkpoint(const Json& json) {
    CheckpointConfig config;
    JsonFields fields(json, "checkpoint");
    fields.read("every_steps", config.every_steps, 0, 1'000'000'000);
    fields.read("every_minutes", config.every_minutes, 0, largest);
    fields.read("keep", config.keep, 2, 1000);
    fields.finish();
    return config;
}

Toggles read_toggles(const Json& json) {
    Toggles toggles;
    JsonFields fields(json, "toggles");
    fields.read_choice("precision", toggles.precision, {"auto", "fp16", "bf16", "tf32", "fp32"});
    fields.read("fused", toggles.fused);
    fields.read("share", toggles.share);
    fields.read("reference_separable", toggles.reference_separable);
    fields.read("cuda_graphs", toggles.cuda_graphs);
    fields.read("recompute", toggles.recompute);
    fields.read("deterministic", toggles.deterministic);
    fields.read("winograd", toggles.winograd);
    fields.read("safe_mode", toggles.safe_mode);
    fields.finish();
    return toggles;
}

void check_backend(const std::string& text) {
    const auto name = parse_backend(text).name;
    if (name != "auto" && name != "cpu" && name != "reference" && name != "cuda")
        throw ConfigError("backend must be one of auto, cpu, reference, cuda (or a card of several: cuda:0, "
                          "cuda:UUID); this came: \"" +
                          text + "\".");
}

} // namespace

RunConfig RunConfig::from_json(const Json& json) {
    RunConfig config;
    JsonFields fields(json, "");
    fields.read("preset", config.preset);
    fields.read("name", config.name);
    fields.read("data", config.data);
    config.network = NetworkSpec::from_json({{"network", "quick"}});
    if (const Json* network = fields.object("network"))
        config.network = NetworkSpec::from_json(*network);
    fields.read("image_size", config.image_size, 0, 1024);
    fields.read("max_bad_share", config.max_bad_share, 0, 1);
    fields.read("batch", config.batch, 1, 65536);
    fields.read("epochs", config.epochs, 1, most_epochs);
    fields.read("seed", config.seed);
    fields.read("backend", config.backend);
    check_backend(config.backend);
    fields.read("threads", config.threads, 0, 1024);
    fields.read("memory_limit_mib", config.memory_limit_mib, 0, std::int64_t{1} << 40);
    fields.read_choice("data_on_device", config.data_on_device, {"auto", "on", "off"});
    fields.read("tuning_seconds", config.tuning_seconds, 0, 3600);
    fields.read("accumulation", config.accumulation, 1, 256);
    fields.read("label_smoothing", config.label_smoothing, 0, 0.99);
    fields.read_choice("class_weights", config.class_weights, {"none", "balanced"});
    fields.read("validation_share", config.validation_share, 0.001, 0.9);
    fields.read("patience", config.patience, 0, most_epochs);
    fields.read("max_bad_steps", config.max_bad_steps, 1, 1'000'000);
    fields.read("tensorboard", config.tensorboard);
    if (const Json* object = fields.object("optimizer"))
        config.optimizer = read_optimizer(*object);
    if (const Json* object = fields.object("schedule"))
        config.schedule = read_schedule(*object);
    if (const Json* object = fields.object("augmentation"))
        config.augmentation = read_augmentation(*object);
    if (const Json* object = fields.object("checkpoint"))
        config.checkpoint = read_checkpoint(*object);
    if (const Json* object = fields.object("toggles"))
        config.toggles = read_toggles(*object);
    fields.finish();
    return config;
}

Json RunConfig::to_json() const {
    Json json;
    json["preset"] = preset;
    json["name"] = name;
    json["data"] = data;
    json["network"] = network.to_json();
    json["image_size"] = image_size;
    json["max_bad_share"] = max_bad_share;
    json["batch"] = batch;
    json["epochs"] = epochs;
    json["seed"] = seed;
    json["backend"] = backend;
    json["threads"] = threads;
    json["memory_limit_mib"] = memory_limit_mib;
    json["data_on_device"] = data_on_device;
    json["tuning_seconds"] = tuning_seconds;
    json["accumulation"] = accumulation;
    json["label_smoothing"] = label_smoothing;
    json["class_weights"] = class_weights;
    json["validation_share"] = validation_share;
    json["patience"] = patience;
    json["max_bad_steps"] = max_bad_steps;
    json["tensorboard"] = tensorboard;
    json["optimizer"] = {{"kind", optimizer.kind},
                         {"learning_rate", optimizer.learning_rate},
                         {"momentum", optimizer.momentum},
                         {"weight_decay", optimizer.weight_decay},
                         {"nesterov", optimizer.nesterov},
                         {"clip_norm", optimizer.clip_norm},
                         {"beta1", optimizer.beta1},
                         {"beta2", optimizer.beta2},
                         {"eps", optimizer.eps}};
    json["schedule"] = {{"kind", schedule.kind},
                        {"warmup_epochs", schedule.warmup_epochs},
                        {"minimum", schedule.minimum},
                        {"step_epochs", schedule.step_epochs},
                        {"gamma", schedule.gamma}};
    json["augmentation"] = {{"crop", augmentation.crop}, {"flip", augmentation.flip}};
    json["checkpoint"] = {{"every_steps", checkpoint.every_steps},
                          {"every_minutes", checkpoint.every_minutes},
                          {"keep", checkpoint.keep}};
    json["toggles"] = {{"precision", toggles.precision},
                       {"fused", toggles.fused},
                       {"share", toggles.share},
                       {"reference_separable", toggles.reference_separable},
                       {"cuda_graphs", toggles.cuda_graphs},
                       {"recompute", toggles.recompute},
                       {"deterministic", toggles.deterministic},
                       {"winograd", toggles.winograd},
                       {"safe_mode", toggles.safe_mode}};
    return json;
}

void set_by_path(Json& json, const std::string& assignment) {
    const auto equals = assignment.find('=');
    const std::string path = assignment.substr(0, equals);
    if (equals == std::string::npos || path.empty() || path.front() == '.' || path.back() == '.')
        throw ConfigError("A setting is written key=value, such as epochs=5 or optimizer.learning_rate=0.05, but '" +
                          assignment + "' was given.");
    const std::string text = assignment.substr(equals + 1);
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded())
        value = text;

    Json* place = &json;
    std::size_t begin = 0;
    for (auto dot = path.find('.'); dot != std::string::npos; begin = dot + 1, dot = path.find('.', begin)) {
        place = &(*place)[path.substr(begin, dot - begin)];
        if (place->is_null())
            *place = Json::object();
        if (!place->is_object())
            throw ConfigError("'" + path.substr(0, dot) + "' is no group of settings, so '" + path +
                              "' cannot be set.");
    }
    (*place)[path.substr(begin)] = std::move(value);
}

Json merged(Json base, const Json& over) {
    if (!base.is_object() || !over.is_object())
        return over;
    const bool other_network = base.contains("network") && over.contains("network") && base["network"].is_string() &&
                               base["network"] != over["network"];
    if (other_network)
        return over;
    for (const auto& [key, value] : over.items())
        base[key] = base.contains(key) ? merged(base[key], value) : value;
    return base;
}

} // namespace espalier
