// SPDX-License-Identifier: Apache-2.0
// bench_cpu_step resnet18|genotype|supernet|quick [threads [seconds]]
// Median time of a whole training step on the CPU backend, its memory, and what the ops of one kernel take together.
#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "graph/step_block.h"
#include "nn/network_spec.h"
#include "nn/parameter_store.h"
#include "passes/pipeline.h"
#include "plan/session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

namespace espalier {
namespace {

struct Case {
    NetworkSpec spec;
    std::int64_t batch;
};

Case case_of(const std::string& name) {
    const auto spec = [](const char* network, Json settings) {
        NetworkSpec result{.network = network};
        result.settings = std::move(settings);
        return NetworkSpec::from_json(result.to_json());
    };
    if (name == "resnet18")
        return {spec("resnet", {{"base_width", 64}, {"stages", {2, 2, 2, 2}}}), 64};
    if (name == "genotype")
        return {spec("genotype", {{"init_channels", 16}, {"layers", 8}}), 32};
    if (name == "supernet")
        return {spec("supernet", {{"init_channels", 8},
                                  {"layers", 4},
                                  {"ops",
                                   {"none", "avg_pool_3x3", "max_pool_3x3", "skip_connect", "sep_conv_3x3",
                                    "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5"}}}),
                16};
    if (name == "quick") {
        auto result = spec("quick", Json::object());
        result.channels = 1;
        result.height = result.width = 28;
        return {result, 64};
    }
    throw ConfigError("There is no case named '" + name + "'.");
}

/// Gradient norm clipped at 5, SGD with momentum: what the presets do.
void append_sgd(Graph& graph, const std::map<TensorId, TensorId>& gradients) {
    GraphBuilder builder(graph);
    builder.set_stage(Stage::update);
    const auto step = builder.buffer(step_block::name, {step_block::size}, {});
    std::vector<TensorId> norm_inputs{step};
    for (const auto& [parameter, gradient] : gradients)
        norm_inputs.push_back(gradient);
    const auto norm = builder.apply_one("gradient_norm", norm_inputs);
    std::vector<TensorId> inputs{step, norm}, changed;
    for (const auto& [parameter, gradient] : gradients) {
        const auto momentum = builder.buffer(graph.tensor(parameter).name + "#momentum", graph.shape(parameter), {});
        inputs.insert(inputs.end(), {parameter, gradient, momentum});
        changed.insert(changed.end(), {parameter, momentum});
    }
    builder.apply("sgd", inputs, {{"momentum", 0.9}, {"weight_decay", 3e-4}, {"clip_norm", 5.0}}, changed);
}

long peak_resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:"))
            return std::strtol(line.c_str() + 6, nullptr, 10);
    return 0;
}

double milliseconds_of(Plan& plan) {
    const auto begin = std::chrono::steady_clock::now();
    plan.run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print_profile(Plan& plan, bool every_op) {
    struct Line {
        double milliseconds = 0, flops = 0, bytes = 0;
        int count = 0;
    };
    // The quickest of some runs: other programs only ever add to a time.
    std::vector<double> best(plan.ops().size(), 1e9);
    for (int repeat = 0; repeat < 7; ++repeat) {
        plan.run_profiled();
        for (std::size_t i = 0; i < best.size(); ++i)
            best[i] = std::min(best[i], plan.ops()[i].milliseconds);
    }
    std::map<std::string, Line> lines;
    double total = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
        const PlannedOp& op = plan.ops()[i];
        if (every_op)
            std::printf("%8.3f ms  %7.1f GFLOPS  %6.1f GB/s  ws %6.1f MiB  %s | %s | %s\n", best[i],
                        op.flops / best[i] / 1e6, op.bytes / best[i] / 1e6,
                        static_cast<double>(op.workspace) / 1048576.0, op.kind.c_str(), op.kernel.c_str(),
                        op.layer.c_str());
        Line& line = lines[op.kind + " | " + op.kernel];
        line.milliseconds += best[i];
        line.flops += op.flops;
        line.bytes += op.bytes;
        ++line.count;
        total += best[i];
    }
    std::vector<std::pair<std::string, Line>> sorted(lines.begin(), lines.end());
    std::ranges::sort(sorted,
                      [](const auto& a, const auto& b) { return a.second.milliseconds > b.second.milliseconds; });
    std::printf("sum of the quickest times %.1f ms\n", total);
    for (const auto& [name, line] : sorted)
        std::printf("%8.2f ms %5.1f %%  %4d x  %7.1f GFLOPS  %6.1f GB/s  %s\n", line.milliseconds,
                    100 * line.milliseconds / total, line.count, line.flops / line.milliseconds / 1e6,
                    line.bytes / line.milliseconds / 1e6, name.c_str());
}

void run(const std::string& name, int threads, double seconds, bool every_op) {
    const Case one = case_of(name);
    ForwardGraph forward = build_forward(one.spec, one.batch, NormMode::training);
    std::vector<TensorId> parameters;
    for (std::size_t id = 0; id < forward.graph.tensors().size(); ++id) {
        const Tensor& tensor = forward.graph.tensors()[id];
        if (tensor.role == Role::parameter && !tensor.name.starts_with("alpha"))
            parameters.push_back(static_cast<TensorId>(id));
    }
    CompiledStep step = compile_step(forward.graph, forward.loss, parameters, {}, append_sgd);
    ParameterStore store;
    store.add_missing(step.graph, 1);

    const auto backend = make_cpu_backend({.threads = threads});
    Session session(*backend, {});
    Plan& plan = session.plan("step", step.graph);
    for (const auto& entry : store.entries())
        session.set(entry.name, entry.values);
    std::vector<float> block(step_block::size, 0.0f);
    block[step_block::learning_rate] = 0.025f;
    block[step_block::loss_scale] = block[step_block::micro_steps] = block[step_block::step] = 1.0f;
    session.set(step_block::name, block);

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> images(static_cast<std::size_t>(step.graph.shape(forward.images).count()));
    for (float& value : images)
        value = normal(random);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(one.batch));
    for (auto& label : labels)
        label = static_cast<std::int32_t>(random() % 10);
    plan.set_input("images", images.data(), images.size() * sizeof(float));
    plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));

    std::vector<double> times;
    milliseconds_of(plan);
    const float first_loss = plan.read(forward.loss)[0];
    for (double total = 0; total < seconds * 1000 || times.size() < 5;) {
        times.push_back(milliseconds_of(plan));
        total += times.back();
    }
    std::ranges::sort(times);
    const MemoryUse memory = session.memory();
    const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
    std::printf("cpu/%s/b%lld threads=%d step_ms median %.1f quickest %.1f  loss %.4f -> %.4f\n", name.c_str(),
                static_cast<long long>(one.batch), threads, times[times.size() / 2], times[0],
                static_cast<double>(first_loss), static_cast<double>(plan.read(forward.loss)[0]));
    std::printf("memory MiB: weights %.1f optimizer %.1f activations %.1f workspace %.1f; peak resident %.1f\n",
                mib(memory.weights), mib(memory.optimizer), mib(memory.activations), mib(memory.workspace),
                static_cast<double>(peak_resident_kib()) / 1024.0);
    print_profile(plan, every_op);
}

} // namespace
} // namespace espalier

int main(int count, char** values) {
    try {
        const std::string name = count > 1 ? values[1] : "resnet18";
        espalier::run(name, count > 2 ? std::atoi(values[2]) : 2, count > 3 ? std::atof(values[3]) : 6.0, count > 4);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
