// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/threads.h"
#include "train/network_session.h"
#include "train/passport.h"
#include "worker/commands/bench_convolution.h"
#include "worker/commands/bench_timing.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/peak_memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

namespace espalier::commands {
namespace {

struct BenchOptions {
    std::string network = "resnet18";
    std::string backend = "cpu";
    std::int64_t batch = 0;
    int threads = 0;
    double seconds = 6;
    std::string precision = "auto";
    bool tune = false;
    double tuning_seconds = 60;
    bool no_graph = false, deterministic = false, safe = false;
    bool recompute = false, no_winograd = false, no_fuse = false, profile = false, json = false;
};

struct Benchmark {
    const char* name;
    std::int64_t batch;
    const char* spec; ///< 3x32x32 images, 10 classes
};

constexpr const char* eight_operations = R"("none", "avg_pool_3x3", "max_pool_3x3", "skip_connect", "sep_conv_3x3",
    "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5")";

/// The networks of tests/bench/bench_torch_cpu.py and their kin.
std::vector<std::pair<Benchmark, Json>> benchmarks() {
    const Benchmark list[] = {
        {"resnet18", 64, R"({"network": "resnet", "base_width": 64, "stages": [2, 2, 2, 2]})"},
        {"genotype_c16_l8", 32, R"({"network": "genotype", "init_channels": 16, "layers": 8})"},
        {"genotype_c36_l20", 96, R"({"network": "genotype", "init_channels": 36, "layers": 20})"},
        {"supernet8_small", 16, R"({"network": "supernet", "init_channels": 8, "layers": 4, "ops": [OPS]})"},
        {"supernet8_recommended", 32, R"({"network": "supernet", "init_channels": 16, "layers": 8, "ops": [OPS]})"},
        {"supernet8_medium", 32, R"({"network": "supernet", "init_channels": 20, "layers": 12, "ops": [OPS]})"},
        {"supernet8_large", 48, R"({"network": "supernet", "init_channels": 28, "layers": 16, "ops": [OPS]})"},
        {"supernet10_small", 16, R"({"network": "supernet", "init_channels": 8, "layers": 4})"},
        {"supernet10_medium", 32, R"({"network": "supernet", "init_channels": 20, "layers": 12})"},
        {"growing", 128, R"({"network": "growing"})"},
        {"quick", 64, R"({"network": "quick"})"},
    };
    std::vector<std::pair<Benchmark, Json>> all;
    for (const auto& benchmark : list) {
        std::string spec = benchmark.spec;
        if (const auto at = spec.find("OPS"); at != std::string::npos)
            spec.replace(at, 3, eight_operations);
        all.emplace_back(benchmark, Json::parse(spec));
    }
    return all;
}

/// By its name, or by the beginning of one ("genotype").
std::pair<Benchmark, Json> find_benchmark(const std::string& name) {
    std::string names;
    const auto all = benchmarks();
    for (const auto& [benchmark, spec] : all)
        if (name == benchmark.name)
            return {benchmark, spec};
    for (const auto& [benchmark, spec] : all) {
        if (std::string(benchmark.name).starts_with(name))
            return {benchmark, spec};
        names += std::string(names.empty() ? "" : ", ") + benchmark.name;
    }
    throw ConfigError("There is no benchmark network \"" + name + "\". There are: " + names + ".");
}

struct RandomBatch {
    std::vector<float> images;
    std::vector<std::int32_t> labels;

    RandomBatch(const NetworkSpec& spec, std::int64_t batch) {
        std::mt19937 random(0);
        std::normal_distribution<float> normal;
        images.resize(static_cast<std::size_t>(batch * spec.channels * spec.height * spec.width));
        std::generate(images.begin(), images.end(), [&] { return normal(random); });
        labels.resize(static_cast<std::size_t>(batch));
        std::generate(labels.begin(), labels.end(),
                      [&] { return static_cast<std::int32_t>(random() % static_cast<unsigned>(spec.classes)); });
    }
    [[nodiscard]] BatchView view() const { return {images, labels}; }
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

const char* name_of(Stage stage) {
    return stage == Stage::forward ? "forward" : stage == Stage::backward ? "backward" : "update";
}

void print_profile(std::span<const PlannedOp> ops) {
    std::vector<const PlannedOp*> slowest;
    double total = 0;
    for (const auto& op : ops) {
        slowest.push_back(&op);
        total += op.milliseconds;
    }
    std::stable_sort(slowest.begin(), slowest.end(),
                     [](auto* a, auto* b) { return a->milliseconds > b->milliseconds; });
    print_line("      ms       %  GFLOPS    GB/s  stage     op, layer, kernel");
    const auto column = [](double value, int digits, std::size_t width) {
        auto text = Console::fixed(value, digits);
        return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
    };
    for (const auto* op : slowest) {
        const double seconds = std::max(op->milliseconds, 1e-6) / 1e3;
        print_line(column(op->milliseconds, 3, 8) + column(100 * op->milliseconds / std::max(total, 1e-9), 1, 8) +
                   column(op->flops / seconds / 1e9, 1, 8) + column(op->bytes / seconds / 1e9, 1, 8) + "  " +
                   std::string(name_of(op->stage)).append(10 - std::string(name_of(op->stage)).size(), ' ') + op->kind +
                   ", " + op->layer + ", " + op->kernel);
    }
    print_line("total " + Console::fixed(total, 2) + " ms in " + counted(ops.size(), "op"));
}

/// Forward, backward and SGD on random data, through the same steps and plans as training.
int bench_step(const BenchOptions& options) {
    const auto [benchmark, spec_json] = find_benchmark(options.network);
    const auto spec = NetworkSpec::from_json(spec_json);
    const auto batch = options.batch > 0 ? options.batch : benchmark.batch;
    RunConfig config;
    config.optimizer = {.kind = "sgd", .learning_rate = 0.025, .momentum = 0.9, .weight_decay = 3e-4};
    config.toggles.recompute = options.recompute;
    config.toggles.winograd = !options.no_winograd;
    config.toggles.precision = options.precision;
    config.toggles.cuda_graphs = !options.no_graph;
    config.toggles.fused = config.toggles.share = !options.no_fuse;

    config.toggles.safe_mode = options.safe;
    const auto toggles = config.toggles.effective();
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    const auto since_begin = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
    const auto backend = make_backend(options.backend, {.threads = options.threads,
                                                        .deterministic = options.deterministic,
                                                        .winograd = toggles.winograd,
                                                        .reference_separable = toggles.reference_separable,
                                                        .tf32 = toggles.precision != "fp32",
                                                        .tune = options.tune && !options.safe});
    config.network = spec;
    NetworkSession session(*backend, config);
    const auto& step = session.training_step(batch);
    ParameterStore store;
    store.add_missing(session.forward_graph(), 0);
    session.load(store);

    const RandomBatch data(spec, batch);
    StepPlace place{.learning_rate = config.optimizer.learning_rate};
    const auto train = [&](bool profiled) {
        session.train(data.view(), place, profiled);
        backend->synchronize();
        ++place.step;
        (void)session.take_history();
    };
    train(false);
    const double first_step_seconds = since_begin();
    double tuned_seconds = 0;
    if (options.tune) {
        while (backend->tuning().seconds < options.tuning_seconds && backend->tune(1)) {
        }
        session.replan();
        train(false);
        tuned_seconds = since_begin();
    }
    for (int warm = 0; warm < 2; ++warm)
        train(false);
    auto& plan = session.plan_of(step);
    std::vector<double> milliseconds;
    const auto start = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - start).count() < options.seconds || milliseconds.size() < 3) {
        const auto begin = Clock::now();
        train(false);
        milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    double step_ms = median(milliseconds);
    if (!backend->in_host_memory()) {
        // As the peer is timed: data on the device, one wait for many steps.
        const int iterations = std::max(5, static_cast<int>(options.seconds / 5 * 1e3 / step_ms));
        step_ms = mean_microseconds(*backend, 3, iterations, [&] { plan.run(); }) / 1e3;
    }
    if (const auto& fault = session.recording_fault(); !fault.empty())
        std::fprintf(stderr, "Timed without a graph. %s\n", fault.c_str());
    const int threads = usable_threads(options.threads);
    const auto name = "step/" + std::string(benchmark.name) + "/b" + std::to_string(batch) +
                      "/" + // as tests/bench/bench_torch.py has it
                      (toggles.precision == "auto" ? backend->automatic_precisions().front() : toggles.precision) +
                      (options.safe ? "/safe" : "");
    const double gflops = plan.model_flops() / step_ms / 1e6;
    const double images = static_cast<double>(batch) / step_ms * 1e3;
    const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    if (options.json)
        print_json({{"name", name},
                    {"backend", options.backend},
                    {"threads", threads},
                    {"step_ms", step_ms},
                    {"fastest_ms", *std::min_element(milliseconds.begin(), milliseconds.end())},
                    {"steps", milliseconds.size()},
                    {"images_per_s", images},
                    {"gflops", gflops},
                    {"peak_rss_mib", mib(peak_resident_bytes())},
                    {"planned_mib", mib(session.memory().total())},
                    {"ops", plan.ops().size()},
                    {"first_step_seconds", first_step_seconds},
                    {"tuned_seconds", tuned_seconds},
                    {"tuning", to_json(backend->tuning())}});
    else
        print_line(name + " backend=" + options.backend + " threads=" + std::to_string(threads) +
                   " step_ms=" + Console::fixed(step_ms, step_ms < 20 ? 3 : 1) + " img_s=" + Console::fixed(images, 0) +
                   " gflops=" + Console::fixed(gflops, 1) +
                   " peak_rss_mib=" + Console::fixed(mib(peak_resident_bytes()), 0) +
                   " planned_mib=" + Console::fixed(mib(session.memory().total()), 0) +
                   " ops=" + std::to_string(plan.ops().size()) + " steps=" + std::to_string(milliseconds.size()));
    if (options.profile) {
        train(true);
        print_profile(plan.ops());
    }
    return 0;
}

} // namespace

void add_bench_command(CLI::App& app, Action& chosen) {
    const auto options = std::make_shared<BenchOptions>();
    auto* bench = app.add_subcommand("bench", "Measure this machine");
    bench->require_subcommand(1);
    auto* step = bench->add_subcommand("step", "A training step: forward, backward and SGD on random 3x32x32 images");
    step->add_option("--network", options->network, "resnet18, genotype_c16_l8, supernet8_small, growing, quick ...")
        ->type_name("NAME");
    step->add_option("--batch", options->batch, "Images a step; 0: the network's usual number")
        ->type_name("N")
        ->check(number_within(0, 65536));
    step->add_option("--threads", options->threads, "CPU threads; 0: all")
        ->type_name("N")
        ->check(number_within(0, 1024));
    step->add_option("--backend", options->backend, "cuda, cpu or reference")->type_name("NAME");
    step->add_option("--seconds", options->seconds, "At least so long is measured")
        ->type_name("SECONDS")
        ->check(number_within(0.0, 3600.0));
    step->add_option("--precision", options->precision, "The numbers that are computed with")
        ->type_name("NAME")
        ->check(CLI::IsMember({"auto", "fp16", "bf16", "tf32", "fp32"}));
    step->add_flag("--tune", options->tune, "After the first step, choose algorithms by timing them (GPU)");
    step->add_option("--tuning-seconds", options->tuning_seconds, "At most so long is spent on that")
        ->type_name("SECONDS")
        ->check(number_within(0.0, 3600.0));
    step->add_flag("--no-graph", options->no_graph, "Launch kernels one by one (GPU)");
    step->add_flag("--safe", options->safe, "As in safe mode: fp32, untuned, nothing fused, launched one by one");
    step->add_flag("--deterministic", options->deterministic, "Only deterministic kernels");
    step->add_flag("--recompute", options->recompute, "Recompute activations in the backward (less memory)");
    step->add_flag("--no-winograd", options->no_winograd, "Only direct convolutions");
    step->add_flag("--no-passes", options->no_fuse, "Leave out sharing and fusing");
    step->add_flag("--profile", options->profile, "Then print the time of every op");
    step->add_flag("--json", options->json, "One line of JSON");
    for (const bool separable : {false, true}) {
        const auto chosen_options = std::make_shared<ConvolutionBenchOptions>();
        auto* command = separable ? bench->add_subcommand("sepconv", "Separable blocks, forward and backward")
                                  : bench->add_subcommand("conv", "Single convolutions, forward and both gradients");
        command->add_option("CASE", chosen_options->only, "Cases with this in their names, such as k3s1p1 or fp16")
            ->type_name("");
        command->add_option("--backend", chosen_options->backend, "cuda, cpu or reference")->type_name("NAME");
        command->add_option("--threads", chosen_options->threads, "CPU threads; 0: all")
            ->type_name("N")
            ->check(number_within(0, 1024));
        command->add_flag("!--no-tune", chosen_options->tune, "Take the library's first guess");
        command->add_flag("--deterministic", chosen_options->deterministic, "Only deterministic kernels");
        command->add_flag("--json", chosen_options->json, "One line of JSON a case");
        command->callback([chosen_options, separable, &chosen] {
            chosen = [chosen_options, separable] {
                return separable ? bench_separable(*chosen_options) : bench_convolution(*chosen_options);
            };
        });
    }
    step->callback([options, &chosen] { chosen = [options] { return bench_step(*options); }; });
}

} // namespace espalier::commands
