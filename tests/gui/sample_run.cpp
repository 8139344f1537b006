// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_run.h"

#include "worker/protocol.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace espalier::test {

namespace {
constexpr double step_seconds = 0.045;
constexpr double mega = 1024.0 * 1024, giga = 1024 * mega;
constexpr double peak_gflops = 1.07e6, mfu = 0.31; // of the card
} // namespace

SampleRun::SampleRun(std::int64_t steps_per_epoch, std::int64_t epochs, double start_time)
    : steps_per_epoch_(steps_per_epoch), epochs_(epochs), time_(start_time) {}

Json SampleRun::event(const char* type, Json fields) {
    Json result{{"type", type}, {"time", time_}};
    result.update(fields);
    return result;
}

Json SampleRun::hello(int run) {
    return event("hello", {{"protocol", protocol::version},
                           {"build", "sample"},
                           {"capabilities", Json::array()},
                           {"pid", 1},
                           {"run", run}});
}

Json SampleRun::plan() {
    Json layers = Json::array();
    const auto layer = [&](const char* name, const char* kind, std::vector<int> shape, int parameters, double flops) {
        layers.push_back({{"layer", name},
                          {"kind", kind},
                          {"shape", shape},
                          {"parameters", parameters},
                          {"flops", flops},
                          {"memory", 4.0 * shape[0] * shape[1]},
                          {"kernel", "direct"}});
    };
    layer("stem", "convolution", {64, 32, 28, 28}, 288, 8.7e7);
    layer("block1", "convolution", {64, 64, 14, 14}, 18432, 1.39e9);
    layer("block2", "convolution", {64, 96, 7, 7}, 55296, 1.04e9);
    layer("classifier", "linear", {64, 10}, 970, 3.7e5);
    Json plan = event("plan", {{"parameters", 75530},
                               {"flops", 2.52e9},
                               {"memory",
                                {{"weights", 0.29 * mega},
                                 {"optimizer", 0.29 * mega},
                                 {"activations", 41 * mega},
                                 {"workspace", 9 * mega},
                                 {"total", 50.6 * mega}}},
                               {"layers", layers},
                               {"steps_per_epoch", steps_per_epoch_},
                               {"epochs", epochs_},
                               {"batch", 64},
                               {"backend", "cpu"},
                               {"device", "AMD EPYC 7B13"},
                               {"precision", "fp32"},
                               {"passes", Json::array({{{"pass", "share"}, {"ops", 96}},
                                                       {{"pass", "fuse"}, {"ops", 61}},
                                                       {{"pass", "prune"}, {"ops", 58}}})},
                               {"notes", Json::array()},
                               {"limit", 900 * mega},
                               {"toggles",
                                {{"precision", "fp32"},
                                 {"fused", true},
                                 {"reference_separable", false},
                                 {"cuda_graphs", true},
                                 {"recompute", false},
                                 {"deterministic", false},
                                 {"safe_mode", false}}}});
    // The layers' operations, and a shortcut around the second block.
    plan["nodes"] = Json::array();
    const auto node = [&](const char* name, const char* kind, const char* shape, std::vector<int> inputs,
                          int parameters = 0) {
        plan["nodes"].push_back(
            {{"layer", name}, {"kind", kind}, {"shape", shape}, {"inputs", inputs}, {"parameters", parameters}});
    };
    node("", "images", "64x1x28x28", {});
    node("stem", "conv2d", "64x32x28x28", {0}, 288);
    node("block1.conv", "conv2d", "64x64x14x14", {1}, 18432);
    node("block1", "relu", "64x64x14x14", {2});
    node("block2.conv", "conv2d", "64x64x14x14", {3}, 55296);
    node("block2", "relu", "64x64x14x14", {4});
    node("block2", "add", "64x64x14x14", {5, 3});
    node("classifier", "linear", "64x10", {6}, 970);
    if (gpu_) {
        plan.update({{"parameters", 322122547},
                     {"flops", mfu * peak_gflops * 1e9 * step_seconds},
                     {"memory",
                      {{"weights", 1.2 * giga},
                       {"optimizer", 1.2 * giga},
                       {"activations", 38 * giga},
                       {"workspace", 6 * giga},
                       {"total", 46.4 * giga}}},
                     {"backend", "cuda"},
                     {"device", "NVIDIA H100 80GB HBM3"},
                     {"precision", "fp16"},
                     {"device_memory", 80 * giga},
                     {"limit", 74 * giga},
                     {"peak_gflops", peak_gflops}});
        plan["toggles"]["precision"] = "fp16";
    }
    return plan;
}

Json SampleRun::phase(const char* name, const char* reason) {
    Json fields{{"phase", name}, {"epoch", step_ / steps_per_epoch_ + 1}, {"step", step_}};
    if (*reason)
        fields["reason"] = reason;
    return event("phase", std::move(fields));
}

double SampleRun::loss_at(double step) const {
    return 0.42 + 1.9 * std::exp(-step / (0.16 * static_cast<double>(last_step())));
}

double SampleRun::accuracy_at(double step) const {
    return 0.91 - 0.81 * std::exp(-step / (0.14 * static_cast<double>(last_step())));
}

Json SampleRun::steps(std::int64_t count) {
    count = std::min(count, left_in_epoch());
    Json loss = Json::array(), accuracy = Json::array(), rate = Json::array(), seconds = Json::array();
    std::normal_distribution<double> noise(0, 1);
    const std::int64_t first = step_ + 1;
    const double epoch = static_cast<double>(step_) / static_cast<double>(steps_per_epoch_);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<double>(++step_);
        loss.push_back(loss_at(at) * (1 + 0.07 * noise(random_)));
        accuracy.push_back(std::clamp(accuracy_at(at) + 0.035 * noise(random_), 0.0, 1.0));
        rate.push_back(0.05 * (1 + std::cos(3.14159 * at / static_cast<double>(last_step()))));
        seconds.push_back(step_seconds * (1 + 0.02 * noise(random_)));
        time_ += step_seconds;
    }
    return event("steps", {{"step", first},
                           {"loss", loss},
                           {"accuracy", accuracy},
                           {"learning_rate", rate},
                           {"seconds", seconds},
                           {"epoch", epoch}});
}

Json SampleRun::resources() {
    std::normal_distribution<double> noise(0, 1);
    Json sample = event("resources", {{"step", step_},
                                      {"memory",
                                       {{"weights", 0.29 * mega},
                                        {"optimizer", 0.29 * mega},
                                        {"activations", 41 * mega},
                                        {"workspace", 9 * mega},
                                        {"process", 212 * mega}}},
                                      {"gflops", 56 + 1.2 * noise(random_)},
                                      {"images_per_second", 64 / step_seconds * (1 + 0.01 * noise(random_))}});
    if (gpu_) {
        const double share = mfu * (1 + 0.008 * std::abs(noise(random_)));
        sample.update({{"gflops", share * peak_gflops},
                       {"mfu", share},
                       {"utilisation", 0.97},
                       {"temperature", 64},
                       {"power", 412.4},
                       {"power_limit", 700},
                       {"core_clock", 1755},
                       {"memory_clock", 2619},
                       {"throttle", 1}});
        sample["memory"] = {{"weights", 1.2 * giga},     {"optimizer", 1.2 * giga}, {"activations", 38 * giga},
                            {"workspace", 6 * giga},     {"process", 48.9 * giga},  {"device", 49.6 * giga},
                            {"device_total", 80 * giga}, {"host", 900 * mega}};
    }
    return sample;
}

Json SampleRun::layers() {
    std::normal_distribution<double> noise(0, 1);
    Json rows = Json::array();
    for (const auto& [name, ms, gflops, gbps] : {std::tuple{"stem", 1.9, 46.0, 11.2},
                                                 {"block1", 14.2, 98.0, 6.1},
                                                 {"block2", 11.5, 90.0, 4.8},
                                                 {"classifier", 0.2, 1.9, 0.4}}) {
        const double time = ms * (1 + 0.02 * noise(random_));
        rows.push_back({{"layer", name},
                        {"ms", time},
                        {"forward_ms", time / 3},
                        {"gflops", gflops},
                        {"gbps", gbps},
                        {"kernel", "winograd"}});
    }
    return event("layers", {{"step", std::max<std::int64_t>(step_, 1)}, {"layers", rows}});
}

Json SampleRun::fallback(const char* rung, const char* from, const char* to, const char* reason, const Json& undo) {
    return event("fallback", {{"rung", rung}, {"from", from}, {"to", to}, {"reason", reason}, {"undo", undo}});
}

Json SampleRun::epoch_end() {
    const auto at = static_cast<double>(step_);
    return event("epoch", {{"epoch", step_ / steps_per_epoch_},
                           {"step", step_},
                           {"loss", loss_at(at)},
                           {"accuracy", accuracy_at(at)},
                           {"seconds", step_seconds * static_cast<double>(steps_per_epoch_)},
                           {"images_per_second", 64 / step_seconds}});
}

Json SampleRun::evaluation() {
    const auto at = static_cast<double>(step_);
    std::normal_distribution<double> noise(0, 1);
    const double accuracy = accuracy_at(at) - 0.03 + 0.006 * noise(random_);
    const std::int64_t epoch = step_ / steps_per_epoch_;
    const bool best = accuracy > best_;
    if (best) {
        best_ = accuracy;
        best_epoch_ = epoch;
    }
    return event("evaluation", {{"epoch", epoch},
                                {"step", step_},
                                {"set", "validation"},
                                {"loss", loss_at(at) * 1.06 + 0.01 * noise(random_)},
                                {"accuracy", accuracy},
                                {"best", best},
                                {"best_accuracy", best_},
                                {"best_epoch", best_epoch_},
                                {"images", 2000}});
}

Json SampleRun::checkpoint(std::vector<std::string> kinds) {
    return event("checkpoint", {{"file", "checkpoints/step-" + std::to_string(step_) + ".safetensors"},
                                {"step", step_},
                                {"epoch", static_cast<double>(step_) / static_cast<double>(steps_per_epoch_)},
                                {"kinds", kinds},
                                {"bytes", 0.6 * mega},
                                {"seconds", 0.02}});
}

std::vector<Json> SampleRun::past(std::int64_t until) {
    std::vector<Json> events;
    if (step_ == 0) {
        events.push_back(hello());
        events.push_back(phase("preparing"));
        events.push_back(plan());
        events.push_back(phase("training"));
    }
    until = std::min(until, last_step());
    while (step_ < until) {
        events.push_back(steps(std::min<std::int64_t>(9, until - step_)));
        events.push_back(resources());
        if (step_ % steps_per_epoch_ != 0)
            continue;
        events.push_back(epoch_end());
        events.push_back(phase("evaluating"));
        time_ += 0.3;
        events.push_back(evaluation());
        events.push_back(layers());
        const std::int64_t epoch = step_ / steps_per_epoch_;
        events.push_back(
            checkpoint(epoch % 3 == 0 ? std::vector<std::string>{"best", "last"} : std::vector<std::string>{"last"}));
        events.push_back(phase("training"));
    }
    return events;
}

} // namespace espalier::test
