// SPDX-License-Identifier: Apache-2.0
#include "worker/commands/bench_convolution.h"

#include "backends/registry.h"
#include "base/error.h"
#include "graph/autodiff.h"
#include "graph/builder.h"
#include "nn/cell.h"
#include "passes/pipeline.h"
#include "plan/dependencies.h"
#include "plan/forwarding_backend.h"
#include "plan/session.h"
#include "worker/commands/bench_timing.h"
#include "worker/commands/command.h"
#include "worker/console.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace espalier::commands {
namespace {

constexpr const char* precisions[] = {"fp32", "tf32", "fp16", "bf16"};

DType type_of(const std::string& precision) {
    return precision == "fp16" ? DType::f16 : precision == "bf16" ? DType::bf16 : DType::f32;
}

std::unique_ptr<Backend> backend_for(const ConvolutionBenchOptions& options, const std::string& precision) {
    return make_backend(options.backend, {.threads = options.threads,
                                          .deterministic = options.deterministic,
                                          .tf32 = precision != "fp32",
                                          .tune = options.tune});
}

/// Fills every parameter and buffer with small random values.
void fill(Session& session, const Graph& graph) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (const auto& tensor : graph.tensors()) {
        if (tensor.role != Role::parameter && tensor.role != Role::buffer)
            continue;
        std::vector<float> values(static_cast<std::size_t>(tensor.shape.count()));
        for (auto& value : values)
            value = tensor.name.ends_with("running_var") ? 1.0F : 0.5F * normal(random);
        session.set(tensor.name, values);
    }
}

struct ConvolutionCase {
    const char* name;
    std::int64_t n, c, h, w, k, kernel, stride, padding;
};

/// The shapes of tests/bench/bench_torch.py. Named N x C x H x W _ K _ kernel, stride, padding.
constexpr ConvolutionCase convolution_cases[] = {
    {"32x512x7x7_512_k3s1p1", 32, 512, 7, 7, 512, 3, 1, 1},   {"32x16x7x7_1_k3s1p1", 32, 16, 7, 7, 1, 3, 1, 1},
    {"32x64x32x32_64_k3s1p0", 32, 64, 32, 32, 64, 3, 1, 0},   {"32x64x32x32_64_k3s1p1", 32, 64, 32, 32, 64, 3, 1, 1},
    {"32x64x32x32_128_k3s2p1", 32, 64, 32, 32, 128, 3, 2, 1}, {"32x64x32x32_256_k1s1p0", 32, 64, 32, 32, 256, 1, 1, 0},
    {"32x64x32x32_128_k1s2p0", 32, 64, 32, 32, 128, 1, 2, 0}, {"32x3x224x224_64_k7s2p3", 32, 3, 224, 224, 64, 7, 2, 3},
};

/// Replays steps in turns of so many: a turn begins when all steps of the one before have ended. Without it a graph
/// would run what is repeated side by side, and the time of one could not be told.
class InTurns final : public ForwardingBackend {
public:
    InTurns(Backend& backend, std::size_t steps_of_turn) : ForwardingBackend(backend), steps_(steps_of_turn) {}

    [[nodiscard]] int steps_side_by_side() const override { return static_cast<int>(steps_) - 1; }
    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override {
        return inner().record(kernels, in_turns(after, steps_));
    }

private:
    std::size_t steps_;
};

/// One direction of a case, repeated so that a replay is long against its launch: one convolution after the other, or
/// one pair of gradients, which run side by side as in a network. Its tensors are buffers: they have the layout that
/// the kernel wants, and no copy is timed.
class Repeated {
public:
    Repeated(Backend& backend, const ConvolutionCase& shape, DType type, bool backward, int repeats, bool recorded)
        : in_turns_(backend, backward ? 2 : 1), session_(in_turns_, {.recorded = recorded}) {
        Graph graph;
        GraphBuilder builder(graph);
        const Attributes attributes{{"stride", shape.stride}, {"padding", shape.padding}};
        const Shape x_shape{shape.n, shape.c, shape.h, shape.w}, w_shape{shape.k, shape.c, shape.kernel, shape.kernel};
        const auto extent = [&](std::int64_t size) {
            return (size + 2 * shape.padding - shape.kernel) / shape.stride + 1;
        };
        const auto x = builder.buffer("x", x_shape, {}, type);
        const auto w = builder.buffer("w", w_shape, {}, type);
        const auto gy =
            backward ? builder.buffer("gy", {shape.n, shape.k, extent(shape.h), extent(shape.w)}, {}, type) : no_tensor;
        for (int i = 0; i < repeats; ++i) {
            if (!backward) {
                last_ = builder.apply_one("conv2d", {x, w}, attributes);
                continue;
            }
            auto weight = attributes, input = attributes;
            weight.set("weight_shape", w_shape.vector());
            input.set("input_shape", x_shape.vector());
            last_ = builder.apply_one("conv2d_weight_gradient", {x, gy}, weight);
            builder.apply_one("conv2d_input_gradient", {gy, w}, input);
        }
        graph.keep(last_);
        plan_ = &session_.plan("bench", graph);
        fill(session_, graph);
    }

    void run() { plan_->run(); }

    /// Of the last forward convolution: mean |y - exact| / mean |exact| over some thousand of its values, spread
    /// evenly; the exact ones are summed in double precision from the same x and w.
    [[nodiscard]] double relative_error(const ConvolutionCase& shape) {
        const auto x = session_.get("x"), w = session_.get("w"), y = plan_->read(last_);
        const auto out = [&](std::int64_t size) {
            return (size + 2 * shape.padding - shape.kernel) / shape.stride + 1;
        };
        const std::int64_t height = out(shape.h), width = out(shape.w);
        const auto count = static_cast<std::int64_t>(y.size());
        const auto step = count / 4096 | 1; // odd, so that every column of a row is met
        double difference = 0, size = 0;
        for (std::int64_t at = 0; at < count; at += step) {
            const auto q = at % width, p = at / width % height, k = at / (width * height) % shape.k,
                       n = at / (width * height * shape.k);
            double exact = 0;
            for (std::int64_t c = 0; c < shape.c; ++c)
                for (std::int64_t r = 0; r < shape.kernel; ++r)
                    for (std::int64_t s = 0; s < shape.kernel; ++s) {
                        const auto row = p * shape.stride + r - shape.padding,
                                   column = q * shape.stride + s - shape.padding;
                        if (row < 0 || row >= shape.h || column < 0 || column >= shape.w)
                            continue;
                        exact +=
                            static_cast<double>(
                                x[static_cast<std::size_t>(((n * shape.c + c) * shape.h + row) * shape.w + column)]) *
                            w[static_cast<std::size_t>(((k * shape.c + c) * shape.kernel + r) * shape.kernel + s)];
                    }
            difference += std::abs(y[static_cast<std::size_t>(at)] - exact);
            size += std::abs(exact);
        }
        return difference / size;
    }
    [[nodiscard]] std::string kernels() const {
        const auto ops = plan_->ops();
        return ops.size() > 1 && ops[0].kind != ops[1].kind ? ops[0].kernel + "; " + ops[1].kernel : ops[0].kernel;
    }

private:
    InTurns in_turns_;
    Session session_;
    Plan* plan_ = nullptr;
    TensorId last_ = no_tensor;
};

void bench_case(const ConvolutionBenchOptions& options, const ConvolutionCase& shape, const std::string& precision) {
    constexpr int forward_repeats = 20, backward_repeats = 10;
    const auto backend = backend_for(options, precision);
    const auto type = type_of(precision);
    Repeated(*backend, shape, type, false, 1, false); // planned once, so that there is something to tune
    Repeated(*backend, shape, type, true, 1, false);
    while (backend->tune(1)) {
    }
    Repeated eager(*backend, shape, type, false, 1, false),
        forward(*backend, shape, type, false, forward_repeats, true),
        backward(*backend, shape, type, true, backward_repeats, true);
    const double eager_us = mean_microseconds(*backend, 10, 100, [&] { eager.run(); });
    const double error = eager.relative_error(shape);
    const double forward_us = mean_microseconds(*backend, 5, 5, [&] { forward.run(); }) / forward_repeats;
    const double backward_us = mean_microseconds(*backend, 5, 5, [&] { backward.run(); }) / backward_repeats;
    const auto out = [&](std::int64_t size) { return (size + 2 * shape.padding - shape.kernel) / shape.stride + 1; };
    const double flops = 2.0 * static_cast<double>(shape.n * shape.k * out(shape.h) * out(shape.w) * shape.c *
                                                   shape.kernel * shape.kernel);
    const auto name = "conv/" + std::string(shape.name) + "/" + precision;
    if (options.json)
        print_json({{"name", name},
                    {"forward_us", eager_us},
                    {"forward_graph_us", forward_us},
                    {"backward_graph_us", backward_us},
                    {"gflops", flops / eager_us / 1e3},
                    {"gflops_graph", flops / forward_us / 1e3},
                    {"relative_error", error},
                    {"forward_kernel", forward.kernels()},
                    {"backward_kernels", backward.kernels()}});
    else
        print_line(name + " forward_us=" + Console::fixed(eager_us, 2) + " forward_graph_us=" +
                   Console::fixed(forward_us, 2) + " backward_graph_us=" + Console::fixed(backward_us, 2) +
                   " gflops_graph=" + Console::fixed(flops / forward_us / 1e3, 0) + " relative_error_1e-6=" +
                   Console::fixed(error * 1e6, 2) + " (" + forward.kernels() + "; " + backward.kernels() + ")");
}

struct SeparableCase {
    std::int64_t n, c, size, kernel;
};

constexpr SeparableCase separable_cases[] = {{64, 16, 32, 3}, {64, 16, 32, 5}, {64, 32, 16, 3}, {64, 32, 16, 5},
                                             {64, 64, 8, 3},  {64, 64, 8, 5},  {48, 28, 32, 3}, {48, 28, 32, 5},
                                             {96, 36, 32, 3}, {96, 36, 32, 5}};

/// Each op of a plan, launched one after the other: the shortest of some times in microseconds. What lies between two
/// launches counts too.
Json op_times(Plan& plan) {
    std::vector<double> shortest(plan.ops().size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < 20; ++round) {
        plan.run_profiled();
        for (std::size_t i = 0; i < shortest.size(); ++i)
            shortest[i] = std::min(shortest[i], 1e3 * plan.ops()[i].milliseconds);
    }
    auto times = Json::array();
    for (std::size_t i = 0; i < shortest.size(); ++i)
        times.push_back({{"op", plan.ops()[i].kind}, {"kernel", plan.ops()[i].kernel}, {"us", shortest[i]}});
    return times;
}

/// (ReLU, depthwise, pointwise, batch norm) twice, forward and backward from a gradient of ones: the gradients of x and
/// of every weight.
void bench_case(const ConvolutionBenchOptions& options, const SeparableCase& shape, const std::string& precision) {
    const auto backend = backend_for(options, precision);
    Graph graph;
    GraphBuilder builder(graph);
    const Shape extents{shape.n, shape.c, shape.size, shape.size};
    const auto x = builder.parameter("x", extents, {});
    LayerBuilder layers(builder, NormMode::training);
    const auto y = candidate(layers, "sep_conv_" + std::to_string(shape.kernel) + "x" + std::to_string(shape.kernel), x,
                             1, false, false);
    std::vector<TensorId> parameters;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            parameters.push_back(static_cast<TensorId>(i));
    const auto step =
        compile_step(graph, y, parameters, {.precision = precision}, {},
                     [&](const Graph& whole, const Op& op) { return bool(backend->supports(whole, op)); });
    {
        Session session(*backend, {});
        session.plan("tuning", step.graph);
        while (backend->tune(1)) {
        }
    }
    auto ops = Json::array();
    const auto time = [&](bool recorded) {
        Session session(*backend, {.recorded = recorded});
        auto& plan = session.plan("bench", step.graph);
        fill(session, step.graph);
        if (options.json && !recorded)
            ops = op_times(plan);
        return mean_microseconds(*backend, 5, 50, [&] { plan.run(); });
    };
    const double eager_us = time(false), graph_us = time(true);
    const auto name = "sepconv/" + std::to_string(shape.n) + "x" + std::to_string(shape.c) + "x" +
                      std::to_string(shape.size) + "_k" + std::to_string(shape.kernel) + "/" + precision;
    if (options.json)
        print_json(
            {{"name", name}, {"forward_backward_us", eager_us}, {"forward_backward_graph_us", graph_us}, {"ops", ops}});
    else
        print_line(name + " forward_backward_us=" + Console::fixed(eager_us, 1) +
                   " forward_backward_graph_us=" + Console::fixed(graph_us, 1));
}

struct Precisions {
    std::vector<std::string> chosen;
    std::string left_out;
};

/// Those of `kinds` that the backend computes in, or what it computes in where it has none of them.
Precisions precisions_of(const std::string& backend, std::span<const char* const> kinds) {
    register_all_backends();
    const auto [name, device] = parse_backend(backend);
    const auto& definition = BackendRegistry::instance().find(name);
    if (definition.available && !definition.available({.device = device})) // the first case will say why
        return {{kinds.begin(), kinds.end()}, {}};
    Precisions found;
    for (const std::string kind : kinds)
        if (std::ranges::find(definition.precisions, kind) != definition.precisions.end())
            found.chosen.push_back(kind);
        else
            found.left_out += (found.left_out.empty() ? "" : ", ") + kind;
    if (found.chosen.empty())
        found.chosen = definition.precisions;
    return found;
}

template <class Cases, class NameOf>
int bench_all(const ConvolutionBenchOptions& options, const Cases& cases, std::span<const char* const> kinds,
              NameOf&& name_of) {
    const auto [chosen, left_out] = precisions_of(options.backend, kinds);
    int ran = 0;
    for (const auto& shape : cases)
        for (const auto& precision : chosen)
            if ((name_of(shape) + "/" + precision).find(options.only) != std::string::npos) {
                if (++ran == 1 && !left_out.empty())
                    std::fprintf(stderr, "Left out, because %s does not compute in them: %s.\n",
                                 options.backend.c_str(), left_out.c_str());
                bench_case(options, shape, precision);
            }
    if (ran == 0)
        throw ConfigError("No case has \"" + options.only + "\" in its name.");
    return 0;
}

} // namespace

int bench_convolution(const ConvolutionBenchOptions& options) {
    return bench_all(options, convolution_cases, precisions,
                     [](const ConvolutionCase& c) { return std::string(c.name); });
}

int bench_separable(const ConvolutionBenchOptions& options) {
    constexpr const char* kinds[] = {"tf32", "fp16"};
    return bench_all(options, separable_cases, kinds, [](const SeparableCase& c) {
        return std::to_string(c.n) + "x" + std::to_string(c.c) + "x" + std::to_string(c.size) + "_k" +
               std::to_string(c.kernel);
    });
}

} // namespace espalier::commands
