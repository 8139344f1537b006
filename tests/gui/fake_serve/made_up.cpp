// SPDX-License-Identifier: GPL-3.0-or-later
#include "made_up.h"

#include "base/error.h"
#include "behaviour.h"
#include "sample_run.h"

#include <QByteArray>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace espalier::test {

Json devices() {
    constexpr double gib = 1024.0 * 1024 * 1024;
    const Json processor{{"backend", "cpu"},
                         {"name", "AMD EPYC 7B13 64-Core Processor"},
                         {"uuid", ""},
                         {"usable", true},
                         {"reason", ""},
                         {"threads", 2},
                         {"memory_bytes", 24 * gib},
                         {"precisions", {"fp32"}}};
    const auto card = [](const char* name, const char* uuid, double bytes, double free) {
        return Json{{"backend", "cuda"},     {"name", name},       {"uuid", uuid},
                    {"usable", true},        {"reason", ""},       {"threads", 2},
                    {"memory_bytes", bytes}, {"free_bytes", free}, {"precisions", {"fp16", "bf16", "tf32", "fp32"}}};
    };
    Json list = Json::array();
    if (behaviour.two_gpus) {
        list.push_back(card("NVIDIA GeForce RTX 3090", "GPU-1", 24 * gib, 22.5 * gib));
        list.push_back(card("NVIDIA GeForce RTX 3090", "GPU-2", 24 * gib, 22.5 * gib));
        Json old = card("NVIDIA GeForce GTX 980", "GPU-3", 4 * gib, 4 * gib);
        old["usable"] = false;
        old["reason"] = "Its compute capability is 5.2, and 7.5 or newer is needed.";
        list.push_back(old);
        list.push_back(processor);
    } else if (behaviour.old_driver) {
        Json refused = card("NVIDIA GPU", "", 0, 0);
        refused["usable"] = false;
        refused["reason"] = "No NVIDIA driver is installed.";
        list.push_back(processor);
        list.push_back(refused);
    } else {
        list.push_back(behaviour.gpu ? card("NVIDIA H100 80GB HBM3", "GPU-fake", 80 * gib, 77.5 * gib) : processor);
    }
    return {{"devices", std::move(list)}, {"host", "test"}, {"version", "0.1.0"}};
}

Json presets() {
    Json list = Json::array();
    const auto add = [&](const char* name, const char* title, const char* row, const char* size, const char* summary,
                         bool available, Json config) {
        list.push_back({{"name", name},
                        {"title", title},
                        {"row", row},
                        {"size", size},
                        {"summary", summary},
                        {"available", available},
                        {"reason", available ? "" : "It comes with a later version."},
                        {"config", config}});
    };
    const Json resnet{{"network", {{"network", "resnet"}, {"base_width", 16}, {"stages", {1, 1, 1}}}},
                      {"batch", 64},
                      {"epochs", 15},
                      {"image_size", 96}};
    add("quick", "One-minute demo", "train", "demo", "A small convolution network learns the built-in clothing images.",
        true,
        {{"data", "builtin"},
         {"network", {{"network", "quick"}}},
         {"batch", 64},
         {"epochs", 12},
         {"image_size", 28},
         {"label_smoothing", 0.1},
         {"optimizer", {{"learning_rate", 0.1}}}});
    add("train-small", "Train, small", "train", "small", "A residual network of 8 layers. A first look at your data.",
        true, resnet);
    add("train-medium", "Train, medium", "train", "medium", "ResNet-18, width 32. A good default.", true, resnet);
    add("train-large", "Train, large", "train", "large",
        "ResNet-18 for photos of 224 pixels: the best accuracy of the three, for a GPU and a night.", true, resnet);
    add("search-small", "Search, small", "search", "small",
        "A quick check of the architecture search: 8 channels, 4 cells; too short for a meaningful genotype.", false,
        Json::object());
    add("search-medium", "Search, medium", "search", "medium", "Architecture search with 20 channels and 12 cells.",
        false, Json::object());
    add("search-large", "Search, large", "search", "large", "Architecture search with 28 channels and 16 cells.", false,
        Json::object());
    add("search-recommended", "Search, recommended", "search", "recommended",
        "Architecture search that is worth its time.", false, Json::object());
    add("search-conservative", "Search, stability first", "search", "conservative",
        "Architecture search with recomputation and safe mode on.", false, Json::object());
    add("grow-small", "Grow, small", "grow", "small",
        "A network that starts with 66,410 parameters and grows to at most 500,000.", false, Json::object());
    add("grow-medium", "Grow, medium", "grow", "medium",
        "A network that starts with 103,402 parameters and grows to at most 2 million.", false, Json::object());
    add("grow-large", "Grow, large", "grow", "large",
        "A network that starts with 979,546 parameters and grows to at most 8 million.", false, Json::object());
    return {{"presets", list}};
}

Json scan() {
    Json classes = Json::array();
    for (const char* name :
         {"T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"})
        classes.push_back({{"name", name}, {"count", 400}});
    return {{"kind", "idx"},
            {"classes", classes},
            {"images", 6000},
            {"width", 28},
            {"height", 28},
            {"channels", 1},
            {"bad", Json::array()},
            {"warnings", Json::array({"In the training part and in the validation part: 12 images. Accuracy will "
                                      "look a little better than it is."})}};
}

Json photos(const std::string& data) {
    const std::string folder = data.substr(data.find(':') + 1);
    Json bad = Json::array();
    for (int i = 0; i < 1000; ++i) { // as many as serve names
        const std::string file = folder + "/cat/IMG_" + std::to_string(10000 + i) + ".heic";
        bad.push_back({{"file", file},
                       {"reason", "The image '" + file +
                                      "' cannot be read: it is a HEIC, AVIF or video file; save it as JPEG or PNG. "
                                      "These formats can be read here: BMP, GIF, JPEG, PNG."}});
    }
    bad[1]["reason"] = "half a file";
    return {{"data", data},
            {"kind", "folder"},
            {"classes", Json::array({{{"name", "cat"}, {"count", 812}}, {{"name", "dog"}, {"count", 790}}})},
            {"images", data == "folder:/unreadable" ? 0 : 1602},
            {"width", 4000},
            {"height", 3000},
            {"channels", 3},
            {"sizes", 12},
            {"smallest", {640, 480}},
            {"largest", {4000, 3000}},
            {"bad", std::move(bad)},
            {"bad_count", 1200},
            {"bad_images", 1200},
            {"repeated",
             Json::array(
                 {{{"file", folder + "/dog/2.jpg"}, {"same_as", folder + "/cat/1.jpg"}, {"in_two_classes", true}},
                  {{"file", folder + "/dog/4.jpg"}, {"same_as", folder + "/dog/3.jpg"}, {"in_two_classes", false}}})},
            {"warnings", Json::array()}};
}

Json thumbnails(const std::string& data) {
    constexpr auto picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    if (!data.starts_with("folder:"))
        throw DataError("No image of it can be shown.");
    return {{"images", Json::array({{{"png", picture}, {"label", 0}, {"file", data + "/1.png"}}})}};
}

Json plan(const Json& config) {
    const std::string data = protocol::text_at(config, "data");
    if (data == "synthetic:dead")
        throw DeviceError("The process that plans has died.");
    if (data.starts_with("idx:") && !std::filesystem::is_directory(data.substr(4)))
        throw DataError("There is no folder " + data.substr(4) + ".");
    if (data == "synthetic:refused")
        throw ConfigError("There is no such pattern.");
    if (data == "synthetic:huge")
        throw OutOfMemory("Set memory_limit_mib=9 or more.");
    const double batch = protocol::number_at(config, "batch", 64);
    const double mega = 1024.0 * 1024;
    const bool fits = batch <= 1500;
    Json answer{{"parameters", 75530},
                {"layers", Json::array()},
                {"flops", 2.5e9},
                {"memory",
                 {{"weights", 3 * mega},
                  {"optimizer", 3 * mega},
                  {"activations", 0.65 * batch * mega},
                  {"workspace", 9 * mega},
                  {"total", (15 + 0.65 * batch) * mega}}},
                {"limit", 1024 * mega},
                {"fits", fits},
                {"batch", batch},
                {"largest_batch", 1500},
                {"notes", Json::array()},
                {"estimated_seconds", protocol::text_at(config, "backend") == "cpu" ? 480 : 48},
                {"recompute",
                 {{"memory_without", (15 + 0.65 * batch) * mega},
                  {"memory_with", (15 + 0.4 * batch) * mega},
                  {"more_flops", 0.24}}},
                {"measured", Json::array({{{"toggles", {{"fused", true}}}, {"images_per_second", 1840}},
                                          {{"toggles", {{"fused", false}}}, {"images_per_second", 1310}}})}};
    if (const auto rest = std::fmod(4000, batch); rest > 0)
        answer["last_batch"] = "4000 images in batches of " + std::to_string(std::lround(batch)) + " leave " +
                               std::to_string(std::lround(rest)) + " over. The last batch of each epoch has " +
                               std::to_string(std::lround(rest)) + ".";
    if (!fits)
        answer["asked"] = {{"memory", answer["memory"]}, {"layer", "block2"}, {"kind", "conv2d"}};
    if (behaviour.gpu)
        answer["device_memory"] = 1200 * mega;
    return answer;
}

Json quick_part(Json plan) {
    for (const char* key : {"layers", "largest_batch", "estimated_seconds", "recompute", "measured"})
        plan.erase(key);
    return plan;
}

std::vector<Json> long_past() {
    SampleRun run(5, 8000);
    auto events = run.past(run.last_step());
    for (Json& event : events)
        if (event["type"] == "plan")
            for (int i = 0; i < 3000; ++i)
                event["layers"].push_back({{"layer", "cells." + std::to_string(i / 100) + ".edge" + std::to_string(i)},
                                           {"kind", "convolution"},
                                           {"shape", {64, 64, 14, 14}},
                                           {"parameters", 18432},
                                           {"flops", 1.39e9}});
    events.push_back(run.phase("finished"));
    return events;
}

namespace {

constexpr std::int64_t overview_steps = 1'000'000;

/// A series that goes from one value to the other, from step to step by `leap` up and down about it.
struct Slope {
    const char* name;
    double first, last, leap;
    bool smoothed = false; ///< if that is asked for

    [[nodiscard]] double at(std::int64_t step) const {
        const auto stage = static_cast<double>((step - 1) / 10'000); // hundred of them
        return first + (last - first) * stage / 100 + (step % 2 == 0 ? leap : -leap);
    }
};

std::string packed(const std::vector<float>& values) {
    return QByteArray(reinterpret_cast<const char*>(values.data()),
                      static_cast<qsizetype>(values.size() * sizeof(float)))
        .toBase64()
        .toStdString();
}

/// The mean of each bucket's smoothed values, all of them from the first step on.
std::string smooth_of(const Slope& slope, std::int64_t first, std::int64_t last, std::int64_t width, double weight) {
    std::vector<float> means;
    double smooth = 0, rest = 1, sum = 0;
    for (std::int64_t step = 1; step <= last; ++step) {
        smooth = weight * smooth + (1 - weight) * slope.at(step);
        rest *= weight;
        if (step < first)
            continue;
        sum += smooth / (1 - rest);
        const auto place = (step - first) % width + 1;
        if (place == width || step == last)
            means.push_back(static_cast<float>(std::exchange(sum, 0) / static_cast<double>(place)));
    }
    return packed(means);
}

Json buckets_of(const Slope& slope, std::int64_t first, std::int64_t last, std::int64_t width, double weight) {
    std::vector<float> low, high, mean;
    for (auto begin = first; begin <= last; begin += width) {
        const auto end = std::min(begin + width - 1, last);
        double least = slope.at(begin), most = least, sum = 0;
        for (auto step = begin; step <= end; ++step) {
            least = std::min(least, slope.at(step));
            most = std::max(most, slope.at(step));
            sum += slope.at(step);
        }
        low.push_back(static_cast<float>(least));
        high.push_back(static_cast<float>(most));
        mean.push_back(static_cast<float>(sum / static_cast<double>(end - begin + 1)));
    }
    Json series{{"low", packed(low)}, {"high", packed(high)}, {"mean", packed(mean)}};
    if (weight > 0)
        series["smooth"] = smooth_of(slope, first, last, width, weight);
    return series;
}

Json overview_of(std::int64_t first, std::int64_t last, std::int64_t width, double weight = 0) {
    Json series;
    for (const Slope& slope : {Slope{"loss", 2, 0.3, 0.1, true}, Slope{"accuracy", 0.2, 0.9, 0.1, true},
                               Slope{"seconds", 0.01, 0.01, 0}, Slope{"validation.accuracy", 0.2, 0.88, 0.1}})
        series[slope.name] = buckets_of(slope, first, last, width, slope.smoothed ? weight : 0);
    return {{"first", first},
            {"steps", last},
            {"width", width},
            {"buckets", (last - first) / width + 1},
            {"series", std::move(series)}};
}

} // namespace

Json overview() {
    Json whole = overview_of(1, overview_steps, 10'000);
    whole.update(Json{{"steps_per_epoch", 1000}, {"epochs", 1000}, {"best_accuracy", 0.91}, {"best_epoch", 777}});
    return whole;
}

Json stretch(const Json& arguments) {
    const auto first = protocol::whole_at(arguments, "first"), last = protocol::whole_at(arguments, "last");
    if (first < 1 || last < first || first > overview_steps)
        throw std::runtime_error("`first` and `last` must be steps of the run, from 1 to 1000000.");
    const auto end = std::min(last, overview_steps);
    const bool all = first == 1 && end == overview_steps; // in the buckets of its overview
    return overview_of(first, end, all ? 10'000 : (end - first + 1024) / 1024,
                       protocol::number_at(arguments, "smoothing"));
}

} // namespace espalier::test
